//! The roles that the operator ships with are what it needs: with them nothing is refused, and each verb in
//! them is used, or something fails without it.

use std::collections::BTreeSet;
use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::rbac::v1::PolicyRule;
use kube::ResourceExt as _;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright::generate::{Installation, manager_name};
use kubewright_testenv::Env;
use kubewright_testenv::audit::AuditRecord;
use memcached_api::v1alpha1::Memcached;
use memcached_e2e::caches::{memcached, settled, until_none};
use memcached_e2e::conditions::until_condition;
use memcached_e2e::deployed::{OPERATOR, deploy, installation, until_current, until_ready};
use memcached_e2e::image::Build;
use memcached_e2e::kubectl::{apply, kubectl};
use memcached_e2e::programs::Outside;
use serde_json::json;

/// What no request says, though the API server asks for it; the other tests here fail without it.
const UNSEEN: [&str; 3] = [
    // An apply that creates is a patch in the audit log.
    "create deployments.apps",
    "create services",
    // Asked of whoever sets an owner whose deletion waits.
    "update memcacheds/finalizers.cache.example.com",
];

/// A Deployment or a Service of somebody else.
const FOREIGN_DEPLOYMENT: &str = "
apiVersion: apps/v1
kind: Deployment
metadata: {name: taken-deployment}
spec:
  replicas: 0
  selector: {matchLabels: {app: theirs}}
  template: {metadata: {labels: {app: theirs}}, spec: {containers: [{name: a, image: theirs}]}}
";
const FOREIGN_SERVICE: &str = "
apiVersion: v1
kind: Service
metadata: {name: taken-service}
spec: {ports: [{port: 80}]}
";

/// Everything that the operator asked for, watches that go on included.
fn asked(env: &Env, installation: &Installation) -> Vec<AuditRecord> {
    let account = manager_name(&installation.operator);
    let user = format!("system:serviceaccount:{}:{account}", installation.namespace);
    let mut records = env.environment().audit().unwrap();
    records.retain(|record| record.user == user);
    records
}

/// Waits until the operator has asked for this.
async fn until_asked(env: &Env, installation: &Installation, verb: &str, resource: &str) {
    env.eventually(&format!("a {verb} of {resource}"), async || {
        let found = has_asked(&asked(env, installation), verb, resource);
        found.then_some(()).ok_or_else(|| "not yet".to_owned())
    })
    .await;
}

fn has_asked(records: &[AuditRecord], verb: &str, resource: &str) -> bool {
    records.iter().any(|it| it.resource == resource && it.verb == verb)
}

fn permission(verb: &str, resource: &str, group: &str) -> String {
    let dot = if group.is_empty() { "" } else { "." };
    format!("{verb} {resource}{dot}{group}")
}

/// Each permission of the rules as `verb resource.group`.
fn granted(rules: &[PolicyRule]) -> BTreeSet<String> {
    let mut granted = BTreeSet::new();
    for rule in rules {
        for group in rule.api_groups.iter().flatten() {
            for resource in rule.resources.iter().flatten() {
                granted.extend(rule.verbs.iter().map(|verb| permission(verb, resource, group)));
            }
        }
    }
    granted
}

/// Each permission that was used, at home or elsewhere.
fn used(records: &[AuditRecord], installation: &Installation, home: bool) -> BTreeSet<String> {
    let there = records.iter().filter(|it| (it.namespace == installation.namespace) == home);
    let one = |record: &AuditRecord| {
        let slash = if record.subresource.is_empty() { "" } else { "/" };
        let resource = format!("{}{slash}{}", record.resource, record.subresource);
        permission(&record.verb, &resource, &record.group)
    };
    there.map(one).collect()
}

/// Waits until the object is degraded for this reason, and says this.
async fn until_degraded(env: &Env, name: &str, reason: &str, says: &str) {
    let (_, message) = until_condition(env, name, ("Degraded", "True", reason)).await;
    assert!(message.contains(says), "{message}");
}

