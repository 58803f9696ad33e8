//! `kubewright up local` and `kubewright run --local`, Operator SDK's words of old: the operator on this
//! machine, against the cluster of the kubeconfig.
//!
//! Owns what they do more than `run`: kinds that the cluster does not have are put there first, since
//! without them the operator cannot start. Those that it has are left as they are.

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client};
use kubewright::cluster;
use kubewright_testenv::progress::Progress;
use serde_json::Value;

use crate::cluster::{Cluster, print};
use crate::project::Project;

/// Where the operator is to run.
#[derive(Debug, Subcommand)]
pub(super) enum Up {
    /// Run the operator on this machine, against the cluster of the current kubeconfig
    ///
    /// Puts the operator's kinds on the cluster if it does not have them, then runs the operator until
    /// Ctrl-C. `kubewright install` and `kubewright run` are the same in two steps.
    ///
    /// Needs a project, that is a folder with kubewright.toml, and a cluster.
    #[command(after_help = "Example:\n  kubewright up local --namespace=default")]
    Local(Local),
}

/// What `up local` is given.
#[derive(Debug, Args)]
pub(super) struct Local {
    /// Look after these namespaces only, separated by commas [default: all]
    #[arg(long, visible_alias = "watch-namespace", value_name = "NAMESPACE")]
    namespace: Option<String>,
    #[command(flatten)]
    cluster: Cluster,
    /// Flags for the operator in one word, such as "--log-level=debug --leader-elect"
    #[arg(long, value_name = "FLAGS", allow_hyphen_values = true)]
    operator_flags: Option<String>,
    /// Flags for the operator, as they are
    #[arg(last = true, value_name = "FLAGS")]
    flags: Vec<String>,
}

/// The same after `kubewright run --local`.
#[derive(Debug, Parser)]
#[command(name = "kubewright run --local", disable_version_flag = true)]
struct RunLocal {
    #[command(flatten)]
    local: Local,
}

impl Up {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let Self::Local(local) = self;
        local.run()
    }
}

impl Local {
    /// What was typed after `kubewright run`, if it is `--local` and its flags.
    pub(super) fn asked_for(arguments: &[String]) -> Option<Result<Self, clap::Error>> {
        let mut own = arguments.iter().take_while(|argument| *argument != "--");
        own.any(|argument| argument == "--local").then(|| {
            let rest = arguments.iter().filter(|argument| *argument != "--local").cloned();
            let words = std::iter::once("kubewright run --local".to_owned()).chain(rest);
            RunLocal::try_parse_from(words).map(|RunLocal { local }| local)
        })
    }

    pub(super) fn run(&self) -> anyhow::Result<()> {
        let project = Project::find()?;
        let definitions = project.ask(&["generate", "crd"].map(str::to_owned))?;
        let definitions = cluster::documents(&definitions)?;
        self.cluster.connected(async |client| {
            let absent = absent(&client, definitions).await?;
            if !absent.is_empty() {
                Progress::Shown.note("the cluster does not have all kinds yet: installing them");
            }
            let manager = format!("{}-install", project.name);
            Ok(cluster::apply(&client, &manager, &absent, &mut print).await?)
        })?;
        Err(project.become_operator(&self.arguments()?))
    }

    /// What the operator is given.
    fn arguments(&self) -> anyhow::Result<Vec<String>> {
        let mut arguments = vec!["run".to_owned()];
        arguments.extend(self.namespace.iter().map(|names| format!("--namespace={names}")));
        if let Some(path) = self.cluster.kubeconfig() {
            // The operator is started in the project's folder, which need not be the current one.
            let path = std::path::absolute(path).context("cannot tell the current folder")?;
            arguments.push(format!("--kubeconfig={}", path.display()));
        }
        let flags = self.operator_flags.iter().flat_map(|flags| flags.split_whitespace());
        arguments.extend(flags.map(str::to_owned));
        arguments.extend(self.flags.iter().cloned());
        Ok(arguments)
    }
}

/// Those of `definitions` that are not on the cluster.
async fn absent(client: &Client, definitions: Vec<Value>) -> anyhow::Result<Vec<Value>> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let mut absent = Vec::new();
    for definition in definitions {
        let name = definition["metadata"]["name"].as_str().unwrap_or_default();
        let found = api.get_metadata_opt(name).await;
        if found.with_context(|| format!("cannot look for the definition {name}"))?.is_none() {
            absent.push(definition);
        }
    }
    Ok(absent)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passed_on(line: &str) -> Vec<String> {
        let words: Vec<_> = line.split(' ').map(|word| word.replace('+', " ")).collect();
        Local::asked_for(&words).unwrap().unwrap().arguments().unwrap()
    }

    #[test]
    fn the_words_of_old_become_the_operator_s_flags() {
        assert_eq!(passed_on("--local"), ["run"]);
        assert_eq!(
            passed_on("--local --namespace=default --kubeconfig=/k"),
            ["run", "--namespace=default", "--kubeconfig=/k"]
        );
        assert_eq!(
            passed_on("--watch-namespace a,b --local --operator-flags --resync=1h+--leader-elect"),
            ["run", "--namespace=a,b", "--resync=1h", "--leader-elect"]
        );
        assert_eq!(passed_on("--local -- --log-level=debug"), ["run", "--log-level=debug"]);
    }

    #[test]
    fn without_local_it_is_the_operator_s_own_run() {
        let words = ["--namespace=a", "--", "--local"].map(str::to_owned);
        assert!(Local::asked_for(&words).is_none());
        let wrong = ["--local", "--nonsense"].map(str::to_owned);
        assert!(Local::asked_for(&wrong).unwrap().is_err());
    }
}
