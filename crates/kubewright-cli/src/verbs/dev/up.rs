//! `kubewright dev up`: an environment that runs when this is done, whether it did before or not.
//!
//! Owns the decision: keep what runs, refuse to touch it, or clear away and start. Interrupted, it
//! leaves nothing: until the environment is released the library's keeper ends it with this process,
//! so no signal is handled here.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use kubewright_testenv::progress::{Progress, elapsed};
use kubewright_testenv::{Environment, Error, KubernetesVersion};
use tokio::runtime::Runtime;

use super::observed::{Observed, Present};
use super::place::Place;
use super::process::State;
use super::record::{self, Record};
use super::summary::{self, summary};
use super::{api, runtime};
use crate::output;

/// Nodes that are started if nothing is said.
const DEFAULT_NODES: u8 = 1;
/// For how long an API server whose process runs may be silent: a machine under load is slow.
const PATIENCE: Duration = Duration::from_secs(15);

#[derive(Debug, Args)]
pub(in crate::verbs) struct Up {
    /// How many nodes, 0 to 9; 0 is a control plane alone, which needs no root [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(0..=9))]
    nodes: Option<u8>,
    /// Which Kubernetes, such as 1.36 or 1.36.3 [default: `KUBEWRIGHT_KUBERNETES_VERSION`, else
    /// the newest]
    #[arg(long, value_name = "VERSION")]
    kubernetes_version: Option<KubernetesVersion>,
}

impl Up {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let version = self.version()?;
        let place = Place::from_environment()?;
        let _lock = place.lock()?;
        place.settle()?;
        let runtime = runtime()?;
        let (record, opening) = if let Some(record) = running(&place, &runtime)? {
            self.check_same(version, &record)?;
            let (nodes, age) = (summary::nodes(record.nodes), summary::age(record.age()));
            (record, format!("is already up: {nodes}, for {age}"))
        } else {
            let started = Instant::now();
            let record = self.start(version, &place, &runtime)?;
            let (nodes, took) = (summary::nodes(record.nodes), elapsed(started.elapsed()));
            (record, format!("is up: {nodes}, in {took}"))
        };
        let path = std::env::var_os("PATH").unwrap_or_default();
        output::write(summary(&record, &opening, summary::has_kubectl(&path)))
    }

    /// What was asked for; nothing said is nothing asked.
    fn version(&self) -> anyhow::Result<Option<KubernetesVersion>> {
        let name = "KUBEWRIGHT_KUBERNETES_VERSION";
        let is_set = std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if self.kubernetes_version.is_some() || !is_set {
            return Ok(self.kubernetes_version);
        }
        let version = KubernetesVersion::from_environment();
        Ok(Some(version.with_context(|| format!("{name} cannot be used"))?))
    }

    /// An environment cannot be changed while it runs, and ending one is for its user to decide.
    fn check_same(
        &self,
        version: Option<KubernetesVersion>,
        record: &Record,
    ) -> anyhow::Result<()> {
        let runs =
            format!("Kubernetes {} ({}) is up", record.version, summary::nodes(record.nodes));
        let down = "run `kubewright dev down` first";
        if let Some(asked) = version.filter(|asked| asked.as_str() != record.version) {
            anyhow::bail!("{runs} and version {asked} was asked for: {down}");
        }
        if let Some(asked) = self.nodes.filter(|asked| *asked != record.nodes) {
            anyhow::bail!("{runs} and --nodes {asked} was asked for: {down}");
        }
        Ok(())
    }

    fn start(
        &self,
        version: Option<KubernetesVersion>,
        place: &Place,
        runtime: &Runtime,
    ) -> anyhow::Result<Record> {
        let nodes = self.nodes.unwrap_or(DEFAULT_NODES);
        let version = version.unwrap_or_else(KubernetesVersion::newest);
        let builder = Environment::builder()
            .version(version)
            .controllers()
            .nodes(nodes)
            .directory(place.directory());
        let nodes = summary::nodes(nodes);
        Progress::Shown.note(&format!("starting Kubernetes {version} ({nodes}) …"));
        let environment =
            runtime.block_on(builder.start()).map_err(|error| self.explained(error))?;
        let record = runtime.block_on(recorded(&environment))?;
        record.write(place.directory())?;
        environment.release()?;
        Ok(record)
    }

    /// What a machine lacks is told by the library; what there is to do about it at the prompt, here.
    fn explained(&self, error: Error) -> anyhow::Error {
        let Error::Missing(missing) = error else {
            return error.into();
        };
        let mut lines = vec!["this machine cannot run it:".to_owned()];
        lines.extend(missing.iter().map(|one| format!("  {one}")));
        if self.nodes != Some(0) {
            lines.push(
                "`kubewright dev up --nodes 0` asks for less: a control plane alone".to_owned(),
            );
        }
        anyhow::Error::msg(lines.join("\n"))
    }
}

