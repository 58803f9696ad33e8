//! What there is: the pods of one object, digested to what decisions need. Pure; the pods come from the
//! cache.

use k8s_openapi::api::core::v1::{ContainerState, Pod, PodCondition, PodStatus};

/// Why a container waits, where waiting will not help; beside those that are told in words of their own.
/// The rest (`ContainerCreating`, `PodInitializing`) passes.
const FAILING: [&str; 4] =
    ["InvalidImageName", "CreateContainerConfigError", "CreateContainerError", "RunContainerError"];

/// The pods of an object that count, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Neither terminating nor finished.
    pub instances: Vec<Instance>,
}

/// One pod.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Instance {
    /// The pod's name.
    pub name: String,
    /// Its address, once it has one.
    pub address: Option<String>,
    /// Whether it answers.
    pub ready: bool,
    /// What keeps it from being ready, if that will not pass by itself.
    pub trouble: Option<String>,
}

impl Observed {
    /// How many are ready.
    pub fn ready(&self) -> i32 {
        count(self.instances.iter().filter(|instance| instance.ready).count())
    }

    /// How many there are.
    pub fn total(&self) -> i32 {
        count(self.instances.len())
    }
}

/// Digests the pods that bear an object's label.
pub fn gather(pods: &[Pod]) -> Observed {
    let mut instances: Vec<_> = pods.iter().filter(|pod| counts(pod)).map(instance).collect();
    instances.sort_by(|one, other| one.name.cmp(&other.name));
    Observed { instances }
}

fn counts(pod: &Pod) -> bool {
    let phase = pod.status.as_ref().and_then(|status| status.phase.as_deref());
    pod.metadata.deletion_timestamp.is_none() && !matches!(phase, Some("Succeeded" | "Failed"))
}

fn instance(pod: &Pod) -> Instance {
    let status = pod.status.as_ref();
    Instance {
        name: pod.metadata.name.clone().unwrap_or_default(),
        address: status.and_then(|status| status.pod_ip.clone()).filter(|ip| !ip.is_empty()),
        ready: status.and_then(|status| condition(status, "Ready")).is_some_and(is_true),
        trouble: status.and_then(trouble),
    }
}

/// What keeps a pod from running. Said without counters and delays, so that a pod that fails in the same
/// way again and again is the same news.
fn trouble(status: &PodStatus) -> Option<String> {
    let unscheduled = condition(status, "PodScheduled").filter(|condition| !is_true(condition));
    if let Some(condition) = unscheduled {
        let reason = condition.reason.as_deref().unwrap_or("Unschedulable");
        let message = condition.message.as_deref().unwrap_or_default();
        return Some(format!("cannot be scheduled ({reason}): {message}"));
    }
    let container = status.container_statuses.as_ref()?.first()?;
    let waiting = container.state.as_ref()?.waiting.as_ref()?;
    match waiting.reason.as_deref()? {
        "CrashLoopBackOff" => Some(crash(container.last_state.as_ref())),
        "ImagePullBackOff" | "ErrImagePull" | "ErrImageNeverPull" => {
            Some(format!("cannot pull the image {}", container.image))
        }
        reason if FAILING.contains(&reason) => {
            Some(format!("{reason}: {}", waiting.message.as_deref().unwrap_or_default()))
        }
        _ => None,
    }
}

fn crash(last: Option<&ContainerState>) -> String {
    match last.and_then(|state| state.terminated.as_ref()) {
        Some(end) => {
            let reason = end.reason.as_deref().unwrap_or("Error");
            format!("keeps ending ({reason}, exit code {}); see its log", end.exit_code)
        }
        None => "keeps ending; see its log".to_owned(),
    }
}

fn condition<'a>(status: &'a PodStatus, type_: &str) -> Option<&'a PodCondition> {
    status.conditions.iter().flatten().find(|condition| condition.type_ == type_)
}

fn is_true(condition: &PodCondition) -> bool {
    condition.status == "True"
}

fn count(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(name: &str, status: Value) -> Pod {
        let mut pod = json!({"metadata": {"name": name}});
        pod["status"] = status;
        serde_json::from_value(pod).unwrap()
    }

    #[test]
    fn pods_that_go_or_have_ended_do_not_count() {
        let mut going = pod("d", json!({"phase": "Running"}));
        going.metadata.deletion_timestamp =
            serde_json::from_value(json!("2026-01-01T00:00:00Z")).unwrap();
        let pods = [
            pod("c", json!({"phase": "Pending"})),
            pod("a", json!({"phase": "Running"})),
            pod("e", json!({"phase": "Succeeded"})),
            pod("f", json!({"phase": "Failed"})),
            going,
            Pod { metadata: pod("b", json!({})).metadata, ..Pod::default() },
        ];
        let observed = gather(&pods);
        let names: Vec<_> = observed.instances.iter().map(|one| one.name.as_str()).collect();
        assert_eq!((names, observed.total(), observed.ready()), (vec!["a", "b", "c"], 3, 0));
    }

    #[test]
    fn a_pod_is_ready_when_it_says_so() {
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let observed = gather(&[
            pod("a", json!({"conditions": ready, "podIP": "10.0.0.1"})),
            pod("b", json!({"conditions": [{"type": "Ready", "status": "False"}], "podIP": ""})),
        ]);
        assert_eq!(observed.ready(), 1);
        assert_eq!(observed.instances[0].address.as_deref(), Some("10.0.0.1"));
        assert_eq!(observed.instances[1].address, None);
    }

    #[test]
    fn what_will_not_pass_is_trouble() {
        let waiting = |reason: &str| {
            json!({"containerStatuses": [{
                "name": "memcached", "image": "nowhere/none:1", "imageID": "", "ready": false,
                "restartCount": 0, "state": {"waiting": {"reason": reason, "message": "back-off 10s"}},
                "lastState": {"terminated": {"exitCode": 71, "reason": "Error"}},
            }]})
        };
        for (reason, expected) in [
            ("ContainerCreating", None),
            ("ErrImagePull", Some("cannot pull the image nowhere/none:1")),
            ("ImagePullBackOff", Some("cannot pull the image nowhere/none:1")),
            ("CrashLoopBackOff", Some("keeps ending (Error, exit code 71); see its log")),
            ("InvalidImageName", Some("InvalidImageName: back-off 10s")),
        ] {
            let trouble = gather(&[pod("a", waiting(reason))]).instances[0].trouble.clone();
            assert_eq!(trouble.as_deref(), expected, "{reason}");
        }
        let unscheduled = json!({"conditions": [{
            "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room",
        }]});
        let trouble = gather(&[pod("a", unscheduled)]).instances[0].trouble.clone();
        assert_eq!(trouble.as_deref(), Some("cannot be scheduled (Unschedulable): no room"));
    }
}
