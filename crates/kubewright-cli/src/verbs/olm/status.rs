//! `kubewright olm status`: OLM's parts and what was installed through it, as a table.

use clap::Args;

use crate::cluster::Cluster;
use crate::olm::installed::{self, Component, Installed, Operator};
use crate::output::Format;
use crate::style::Paint;
use crate::table;
use crate::verbs::ignored::OlmFlags;

#[derive(Debug, Args)]
pub(in crate::verbs) struct Status {
    #[command(flatten)]
    cluster: Cluster,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    ignored: OlmFlags,
}

impl Status {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        self.ignored.say("nothing is waited for");
        self.cluster.connected(async |client| {
            installed::required(&client).await?;
            let found = installed::look(&client).await?;
            self.format.answer(&found, || text(&found, Paint::stdout()))?;
            match trouble(&found) {
                Some(trouble) => Err(anyhow::Error::msg(trouble)),
                None => Ok(()),
            }
        })
    }
}

/// What is wrong, if something is.
fn trouble(found: &Installed) -> Option<String> {
    if found.components.is_empty() {
        return Some(
            "the cluster knows OLM's kinds, but nothing of it runs: `kubewright olm install` repairs".to_owned(),
        );
    }
    let unready = found.components.iter().find(|one| one.ready < one.wanted)?;
    let Component { name, namespace, ready, wanted } = unready;
    Some(format!(
        "{ready} of {wanted} pods of {name} are ready: `kubectl describe deployment {name} --namespace {namespace}` \
         tells why"
    ))
}

fn text(found: &Installed, paint: Paint) -> String {
    let by = found.version.as_ref().map_or_else(
        || "OLM, not installed by kubewright".to_owned(),
        |version| format!("OLM {version}"),
    );
    let heading = |words: [&str; 3]| words.map(str::to_owned);
    let mut parts = vec![heading(["PART", "NAMESPACE", "READY"])];
    parts.extend(found.components.iter().map(|Component { name, namespace, ready, wanted }| {
        [name.clone(), namespace.clone(), format!("{ready}/{wanted}")]
    }));
    let mut text = format!("{by}\n\n{}", table::headed(&parts, paint));
    if !found.operators.is_empty() {
        let mut rows = vec![["PACKAGE", "NAMESPACE", "RELEASE", "PHASE"].map(str::to_owned)];
        rows.extend(found.operators.iter().map(|one| {
            let Operator { package, namespace, release, phase } = one;
            [package, namespace, release, phase].map(Clone::clone)
        }));
        text.push('\n');
        text.push_str(&table::headed(&rows, paint));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(ready: i32) -> Installed {
        let [name, namespace] = ["olm-operator", "olm"].map(str::to_owned);
        let operator = ["pots", "here", "pots.v1", "Succeeded"].map(str::to_owned);
        let [package, place, release, phase] = operator;
        Installed {
            version: Some("0.28.0".to_owned()),
            components: vec![Component { name, namespace, ready, wanted: 1 }],
            operators: vec![Operator { package, namespace: place, release, phase }],
        }
    }

    #[test]
    fn parts_and_operators_are_listed() {
        let text = text(&found(1), Paint::PLAIN);
        assert_eq!(
            text,
            "OLM 0.28.0\n\nPART          NAMESPACE  READY\nolm-operator  olm        1/1\n\n\
             PACKAGE  NAMESPACE  RELEASE  PHASE\npots     here       pots.v1  Succeeded\n"
        );
    }

    #[test]
    fn what_is_not_ready_is_told_with_where_to_look() {
        assert_eq!(trouble(&found(1)), None);
        let told = trouble(&found(0)).unwrap();
        assert!(told.starts_with("0 of 1 pods of olm-operator are ready"), "{told}");
        let nothing = Installed { version: None, components: Vec::new(), operators: Vec::new() };
        assert!(trouble(&nothing).unwrap().contains("kubewright olm install"));
    }
}
