//! What belongs to a package, by OLM's own labels, lists and plans. Pure: objects -> objects.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::olm::COMPONENT;
use crate::olm::objects::{name, text};

/// What a bundle may bring that is in no namespace.
const UNOWNED: [&str; 3] = ["ClusterRole", "ClusterRoleBinding", "PriorityClass"];
/// Where a Subscription names releases: what runs, what comes, and what it began with.
const PROMISES: [&str; 3] = ["/status/installedCSV", "/status/currentCSV", "/spec/startingCSV"];

/// The releases of a package in a namespace: those that are named, and those that have its label. What OLM copies
/// into other namespaces goes with them.
pub(super) fn releases(
    label: &str,
    namespace: &str,
    names: &BTreeSet<String>,
    all: &[Value],
) -> Vec<Value> {
    let is_own = |one: &&Value| {
        text(one, "/metadata/namespace") == namespace
            && !is_copy(one)
            && (one["metadata"]["labels"].get(label).is_some()
                || names.contains(name(one)) && !is_adopted(one))
    };
    all.iter().filter(is_own).cloned().collect()
}

/// True if OLM has said of a release which package it is of: that counts more than a plan, of which the Subscription
/// may be gone.
fn is_adopted(release: &Value) -> bool {
    let labels = release["metadata"]["labels"].as_object();
    labels.into_iter().flatten().any(|(key, _)| key.starts_with(COMPONENT))
}

fn is_copy(release: &Value) -> bool {
    release["metadata"]["labels"].get("olm.copiedFrom").is_some()
}

/// The releases that the Subscriptions and their plans are about. A plan is about everything that was new in its
/// namespace, so that what `others` promise is theirs.
pub(super) fn promised(
    subscribed: &[Value],
    others: &[Value],
    plans: &[Value],
) -> BTreeSet<String> {
    let own = subscribed.iter().flat_map(|one| PROMISES.map(|path| text(one, path)));
    let theirs = others.iter().flat_map(|one| PROMISES.map(|path| text(one, path)));
    let theirs: BTreeSet<&str> = theirs.collect();
    let planned =
        plans.iter().filter_map(|one| one["spec"]["clusterServiceVersionNames"].as_array());
    let planned = planned.flatten().filter_map(Value::as_str);
    let names = own.chain(planned.filter(|name| !theirs.contains(name)));
    names.filter(|name| !name.is_empty()).map(str::to_owned).collect()
}

/// The plans that OLM made for the Subscriptions, and the others.
pub(super) fn plans_of(plans: &[Value], subscribed: &[Value]) -> (Vec<Value>, Vec<Value>) {
    let is_subscribed = |uid: &Value| subscribed.iter().any(|one| one["metadata"]["uid"] == *uid);
    plans.iter().cloned().partition(|plan| {
        let mut owners = plan["metadata"]["ownerReferences"].as_array().into_iter().flatten();
        owners.any(|owner| is_subscribed(&owner["uid"]))
    })
}

/// Of `plans`, those that none of the `others` owns: OLM makes every Subscription of a namespace an owner of each.
pub(super) fn unshared(mut plans: Vec<Value>, others: &[Value]) -> Vec<Value> {
    let (shared, _) = plans_of(&plans, others);
    plans.retain(|plan| !shared.contains(plan));
    plans
}

/// What the releases called `names` have in `plans` and in no namespace, but for what others bring, too. OLM gives
/// these no owner, and only its plans tell of them.
pub(super) fn brought(plans: &[Value], others: &[Value], names: &BTreeSet<String>) -> Vec<Value> {
    let is_own = |step: &&Value| names.contains(text(step, "/resolving"));
    let (own, theirs): (Vec<_>, Vec<_>) = plans.iter().flat_map(steps).partition(is_own);
    let theirs = theirs.into_iter().chain(others.iter().flat_map(steps));
    let theirs: Vec<Value> = theirs.filter_map(unowned).collect();
    let mut own: Vec<Value> = own.into_iter().filter_map(unowned).collect();
    own.retain(|one| !theirs.contains(one));
    own.sort_by_cached_key(ToString::to_string);
    own.dedup();
    own
}

