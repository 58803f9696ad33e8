//! `kubewright dev status`: how the environment is, for people, and as an exit code for scripts.

use clap::Args;
use serde_json::{Value, json};

use super::observed::{self, Present};
use super::process::{Component, State};
use super::{api, runtime, summary};
use crate::output::Format;
use crate::style::Paint;
use crate::table;

#[derive(Debug, Args)]
pub(in crate::verbs) struct Status {
    #[command(flatten)]
    format: Format,
}

impl Status {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let present = observed::present()?;
        let answer = runtime()?.block_on(ask(&present));
        let trouble = trouble(&present, &answer);
        self.format.answer(&value(&present, &answer, trouble.as_deref()), || {
            text(&present, &answer, Paint::stdout())
        })?;
        match trouble {
            None => Ok(()),
            Some(sentence) => Err(anyhow::Error::msg(sentence)),
        }
    }
}

/// The nodes, each with its state, or why the API server cannot tell.
type Answer = Result<Vec<(String, String)>, String>;

async fn ask(present: &Present) -> Answer {
    let ask = async {
        let client = api::client(&present.record.kubeconfig).await?;
        api::ready(&client).await?;
        api::nodes(&client).await
    };
    ask.await.map_err(|error| format!("{error:#}"))
}

/// For programs; the help of the verb names the keys.
fn value(present: &Present, answer: &Answer, trouble: Option<&str>) -> Value {
    let Present { record, components } = present;
    let nodes =
        answer.iter().flatten().map(|(name, state)| json!({ "name": name, "state": state }));
    let components = components.iter().map(|Component { name, pid, state, memory }| {
        json!({
            "name": name,
            "pid": pid,
            "state": state.to_string(),
            "memoryKilobytes": memory,
        })
    });
    json!({
        "kubernetes": record.version,
        "server": record.server,
        "ready": answer.is_ok(),
        "kubeconfig": record.kubeconfig,
        "upSeconds": record.age().as_secs(),
        "nodes": nodes.collect::<Vec<_>>(),
        "components": components.collect::<Vec<_>>(),
        "trouble": trouble,
    })
}

fn text(present: &Present, answer: &Answer, paint: Paint) -> String {
    let record = &present.record;
    let server = match answer {
        Ok(_) => format!("{} (ready)", record.server),
        Err(_) => format!("{} (does not answer)", record.server),
    };
    let head = [
        ["Kubernetes", &record.version],
        ["server", &server],
        ["kubeconfig", &record.kubeconfig.to_string_lossy()],
        ["up for", &summary::age(record.age())],
    ]
    .map(|row| row.map(str::to_owned));
    let mut parts = vec![table::columns(&head)];
    if let Ok(nodes) = answer
        && record.nodes > 0
    {
        let mut rows = vec![["NODE", "STATE"].map(str::to_owned)];
        rows.extend(nodes.iter().cloned().map(|(name, state)| [name, state]));
        parts.push(table::headed(&rows, paint));
    }
    parts.push(components(&present.components, paint));
    parts.join("\n")
}

fn components(components: &[Component], paint: Paint) -> String {
    let mut rows = vec![["COMPONENT", "PID", "STATE", "MEMORY"].map(str::to_owned)];
    rows.extend(components.iter().map(|component| {
        let pid = component.pid.map(|pid| pid.to_string());
        let memory = component.memory.map(megabytes);
        let dash = || "-".to_owned();
        [
            component.name.clone(),
            pid.unwrap_or_else(dash),
            component.state.to_string(),
            memory.unwrap_or_else(dash),
        ]
    }));
    table::headed(&rows, paint)
}

fn megabytes(kilobytes: u64) -> String {
    format!("{} MB", kilobytes.div_ceil(1024))
}

/// What is wrong and what to do, the cause before what follows from it.
fn trouble(present: &Present, answer: &Answer) -> Option<String> {
    let gone = present.names(State::Gone);
    if let Some(first) = gone.first() {
        return Some(format!(
            "{} ended: `kubewright dev logs {first}` tells why, `kubewright dev up` starts anew",
            gone.join(", ")
        ));
    }
    let mut paused = present.components.iter();
    if let Some(paused) = paused.find(|one| one.state == State::Paused) {
        let pid = paused.pid.unwrap_or_default();
        let name = &paused.name;
        return Some(format!("{name} is paused: `kill -CONT {pid}` resumes it"));
    }
    let nodes = match answer {
        Err(reason) => {
            return Some(format!("{reason}: see `kubewright dev logs kube-apiserver`"));
        }
        Ok(nodes) => nodes,
    };
    if let Some((name, _)) = nodes.iter().find(|(_, state)| state != "Ready") {
        return Some(format!("{name} is not Ready: see `kubewright dev logs {name}/kubelet`"));
    }
    let (wanted, found) = (usize::from(present.record.nodes), nodes.len());
    (found < wanted).then(|| format!("{wanted} nodes were started and only {found} are known"))
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    fn component(name: &str, pid: u32, state: State) -> Component {
        let memory = (state != State::Gone).then_some(100_000);
        let (name, pid) = (name.to_owned(), Some(pid));
        Component { name, pid, state, memory }
    }

    fn present(apiserver: State) -> Present {
        let components =
            vec![component("etcd", 11, State::Running), component("kube-apiserver", 12, apiserver)];
        Present { record: record(), components }
    }

    fn nodes(state: &str) -> Vec<(String, String)> {
        vec![("node-1".to_owned(), state.to_owned())]
    }

    #[test]
    fn components_are_shown_with_process_state_and_memory() {
        assert_eq!(
            components(&present(State::Gone).components, Paint::PLAIN),
            "COMPONENT       PID  STATE    MEMORY\n\
             etcd            11   running  98 MB\n\
             kube-apiserver  12   gone     -\n"
        );
    }

    #[test]
    fn the_text_tells_version_server_and_nodes() {
        let text = text(&present(State::Running), &Ok(nodes("Ready")), Paint::PLAIN);
        assert!(
            text.starts_with("Kubernetes  1.36.3\nserver      https://10.200.0.1:6443 (ready)")
        );
        assert!(text.contains("\n\nNODE    STATE\nnode-1  Ready\n\nCOMPONENT"), "{text}");
    }

    #[test]
    fn no_trouble_if_all_runs_and_all_nodes_are_ready() {
        assert_eq!(trouble(&present(State::Running), &Ok(nodes("Ready"))), None);
    }

    #[test]
    fn the_cause_is_told_before_what_follows_from_it() {
        let silent: Answer = Err("the API server cannot be asked".to_owned());
        let of = |state, answer: &Answer| trouble(&present(state), answer).unwrap();
        assert!(of(State::Gone, &silent).starts_with("kube-apiserver ended"));
        assert!(of(State::Paused, &silent).contains("`kill -CONT 12`"));
        assert!(of(State::Running, &silent).starts_with("the API server cannot be asked"));
        let not_ready = of(State::Running, &Ok(nodes("not Ready: gone")));
        assert!(not_ready.starts_with("node-1 is not Ready"), "{not_ready}");
        let lost = of(State::Running, &Ok(Vec::new()));
        assert!(lost.contains("only 0 are known"), "{lost}");
    }
}
