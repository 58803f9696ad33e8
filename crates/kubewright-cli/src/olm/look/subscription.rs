//! Whether OLM has a plan to install a release. Pure: the `Subscription`, the plans, and the pods of unpack jobs.
//!
//! In the order in which they are asked:
//!
//! | what holds | look |
//! |---|---|
//! | the release is installed | done, without a plan |
//! | a plan installs it | done, with the plan; waiting while OLM still writes it |
//! | that plan, not approved yet, installs or upgrades what another Subscription waits for | failed |
//! | `ResolutionFailed` | troubled: a catalogue that is read a moment later may have what is missing |
//! | `BundleUnpackFailed` | failed |
//! | a pod that unpacks is in trouble | troubled |
//! | `BundleUnpacking` | waiting |
//! | `CatalogSourcesUnhealthy` | troubled |
//! | nothing | waiting |

use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

use super::{Look, Sentence, holds, pods};
use crate::olm::objects::{name, text};

/// What there is to do next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// Nothing: the release is installed.
    Installed,
    /// Approve this plan.
    Approve(String),
}

/// How far OLM is with installing `release`; `others` are the namespace's other Subscriptions.
pub(crate) fn look(
    subscription: &Value,
    others: &[Value],
    plans: &[Value],
    unpacking: &[Pod],
    release: &str,
) -> Look<Next> {
    let object = format!("subscription/{}", name(subscription));
    if text(subscription, "/status/installedCSV") == release {
        return Look::Done(Next::Installed);
    }
    if let Some(plan) = plan_for(plans, release) {
        let plan_name = name(plan);
        // To approve a plan before OLM has written its steps makes OLM drop it, and make another one.
        if text(plan, "/status/phase").is_empty() {
            let object = format!("installplan/{plan_name}");
            return Look::Waiting(Sentence::new(object, "OLM makes the plan"));
        }
        if let Some(theirs) = also(plan, others) {
            return Look::Failed(shared(plan, subscription, theirs));
        }
        return Look::Done(Next::Approve(plan_name.to_owned()));
    }
    if let Some(said) = holds(subscription, "ResolutionFailed") {
        return unresolved(object, &said);
    }
    if let Some(said) = holds(subscription, "BundleUnpackFailed") {
        let remedy = "is the image a bundle, and do the nodes reach its registry? `kubewright bundle validate` \
                      looks at the folder; then clean up and try again";
        return Look::Failed(
            Sentence::new(object, format!("the bundle cannot be unpacked: {said}")).remedy(remedy),
        );
    }
    if let Some(trouble) = pods::trouble(unpacking) {
        return Look::Troubled(trouble);
    }
    if let Some(said) = holds(subscription, "BundleUnpacking") {
        return Look::Waiting(Sentence::new(object, format!("OLM unpacks the bundle ({said})")));
    }
    match holds(subscription, "CatalogSourcesUnhealthy") {
        Some(said) => {
            let remedy = "OLM resolves nothing in a namespace while one of its catalogues is down: `kubectl get \
                          catalogsources --all-namespaces` tells which";
            Look::Troubled(Sentence::new(object, said).remedy(remedy))
        }
        None => Look::Waiting(Sentence::new(object, "OLM looks for the release in the catalogue")),
    }
}

/// The newest plan that is about this release.
fn plan_for<'a>(plans: &'a [Value], release: &str) -> Option<&'a Value> {
    let generation = |plan: &&Value| plan["spec"]["generation"].as_i64();
    plans.iter().filter(|plan| is_about(plan, release)).max_by_key(generation)
}

/// True if the plan is about a release.
fn is_about(plan: &Value, release: &str) -> bool {
    let names = plan["spec"]["clusterServiceVersionNames"].as_array();
    names.into_iter().flatten().any(|name| name == release)
}

/// The Subscription that waits for the same plan, if nobody has approved it: OLM puts all that is new in a namespace
/// into one.
fn also<'a>(plan: &Value, others: &'a [Value]) -> Option<&'a Value> {
    let waits = |one: &&Value| {
        let [comes, runs] = ["/status/currentCSV", "/status/installedCSV"].map(|at| text(one, at));
        comes != runs && is_about(plan, comes)
    };
    if plan["spec"]["approved"] == true { None } else { others.iter().find(waits) }
}