fn steps(plan: &Value) -> impl Iterator<Item = &Value> {
    plan["status"]["plan"].as_array().into_iter().flatten()
}

/// What a step makes, if it is in no namespace and OLM gives it no owner.
fn unowned(step: &Value) -> Option<Value> {
    let resource = &step["resource"];
    // What is made of the release itself says so, and the operator needs it until its end.
    let made: Value = serde_json::from_str(text(resource, "/manifest")).unwrap_or_default();
    let is_unowned = UNOWNED.contains(&text(resource, "/kind"))
        && made["metadata"]["labels"].get("olm.owner").is_none();
    let [group, version, kind, name] =
        ["/group", "/version", "/kind", "/name"].map(|path| text(resource, path));
    is_unowned.then(|| {
        json!({
            "apiVersion": format!("{group}/{version}"), "kind": kind, "metadata": { "name": name },
        })
    })
}

/// True if OLM may be carrying out the plan.
pub(super) fn is_under_way(plan: &Value) -> bool {
    let is_over = matches!(text(plan, "/status/phase"), "Complete" | "Failed");
    plan["spec"]["approved"] == true && !is_over
}

/// True if the holder of a lease is called as pods of one of the releases are.
pub(super) fn is_held_by(lease: &Value, releases: &[Value]) -> bool {
    let holder = text(lease, "/spec/holderIdentity");
    let lists = releases.iter().filter_map(|one| one.pointer("/spec/install/spec/deployments"));
    let mut deployments = lists.filter_map(Value::as_array).flatten();
    deployments.any(|deployment| {
        let rest = holder.strip_prefix(text(deployment, "/name"));
        rest.is_some_and(|rest| rest.starts_with('-'))
    })
}

/// True if nobody holds the lease and it is called as the package: that of an operator which has ended in peace.
pub(super) fn is_given_back(lease: &Value, package: &str) -> bool {
    text(lease, "/spec/holderIdentity").is_empty() && name(lease) == package
}

/// Of `bindings`, those that OLM made for the Deployments of the releases' webhooks and APIs. They say nothing of
/// their release: the name tells the Deployment, and whom they are for tells the namespace.
pub(super) fn readers(bindings: &[Value], releases: &[Value], namespace: &str) -> Vec<Value> {
    let lists = ["/spec/webhookdefinitions", "/spec/apiservicedefinitions/owned"];
    let served =
        |release| lists.map(|path| Value::pointer(release, path).and_then(Value::as_array));
    let served = releases.iter().flat_map(served).flatten().flatten();
    let names: BTreeSet<String> = served
        .map(|one| text(one, "/deploymentName").replace('.', "-") + "-service-auth-reader")
        .collect();
    let is_here = |binding: &&Value| {
        let mut subjects = binding["subjects"].as_array().into_iter().flatten();
        names.contains(name(binding)) && subjects.any(|one| one["namespace"] == namespace)
    };
    bindings.iter().filter(is_here).cloned().collect()
}

/// The definitions that a release owns.
pub(super) fn owned(release: &Value) -> Vec<String> {
    let owned = release["spec"]["customresourcedefinitions"]["owned"].as_array();
    owned.into_iter().flatten().map(|one| text(one, "/name").to_owned()).collect()
}