/// Objects of others with the names of children stay as they are, and are named.
async fn names_are_taken(env: &Env) {
    apply(env, FOREIGN_DEPLOYMENT);
    apply(env, FOREIGN_SERVICE);
    let service = env.api::<Service>().get("taken-service").await.unwrap();
    env.create(memcached("taken-deployment", 0)).await;
    env.create(memcached("taken-service", 0)).await;
    for name in ["taken-deployment", "taken-service"] {
        until_degraded(env, name, "NameTaken", name).await;
    }
    let now = env.api::<Service>().get("taken-service").await.unwrap();
    assert_eq!(now, service);
    let deployment = env.api::<Deployment>().get("taken-deployment").await.unwrap();
    assert_eq!(deployment.metadata.generation, Some(1));
    assert!(deployment.owner_references().is_empty());
}

/// The same event again is counted, and the count is written.
async fn events_repeat(env: &Env, installation: &Installation) {
    let is_asked = || has_asked(&asked(env, installation), "patch", "events");
    // A pod that is ready sooner than a status is due was never missed, and makes no event.
    for _ in 0..10 {
        for size in [1, 2] {
            settled(Duration::from_secs(4), || size).await;
            kubectl(env, &format!("scale mc a --replicas={size}"));
            until_ready(env, "a", size).await;
        }
        if settled(Duration::from_secs(8), is_asked).await {
            return;
        }
    }
    panic!("ten times the same, and no event was counted");
}

/// What others change is put back.
async fn drift_is_repaired(env: &Env) {
    kubectl(env, "scale deployment a --replicas=4");
    env.eventually("it is put back", async || {
        let replicas = kubectl(env, "get deployment a -o jsonpath={.spec.replicas}");
        if replicas == "2" { Ok(()) } else { Err(replicas) }
    })
    .await;
    until_ready(env, "a", 2).await;
}

/// Somebody else's finalizer comes at the same moment as ours, until ours is put on a list that has
/// changed, and the operator looks again.
async fn finalizers_cross(env: &Env, installation: &Installation) {
    let api = env.api::<Memcached>();
    let (theirs, none) = (json!(["example.com/theirs"]), json!(null));
    let patch = |finalizers| Patch::Merge(json!({"metadata": {"finalizers": finalizers}}));
    env.eventually("the operator looks again", async || {
        api.create(&PostParams::default(), &memcached("crossed", 0)).await.unwrap();
        let add = Patch::Merge(json!({"metadata": {"finalizers": theirs}}));
        tokio::time::sleep(Duration::from_millis(fastrand::u64(..12))).await;
        api.patch("crossed", &PatchParams::default(), &add).await.unwrap();
        tokio::time::sleep(Duration::from_millis(200)).await;
        api.delete("crossed", &DeleteParams::default()).await.unwrap();
        api.patch("crossed", &PatchParams::default(), &patch(none.clone())).await.unwrap();
        until_none(env, "mc crossed").await;
        let asked = asked(env, installation);
        let found = asked.iter().any(|it| it.verb == "get" && it.resource == "memcacheds");
        found.then_some(()).ok_or_else(|| "not yet".to_owned())
    })
    .await;
}