/// The environment that runs and is well. Clears away what only files are left of; what still lives
/// holds somebody's work, and ending it is for them to decide.
fn running(place: &Place, runtime: &Runtime) -> anyhow::Result<Option<Record>> {
    match Observed::at(place)? {
        Observed::Absent => return Ok(None),
        Observed::Present(present) => {
            check_health(&present, runtime)?;
            return Ok(Some(present.record));
        }
        Observed::Busy | Observed::Remains => {}
    }
    place.clear()?;
    Progress::Shown.note("of an earlier one only remains were left: cleared away, starting anew");
    Ok(None)
}

/// An error that says what is wrong with a running environment, and what to do.
fn check_health(present: &Present, runtime: &Runtime) -> anyhow::Result<()> {
    let gone = present.names(State::Gone);
    anyhow::ensure!(
        gone.is_empty(),
        "it is up, but {} ended: look at `kubewright dev logs`, \
         then run `kubewright dev down` to start anew",
        gone.join(", ")
    );
    let paused = present.names(State::Paused);
    anyhow::ensure!(
        paused.is_empty(),
        "it is up, but {} is paused: resume it (`kubewright dev status` tells how) \
         or run `kubewright dev down` first",
        paused.join(", ")
    );
    let ask = || {
        runtime.block_on(async {
            let client = api::client(&present.record.kubeconfig).await?;
            api::ready(&client).await
        })
    };
    if ask().is_ok() {
        return Ok(());
    }
    let patient = Progress::Shown.step("waiting for the API server to answer", || {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let answer = ask();
            if answer.is_ok() || Instant::now() > deadline {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    patient.context("it is up, but does not answer: run `kubewright dev down` to start anew")
}

async fn recorded(environment: &Environment) -> anyhow::Result<Record> {
    let kubeconfig = environment.kubeconfig().to_owned();
    let server = api::config(&kubeconfig).await?.cluster_url.to_string();
    let nodes = u8::try_from(environment.nodes().len())?;
    let server_version = environment.client().apiserver_version().await?.git_version;
    Ok(Record {
        // What the server says, which may come from KUBEBUILDER_ASSETS in whatever version.
        version: server_version.trim_start_matches('v').to_owned(),
        nodes,
        kubeconfig,
        server: server.trim_end_matches('/').to_owned(),
        kubectl: environment.kubectl().get_program().into(),
        started: record::now(),
        processes: environment.processes().into_iter().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    fn refusal(nodes: Option<u8>, version: Option<&str>) -> Option<String> {
        let version = version.map(|version| version.parse().unwrap());
        let up = Up { nodes, kubernetes_version: version };
        let mut record = record();
        record.nodes = 2;
        let result = up.check_same(version, &record);
        result.err().map(|error| error.to_string())
    }

    #[test]
    fn what_runs_is_kept_if_nothing_else_is_asked_for() {
        assert_eq!(refusal(None, None), None);
        assert_eq!(refusal(Some(2), Some("1.36")), None);
    }

    #[test]
    fn what_runs_is_not_changed() {
        assert_eq!(
            refusal(Some(3), None).unwrap(),
            "Kubernetes 1.36.3 (2 nodes) is up and --nodes 3 was asked for: \
             run `kubewright dev down` first"
        );
        assert_eq!(
            refusal(None, Some("1.33")).unwrap(),
            "Kubernetes 1.36.3 (2 nodes) is up and version 1.33.13 was asked for: \
             run `kubewright dev down` first"
        );
    }
}