/// Another release that owns the definition, if there is one.
pub(super) fn other_owner(definition: &str, releases: &[Value], all: &[Value]) -> Option<String> {
    let is_ours =
        |one: &Value| releases.iter().any(|own| own["metadata"]["uid"] == one["metadata"]["uid"]);
    let mut others = all.iter().filter(|one| !is_ours(one) && !is_copy(one));
    let other = others.find(|one| owned(one).iter().any(|owned| owned == definition))?;
    Some(format!("{} in namespace {}", name(other), text(other, "/metadata/namespace")))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::olm::component_label;

    fn release(uid: &str, namespace: &str, labels: &Value, owns: &str) -> Value {
        json!({
            "metadata": { "name": "pots.v1", "namespace": namespace, "uid": uid, "labels": labels },
            "spec": { "customresourcedefinitions": { "owned": [{ "name": owns }] } },
        })
    }

    #[test]
    fn releases_are_found_by_subscription_or_label_and_copies_are_left_to_olm() {
        let labelled = json!({ "operators.coreos.com/pots.here": "" });
        let copy = json!({ "olm.copiedFrom": "here", "operators.coreos.com/pots.here": "" });
        let all = [
            release("1", "here", &json!({}), "a"),
            release("2", "here", &labelled, "a"),
            release("3", "here", &copy, "a"),
            release("4", "there", &labelled, "a"),
            release("5", "here", &json!({ "operators.coreos.com/pans.here": "" }), "a"),
        ];
        let uids = |subscribed: &[Value]| -> Vec<String> {
            let label = component_label("pots", "here");
            let found = releases(&label, "here", &promised(subscribed, &[], &[]), &all);
            found.iter().map(|one| text(one, "/metadata/uid").to_owned()).collect()
        };
        assert_eq!(uids(&[]), ["2"]);
        // The fifth is of a package whose Subscription somebody has removed.
        assert_eq!(uids(&[json!({ "status": { "currentCSV": "pots.v1" } })]), ["1", "2"]);
    }

    #[test]
    fn a_kind_that_another_release_owns_stays() {
        let own = [release("1", "here", &json!({}), "pots.example.com")];
        let mut all = own.to_vec();
        assert_eq!(other_owner("pots.example.com", &own, &all), None);
        all.push(release("2", "there", &json!({}), "pots.example.com"));
        let other = other_owner("pots.example.com", &own, &all);
        assert_eq!(other.as_deref(), Some("pots.v1 in namespace there"));
    }

    #[test]
    fn a_lease_is_the_operator_s_if_one_of_its_pods_holds_it() {
        let deployments = json!([{ "name": "pots-manager" }]);
        let releases =
            [json!({ "spec": { "install": { "spec": { "deployments": deployments } } } })];
        let held_by = |holder: &str| json!({ "spec": { "holderIdentity": holder } });
        assert!(is_held_by(&held_by("pots-manager-7d9f-x2x_1234"), &releases));
        for other in ["", "pots-manager", "pots-managers-1", "pans-manager-1"] {
            assert!(!is_held_by(&held_by(other), &releases), "{other}");
        }
        let lease = |name: &str, holder: &str| json!({ "metadata": { "name": name }, "spec": { "holderIdentity": holder } });
        assert!(is_given_back(&lease("pots", ""), "pots"));
        assert!(!is_given_back(&lease("pots", "somebody"), "pots"));
        assert!(!is_given_back(&lease("pans", ""), "pots"));
    }

    #[test]
    fn a_binding_in_kube_system_goes_with_the_webhooks_that_it_was_made_for() {
        let webhooks = json!([{ "deploymentName": "pots.manager" }]);
        let releases = [json!({ "spec": { "webhookdefinitions": webhooks } })];
        let binding = |name: &str, namespace: &str| {
            let subjects =
                json!([{ "kind": "ServiceAccount", "name": "a", "namespace": namespace }]);
            json!({ "metadata": { "name": name }, "subjects": subjects })
        };
        let own = binding("pots-manager-service-auth-reader", "here");
        let others = [
            binding("pots-manager-service-auth-reader", "there"),
            binding("packageserver-service-auth-reader", "here"),
        ];
        let all = [&others[..], std::slice::from_ref(&own)].concat();
        assert_eq!(readers(&all, &releases, "here"), [own]);
        assert!(readers(&all, &[json!({})], "here").is_empty());
    }

    #[test]
    fn only_plans_of_the_subscriptions_go_and_they_say_what_comes() {
        let plan = |owner: &str| {
            json!({
                "metadata": { "ownerReferences": [{ "uid": owner }] },
                "spec": { "clusterServiceVersionNames": ["pots.v2"], "approved": true },
                "status": { "phase": "Installing" },
            })
        };
        let subscribed = [json!({ "metadata": { "uid": "1" } })];
        let (found, others) = plans_of(&[plan("1"), plan("2")], &subscribed);
        assert_eq!((&found[..], &others[..]), (&[plan("1")][..], &[plan("2")][..]));
        assert!(is_under_way(&found[0]));
        assert_eq!(promised(&subscribed, &[], &found), BTreeSet::from(["pots.v2".to_owned()]));
    }

    fn step(resolving: &str, kind: &str, name: &str, labels: &Value) -> Value {
        let manifest = json!({ "metadata": { "labels": labels } }).to_string();
        json!({ "resolving": resolving, "resource": {
            "group": "rbac.authorization.k8s.io", "version": "v1", "kind": kind, "name": name,
            "manifest": manifest,
        }})
    }

    #[test]
    fn what_a_bundle_brings_to_the_cluster_goes_unless_another_has_it_too() {
        let step = |kind: &str, name: &str, labels: &Value| step("pots.v1", kind, name, labels);
        let plan = |steps: &[Value]| json!({ "status": { "plan": steps } });
        let own = plan(&[
            step("ClusterRole", "viewer", &json!({})),
            step("ClusterRole", "shared", &json!({})),
            step("ClusterRole", "of-the-release", &json!({ "olm.owner": "pots.v1" })),
            step("Role", "in-a-namespace", &json!({})),
        ]);
        let other = plan(&[step("ClusterRole", "shared", &json!({}))]);
        let names = BTreeSet::from(["pots.v1".to_owned()]);
        let found = brought(&[own.clone(), own], &[other], &names);
        let names: Vec<_> = found.iter().map(name).collect();
        assert_eq!(names, ["viewer"]);
    }

    /// As after `run bundle pots` and `run bundle pans` in one namespace.
    #[test]
    fn the_neighbour_s_release_stays_although_its_plan_is_owned_by_both() {
        let subscription = |uid: &str, installed: &str| json!({ "metadata": { "uid": uid }, "status": { "installedCSV": installed } });
        let plan = |owners: &[&str], release: &str| {
            let owners: Vec<_> = owners.iter().map(|uid| json!({ "uid": uid })).collect();
            json!({
                "metadata": { "ownerReferences": owners },
                "spec": { "clusterServiceVersionNames": [release] },
                "status": { "plan": [step(release, "ClusterRole", release, &json!({}))] },
            })
        };
        let (own, theirs) = ([subscription("1", "pots.v1")], [subscription("2", "pans.v1")]);
        let all = [plan(&["1"], "pots.v1"), plan(&["1", "2"], "pans.v1")];
        let (plans, others) = plans_of(&all, &own);
        assert_eq!((plans.len(), others.len()), (2, 0));
        let names = promised(&own, &theirs, &plans);
        assert_eq!(names, BTreeSet::from(["pots.v1".to_owned()]));
        let found = brought(&plans, &others, &names);
        assert_eq!(found.iter().map(name).collect::<Vec<_>>(), ["pots.v1"]);
        assert_eq!(unshared(plans, &theirs), all[..1]);
    }

    #[test]
    fn what_a_neighbour_is_to_become_is_not_ours_either() {
        let planned = |release: &str| json!({ "spec": { "clusterServiceVersionNames": ["pots.v1", release] } });
        for path in PROMISES {
            let mut theirs = json!({ "spec": {}, "status": {} });
            let (part, field) = path[1..].split_once('/').unwrap();
            theirs[part][field] = json!("pans.v2");
            let names = promised(&[], &[theirs], &[planned("pans.v2")]);
            assert_eq!(names, BTreeSet::from(["pots.v1".to_owned()]), "{path}");
        }
    }
}