/// Of two instances the one that leads is ended.
async fn leaders_change(env: &Env, installation: &Installation) {
    let home = format!("-n {}", installation.namespace);
    let manager = manager_name(OPERATOR);
    kubectl(env, &format!("{home} scale deployment {manager} --replicas=2"));
    until_asked(env, installation, "watch", "leases").await;
    let holder = format!("{home} get lease {OPERATOR} -o jsonpath={{.spec.holderIdentity}}");
    let leader = kubectl(env, &holder);
    let pods = kubectl(env, &format!("{home} get pods -o jsonpath={{.items[*].metadata.name}}"));
    let pod = pods.split(' ').find(|pod| leader.starts_with(pod)).unwrap();
    kubectl(env, &format!("{home} delete pod {pod}"));
    env.eventually("another leads", async || {
        let now = kubectl(env, &holder);
        if !now.is_empty() && now != leader { Ok(()) } else { Err(now) }
    })
    .await;
    kubectl(env, &format!("{home} scale deployment {manager} --replicas=1"));
    until_current(env, installation).await;
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn nothing_is_refused_and_every_verb_is_used(env: Env) {
    let shipped = installation(Build::Shipped);
    deploy(&env, &shipped, Build::Shipped).await.unwrap();
    env.create(memcached("a", 1)).await;
    until_ready(&env, "a", 1).await;
    kubectl(&env, "scale mc a --replicas=2");
    until_ready(&env, "a", 2).await;
    events_repeat(&env, &shipped).await;
    names_are_taken(&env).await;
    drift_is_repaired(&env).await;
    finalizers_cross(&env, &shipped).await;
    leaders_change(&env, &shipped).await;
    kubectl(&env, "delete mc a --timeout=60s");
    let deployment = format!("deployment {}", manager_name(OPERATOR));
    kubectl(&env, &format!("-n {} delete {deployment}", shipped.namespace));
    until_none(&env, &format!("pods -n {}", shipped.namespace)).await;
    kubectl(&env, "delete mc --all --timeout=60s");

    let records = asked(&env, &shipped);
    let refused: Vec<_> = records.iter().filter(|it| matches!(it.code, 401 | 403)).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let access = &shipped.access;
    for (rules, home) in [(&access.rules, false), (&access.own_namespace, true)] {
        let (granted, used) = (granted(rules), used(&records, &shipped, home));
        let unused: BTreeSet<_> = granted.difference(&used).map(String::as_str).collect();
        let unseen = if home { BTreeSet::new() } else { UNSEEN.into_iter().collect() };
        assert_eq!(unused, unseen, "in the role, and not used");
        let beyond: BTreeSet<_> = used.difference(&granted).collect();
        assert!(beyond.is_empty(), "used, and not in the role: {beyond:?}");
    }
    assert!(access.cluster_rules.is_empty(), "{:?}", access.cluster_rules);
}

/// The operator's installation without one permission.
fn without(verb: &str, resource: &str) -> Installation {
    let mut installation = installation(Build::Shipped);
    for rule in &mut installation.access.rules {
        if rule.resources.iter().flatten().any(|name| name == resource) {
            rule.verbs.retain(|name| name != verb);
        }
    }
    installation.access.rules.retain(|rule| !rule.verbs.is_empty());
    assert_ne!(installation.access, self::installation(Build::Shipped).access);
    installation
}

/// Without a permission a new cache does not come about, and says why; with all of them it does.
async fn fails_without(env: &Env, verb: &str, resource: &str, complaint: &str) {
    let outside = Outside::prepare(env, &without(verb, resource)).await.unwrap();
    let _operator = outside.start().unwrap();
    env.create(memcached("a", 0)).await;
    until_degraded(env, "a", "Forbidden", complaint).await;
    Outside::prepare(env, &installation(Build::Shipped)).await.unwrap();
    until_ready(env, "a", 0).await;
}

#[kubewright_testenv::test(own, controllers)]
async fn without_create_of_deployments_an_apply_is_refused(env: Env) {
    fails_without(&env, "create", "deployments", "deployments.apps").await;
}

#[kubewright_testenv::test(own, controllers)]
async fn without_create_of_services_an_apply_is_refused(env: Env) {
    fails_without(&env, "create", "services", "services").await;
}

#[kubewright_testenv::test(own, controllers, strict)]
async fn without_update_of_finalizers_no_owner_can_be_set_where_that_is_enforced(env: Env) {
    fails_without(&env, "update", "memcacheds/finalizers", "you can't set finalizers on").await;
}
