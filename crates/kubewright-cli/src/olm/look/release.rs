//! Whether a release runs. Pure: the `ClusterServiceVersion`, and the pods of its operator.
//!
//! | phase | look |
//! |---|---|
//! | `Succeeded` | done |
//! | `Failed`, for a reason that does not pass | failed |
//! | any, with a pod in trouble | troubled, in the pod's words |
//! | `Failed`, else | troubled: OLM tries again |
//! | `Pending` for `RequirementsNotMet` | troubled, with each requirement that is not met |
//! | other | waiting |

use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

use super::{Look, Sentence, pods};
use crate::olm::objects::{name, text};

/// Reasons to fail that no time heals, with what does.
const FINAL: [(&str, &str); 8] = [
    (
        "UnsupportedOperatorGroup",
        "choose another with --install-mode; the bundle says which it supports",
    ),
    ("TooManyOperatorGroups", "the namespace has several OperatorGroups: leave one"),
    ("InvalidInstallStrategy", INVALID),
    ("InvalidInstallModes", INVALID),
    ("InvalidWebhookDescription", INVALID),
    ("InstallComponentFailedNoRetry", INVALID),
    ("OwnerConflict", "another release owns the same kinds: remove that one first"),
    (
        "InterOperatorGroupOwnerConflict",
        "an operator in another namespace owns the same kinds: remove that one first",
    ),
];

const INVALID: &str = "`kubewright bundle validate` tells what is wrong with the bundle";

/// How far OLM is with `release`; `running` are the pods of its operator.
pub(crate) fn look(release: &Value, running: &[Pod]) -> Look<()> {
    let object = format!("csv/{}", name(release));
    let [phase, reason, message] =
        ["/status/phase", "/status/reason", "/status/message"].map(|path| text(release, path));
    if phase == "Succeeded" {
        return Look::Done(());
    }
    let why = || {
        let words = [phase, reason, message].into_iter().filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(", ")
    };
    let last = FINAL.iter().find(|(name, _)| *name == reason);
    if let Some((_, remedy)) = last {
        return Look::Failed(Sentence::new(object, why()).remedy(*remedy));
    }
    if let Some(trouble) = pods::trouble(running) {
        return Look::Troubled(trouble);
    }
    let namespace = text(release, "/metadata/namespace");
    let events = format!("`kubectl describe {object} --namespace {namespace}` tells more");
    match (phase, reason) {
        ("Failed", _) => Look::Troubled(Sentence::new(object, why()).remedy(events)),
        ("Pending", "RequirementsNotMet") => {
            let missing = missing(release);
            let why = if missing.is_empty() { why() } else { format!("it needs {missing}") };
            Look::Troubled(Sentence::new(object, why).remedy(events))
        }
        ("", _) => Look::Waiting(Sentence::new(object, "OLM has not looked at it yet")),
        _ => Look::Waiting(Sentence::new(object, why())),
    }
}

/// The requirements that are not met, each with what OLM says of it.
fn missing(release: &Value) -> String {
    let all = release["status"]["requirementStatus"].as_array().into_iter().flatten();
    let is_met = |one: &&Value| matches!(text(one, "/status"), "Present" | "Satisfied");
    let line = |one: &Value| {
        let [kind, name, message] = ["/kind", "/name", "/message"].map(|path| text(one, path));
        format!("{kind} {name} ({message})")
    };
    all.filter(|one| !is_met(one)).map(line).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn look_at(status: &Value) -> Look<()> {
        let metadata = json!({ "name": "a.v1", "namespace": "n" });
        look(&json!({ "metadata": metadata, "status": status }), &[])
    }

    #[test]
    fn a_release_runs_once_it_succeeded() {
        assert_eq!(look_at(&json!({ "phase": "Succeeded" })), Look::Done(()));
        let look = look_at(&json!({ "phase": "Installing", "message": "0 of 1 pods are ready" }));
        let Look::Waiting(sentence) = look else { panic!("{look:?}") };
        assert_eq!(sentence.why, "Installing, 0 of 1 pods are ready");
    }

    #[test]
    fn a_mode_that_the_bundle_does_not_support_fails_at_once() {
        let look = look_at(&json!({ "phase": "Failed", "reason": "UnsupportedOperatorGroup" }));
        let Look::Failed(sentence) = look else { panic!("{look:?}") };
        assert!(sentence.remedy.unwrap().contains("--install-mode"));
    }

    #[test]
    fn a_failure_that_olm_tries_again_is_trouble() {
        let look = look_at(&json!({ "phase": "Failed", "reason": "InstallCheckFailed" }));
        assert!(matches!(look, Look::Troubled(_)), "{look:?}");
    }

    #[test]
    fn requirements_that_are_not_met_are_named() {
        let requirements = json!([
            { "kind": "CustomResourceDefinition", "name": "a.example.com", "status": "Present" },
            { "kind": "ServiceAccount", "name": "runner", "status": "NotPresent", "message": "absent" },
        ]);
        let look = look_at(&json!({
            "phase": "Pending", "reason": "RequirementsNotMet", "requirementStatus": requirements,
        }));
        let Look::Troubled(sentence) = look else { panic!("{look:?}") };
        assert_eq!(sentence.why, "it needs ServiceAccount runner (absent)");
    }
}
