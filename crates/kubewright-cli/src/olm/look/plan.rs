//! Whether a plan was carried out. Pure: the `InstallPlan`, and the pods of unpack jobs.
//!
//! | phase | look |
//! |---|---|
//! | `Complete` | done |
//! | `Failed` | failed, with what its conditions say |
//! | another, with a pod that unpacks in trouble | troubled |
//! | another, with a message | troubled: OLM tries again what was refused |
//! | another | waiting |

use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

use super::{Look, Sentence, pods};
use crate::olm::objects::{name, text};

/// How far OLM is with `plan`.
pub(crate) fn look(plan: &Value, unpacking: &[Pod]) -> Look<()> {
    let object = format!("installplan/{}", name(plan));
    let said = said(plan);
    match text(plan, "/status/phase") {
        "Complete" => Look::Done(()),
        "Failed" => {
            let why = said.unwrap_or_else(|| "it failed, and does not say why".to_owned());
            let remedy = remedy(&why);
            Look::Failed(Sentence::new(object, format!("OLM gave up: {why}")).remedy(remedy))
        }
        phase => {
            if let Some(trouble) = pods::trouble(unpacking) {
                return Look::Troubled(trouble);
            }
            if let Some(said) = said {
                let remedy = remedy(&said);
                return Look::Troubled(Sentence::new(object, said).remedy(remedy));
            }
            let why = match phase {
                "" | "Planning" => "OLM makes the plan",
                "RequiresApproval" => "it is approved, and OLM has not seen that yet",
                _ => "OLM creates what is in the bundle",
            };
            Look::Waiting(Sentence::new(object, why))
        }
    }
}

/// What stands in the way, in OLM's words.
fn said(plan: &Value) -> Option<String> {
    let message = text(plan, "/status/message");
    let conditions = plan["status"]["conditions"].as_array().into_iter().flatten();
    let failed = conditions.filter(|one| one["status"] == "False").map(|one| text(one, "/message"));
    let lookups = plan["status"]["bundleLookups"].as_array().into_iter().flatten();
    let lookups = lookups.flat_map(|one| one["conditions"].as_array().into_iter().flatten());
    let lookups =
        lookups.filter(|one| one["type"] == "BundleLookupFailed" && one["status"] == "True");
    let lookups = lookups.map(|one| text(one, "/message"));
    let mut words = failed.chain(lookups).chain([message]);
    words.find(|words| !words.is_empty()).map(str::to_owned)
}

fn remedy(said: &str) -> &'static str {
    if said.contains("forbidden") || said.contains("cannot") {
        "what installs may not do this: the OperatorGroup of the namespace may name a ServiceAccount, and OLM is bound \
         by its rights"
    } else if said.contains("already exist") || said.contains("conflict") {
        "something of the same name is there and is not OLM's: remove it, clean up and try again"
    } else {
        "correct the bundle, clean up and try again"
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn look_at(status: &Value) -> Look<()> {
        look(&json!({ "metadata": { "name": "install-1" }, "status": status }), &[])
    }

    #[test]
    fn a_plan_goes_through_its_phases() {
        assert_eq!(look_at(&json!({ "phase": "Complete" })), Look::Done(()));
        for phase in ["", "Planning", "RequiresApproval", "Installing"] {
            let look = look_at(&json!({ "phase": phase }));
            assert!(matches!(look, Look::Waiting(_)), "{phase}: {look:?}");
        }
    }

    #[test]
    fn a_failed_plan_says_what_was_refused_and_who_may_help() {
        let conditions = json!([{
            "type": "Installed", "status": "False", "reason": "InstallComponentFailed",
            "message": "clusterroles is forbidden: User \"system:serviceaccount:n:weak\" cannot create",
        }]);
        let look = look_at(&json!({ "phase": "Failed", "conditions": conditions }));
        let Look::Failed(sentence) = look else { panic!("{look:?}") };
        assert!(sentence.why.contains("is forbidden"), "{sentence:?}");
        assert!(sentence.remedy.unwrap().contains("ServiceAccount"));
    }

    #[test]
    fn a_refusal_that_is_tried_again_is_trouble() {
        let look = look_at(&json!({ "phase": "Installing", "message": "retrying execution" }));
        assert!(matches!(look, Look::Troubled(_)), "{look:?}");
    }
}
