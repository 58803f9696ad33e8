//! A cache as a person wants to see it, and how to go on. Pure.

use std::fmt;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use memcached_api::v1alpha1::Memcached;

use crate::servers::Answer;

/// All that is shown.
pub(crate) struct Picture {
    pub(crate) cache: Memcached,
    pub(crate) deployment: Deployment,
    pub(crate) pods: Vec<Pod>,
    /// One for each pod.
    pub(crate) answers: Vec<Answer>,
}

impl fmt::Display for Picture {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let status = self.cache.status.clone().unwrap_or_default();
        let name = self.cache.name_any();
        let ready = status.ready_replicas.unwrap_or_default();
        let image = status.image.unwrap_or_default();
        writeln!(
            formatter,
            "\nmemcached/{name}: {ready} of {} ready, {image}",
            self.cache.spec.size
        )?;
        for condition in &status.conditions {
            let (kind, state) = (&condition.type_, &condition.status);
            writeln!(formatter, "  {kind:<12} {state:<8} {}", condition.reason)?;
        }
        let status_of = self.deployment.status.clone().unwrap_or_default();
        let (ready, all) =
            (status_of.ready_replicas.unwrap_or_default(), status_of.replicas.unwrap_or_default());
        writeln!(formatter, "\ndeployment/{}: {ready} of {all} ready", self.deployment.name_any())?;
        writeln!(formatter, "\nstatus.nodes")?;
        for node in status.nodes.iter().flatten() {
            writeln!(formatter, "  {node}")?;
        }
        writeln!(formatter, "\npods, each with a set and a get")?;
        for (pod, answer) in self.pods.iter().zip(&self.answers) {
            writeln!(formatter, "  {}", line(pod, answer))?;
        }
        Ok(())
    }
}

fn line(pod: &Pod, answer: &Answer) -> String {
    let status = pod.status.clone().unwrap_or_default();
    let (phase, address) = (status.phase.unwrap_or_default(), status.pod_ip.unwrap_or_default());
    let Answer { version, value, took } = answer;
    let took = took.as_secs_f64() * 1_000.0;
    format!(
        "{}  {phase}  {address}  ✓ {value:?} from memcached {version} in {took:.1} ms",
        pod.name_any()
    )
}

/// How to go on.
pub(crate) fn next_steps(name: &str) -> String {
    let mut lines = Vec::new();
    if let Some(path) = std::env::var_os("KUBECONFIG") {
        lines.push(format!("  export KUBECONFIG={}", path.display()));
    }
    lines.extend([
        "  kubectl get memcached,deployment,pods".to_owned(),
        format!("  kubectl scale memcached {name} --replicas 5"),
        format!("  kubectl get memcached {name} -o yaml"),
        "  make dev-down".to_owned(),
    ]);
    format!("go on with\n{}", lines.join("\n"))
}