/// To approve the plan is somebody else's decision, too.
fn shared(plan: &Value, subscription: &Value, theirs: &Value) -> Sentence {
    let [comes, runs] = ["/status/currentCSV", "/status/installedCSV"].map(|at| text(theirs, at));
    let why = match runs {
        "" => format!("the plan also installs {comes}"),
        _ => format!("the plan also upgrades {runs} to {comes}"),
    };
    let (plan, namespace) = (name(plan), text(subscription, "/metadata/namespace"));
    let package = text(subscription, "/spec/name");
    let remedy = format!(
        "if that is meant, too, approve it (`kubectl patch installplan {plan} --namespace {namespace} --type merge \
         --patch '{{\"spec\":{{\"approved\":true}}}}'`) and run the same command again; else `kubewright cleanup {package} \
         --namespace {namespace}`, and use another namespace"
    );
    Sentence::new(format!("installplan/{plan}"), why).remedy(remedy)
}

/// In the resolver's own words.
fn unresolved(object: String, said: &str) -> Look<Next> {
    let sentence = Sentence::new(object, format!("OLM can find no way to install it: {said}"));
    let remedy = "what it needs has to be in a catalogue of this cluster, and nothing else may provide the same kinds; \
                  `kubewright cleanup` takes back what was made";
    Look::Troubled(sentence.remedy(remedy))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn look_at(status: &Value, plans: &[Value]) -> Look<Next> {
        let subscription = json!({ "metadata": { "name": "a" }, "status": status });
        look(&subscription, &[], plans, &[], "a.v2")
    }

    fn condition(kind: &str, message: &str) -> Value {
        json!({ "conditions": [{ "type": kind, "status": "True", "message": message }] })
    }

    fn plan(name: &str, release: &str, generation: i64) -> Value {
        json!({
            "metadata": { "name": name },
            "spec": { "clusterServiceVersionNames": [release], "generation": generation },
            "status": { "phase": "RequiresApproval" },
        })
    }

    #[test]
    fn the_newest_plan_of_the_release_is_to_be_approved() {
        let plans = [plan("one", "a.v2", 1), plan("two", "a.v2", 2), plan("other", "a.v1", 3)];
        assert_eq!(look_at(&json!({}), &plans), Look::Done(Next::Approve("two".to_owned())));
    }

    #[test]
    fn a_plan_that_upgrades_another_operator_is_not_ours_to_approve() {
        let subscription =
            json!({ "metadata": { "name": "a", "namespace": "n" }, "spec": { "name": "a" } });
        let mut plan = plan("one", "a.v2", 1);
        plan["spec"]["clusterServiceVersionNames"] = json!(["a.v2", "b.v2"]);
        let look = |plan: &Value, current: &str, installed: &str| {
            let other = json!({ "status": { "currentCSV": current, "installedCSV": installed } });
            look(&subscription, &[other], std::slice::from_ref(plan), &[], "a.v2")
        };
        let Look::Failed(sentence) = look(&plan, "b.v2", "b.v1") else { panic!("not failed") };
        assert_eq!(sentence.why, "the plan also upgrades b.v1 to b.v2");
        assert!(sentence.remedy.unwrap().contains("kubewright cleanup a --namespace n"));
        assert!(matches!(look(&plan, "b.v2", ""), Look::Failed(_)));
        assert!(matches!(look(&plan, "b.v2", "b.v2"), Look::Done(_)));
        plan["spec"]["approved"] = json!(true);
        assert!(matches!(look(&plan, "b.v2", "b.v1"), Look::Done(_)));
    }

    #[test]
    fn a_plan_that_olm_still_writes_is_not_approved() {
        let mut plan = plan("one", "a.v2", 1);
        plan["status"] = json!({});
        let look = look_at(&json!({}), &[plan]);
        let Look::Waiting(sentence) = look else { panic!("{look:?}") };
        assert_eq!(sentence.object, "installplan/one");
    }

    #[test]
    fn a_release_that_is_installed_needs_no_plan() {
        let status = json!({ "installedCSV": "a.v2" });
        assert_eq!(look_at(&status, &[]), Look::Done(Next::Installed));
    }

    #[test]
    fn the_plan_of_another_release_is_not_ours_to_approve() {
        let look = look_at(&json!({}), &[plan("other", "a.v1", 1)]);
        assert!(matches!(look, Look::Waiting(_)), "{look:?}");
    }

    #[test]
    fn what_olm_says_is_passed_on() {
        let look = look_at(&condition("ResolutionFailed", "constraints not satisfiable"), &[]);
        let Look::Troubled(sentence) = look else { panic!("{look:?}") };
        assert!(sentence.why.ends_with("constraints not satisfiable"), "{sentence:?}");
        let look = look_at(&condition("BundleUnpackFailed", "deadline exceeded"), &[]);
        assert!(matches!(look, Look::Failed(_)), "{look:?}");
        let look = look_at(&condition("BundleUnpacking", "job not started"), &[]);
        let Look::Waiting(sentence) = look else { panic!("{look:?}") };
        assert_eq!(sentence.why, "OLM unpacks the bundle (job not started)");
    }
}
