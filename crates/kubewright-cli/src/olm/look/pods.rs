//! What keeps a pod from running, in words of what to do. Pure.

use k8s_openapi::api::core::v1::{ContainerStatus, Pod};

use super::Sentence;

/// What a container waits for that is no trouble.
const USUAL: [&str; 2] = ["ContainerCreating", "PodInitializing"];

/// The first trouble among the pods, those that go left out.
pub(crate) fn trouble(pods: &[Pod]) -> Option<Sentence> {
    pods.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none()).find_map(in_pod)
}

fn in_pod(pod: &Pod) -> Option<Sentence> {
    let name = pod.metadata.name.as_deref().unwrap_or_default();
    let namespace = pod.metadata.namespace.as_deref().unwrap_or_default();
    let object = format!("pod/{name}");
    let status = pod.status.as_ref()?;
    let lists = [&status.init_container_statuses, &status.container_statuses];
    let containers = || lists.into_iter().flatten().flatten();
    let describe = format!("`kubectl describe pod {name} --namespace {namespace}` tells more");
    if let Some((container, reason, message)) = containers().find_map(waiting) {
        if reason.contains("Image") {
            return Some(unpullable(&object, container, message));
        }
        let logs = format!(
            "`kubectl logs {name} --container {} --previous --namespace {namespace}` tells why",
            container.name
        );
        let why = format!("{reason}, container {}: {message}", container.name);
        return Some(Sentence::new(object, why).remedy(logs));
    }
    let failed = |container: &&ContainerStatus| {
        let ended = container.state.as_ref().and_then(|state| state.terminated.as_ref());
        ended.is_some_and(|ended| ended.exit_code != 0)
    };
    if let Some(container) = containers().find(failed) {
        let ended = container.state.as_ref().and_then(|state| state.terminated.as_ref());
        let message = ended.and_then(|ended| ended.message.as_deref()).unwrap_or("it said nothing");
        let why = format!("container {} ended: {message}", container.name);
        return Some(Sentence::new(object, why).remedy(describe));
    }
    let scheduled = status.conditions.iter().flatten().find(|one| one.type_ == "PodScheduled")?;
    if scheduled.status != "False" {
        return None;
    }
    let why = format!("no node takes it: {}", scheduled.message.as_deref().unwrap_or_default());
    Some(Sentence::new(object, why).remedy(describe))
}

fn waiting(container: &ContainerStatus) -> Option<(&ContainerStatus, &str, &str)> {
    let waiting = container.state.as_ref()?.waiting.as_ref()?;
    let reason = waiting.reason.as_deref().filter(|reason| !USUAL.contains(reason))?;
    Some((container, reason, waiting.message.as_deref().unwrap_or_default()))
}

fn unpullable(object: &str, container: &ContainerStatus, message: &str) -> Sentence {
    let image = &container.image;
    // `ErrImagePull` and `ImagePullBackOff` take turns; one sentence for both, or it is told anew each time.
    let why = format!("the nodes cannot pull {image}");
    let said = if message.is_empty() || message.starts_with("Back-off") {
        String::new()
    } else {
        format!(" (the node says: {message})")
    };
    Sentence::new(object, why).remedy(format!(
        "push it to a registry that the nodes reach, or give it to the nodes of the local Kubernetes with \
         `kubewright dev load FILE`{said}"
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn pod(status: &Value) -> Pod {
        let metadata = json!({ "name": "a", "namespace": "n" });
        serde_json::from_value(json!({ "metadata": metadata, "status": status })).unwrap()
    }

    fn container(state: &Value) -> Value {
        json!([{
            "name": "main", "image": "example.com/a:1", "imageID": "", "ready": false,
            "restartCount": 0, "state": state,
        }])
    }

    #[test]
    fn an_image_that_cannot_be_pulled_is_one_sentence_whatever_it_is_called() {
        let why = |reason: &str| {
            let state = json!({ "waiting": { "reason": reason, "message": "no such host" } });
            let pods = [pod(&json!({ "initContainerStatuses": container(&state) }))];
            trouble(&pods).unwrap().why
        };
        assert_eq!(why("ErrImagePull"), "the nodes cannot pull example.com/a:1");
        assert_eq!(why("ErrImagePull"), why("ImagePullBackOff"));
    }

    #[test]
    fn a_container_that_crashes_is_told_with_where_its_log_is() {
        let state = json!({ "waiting": { "reason": "CrashLoopBackOff", "message": "back-off" } });
        let found = trouble(&[pod(&json!({ "containerStatuses": container(&state) }))]).unwrap();
        assert_eq!(found.why, "CrashLoopBackOff, container main: back-off");
        assert!(found.remedy.unwrap().starts_with("`kubectl logs a --container main --previous"));
    }

    #[test]
    fn a_job_s_container_that_failed_is_told_in_its_own_words() {
        let state = json!({ "terminated": { "exitCode": 1, "message": "no bundle here" } });
        let found = trouble(&[pod(&json!({ "containerStatuses": container(&state) }))]).unwrap();
        assert_eq!(found.why, "container main ended: no bundle here");
    }

    #[test]
    fn what_starts_runs_or_has_done_its_work_is_no_trouble() {
        for state in [
            json!({ "waiting": { "reason": "ContainerCreating" } }),
            json!({ "running": {} }),
            json!({ "terminated": { "exitCode": 0 } }),
        ] {
            assert_eq!(trouble(&[pod(&json!({ "containerStatuses": container(&state) }))]), None);
        }
    }
}
