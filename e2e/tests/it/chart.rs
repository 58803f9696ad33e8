//! The operator as Helm installs it, on real pods, and removes it: nothing waits for it afterwards.

use kube::ResourceExt;
use kube::api::ListParams;
use kubewright::generate::Installation;
use kubewright_testenv::{Env, Helm};
use memcached_api::v1alpha1::Memcached;
use memcached_e2e::caches::{memcached, until_none};
use memcached_e2e::deployed::{all_requests, installation, until_ready};
use memcached_e2e::image::Build;
use memcached_e2e::kubectl::kubectl;
use memcached_e2e::programs::{Outside, operator};
use memcached_e2e::servers::set_and_get;

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../charts/memcached-operator");
const HOME: &str = "helm-home";
const OURS: &str = "clusterroles,clusterrolebindings -l app.kubernetes.io/instance=caches";
const DEFINITION: &str = "crd memcacheds.cache.example.com";

/// Helm on the cluster of a test whose nodes have the operator's image.
async fn prepared(env: &Env) -> Helm {
    let tar = tokio::task::spawn_blocking(|| Build::Shipped.tar()).await.unwrap().unwrap();
    for node in env.environment().nodes() {
        node.import_image(&tar).await.unwrap();
    }
    let helm = tokio::task::spawn_blocking(Helm::find).await.unwrap().unwrap();
    helm.on(env.environment())
}

/// `helm VERB caches CHART …`, until the operator runs.
fn release(helm: &Helm, verb: &str, more: &str) {
    let (repository, tag) = Build::Shipped.name().rsplit_once(':').unwrap();
    let image = format!("--set image.repository={repository},image.tag={tag}");
    let place = format!("--namespace {HOME} --wait --timeout 120s");
    helm.run(&format!("{verb} caches {CHART} {place} {image} {more}")).unwrap();
}

fn uninstall(helm: &Helm) {
    helm.run(&format!("uninstall caches --namespace {HOME} --wait --timeout 180s")).unwrap();
}

/// Which caches wait for the operator when they are deleted.
async fn held(env: &Env) -> Vec<String> {
    let caches = env.api::<Memcached>().list(&ListParams::default()).await.unwrap();
    let held = caches.items.iter().filter(|cache| !cache.finalizers().is_empty());
    held.map(ResourceExt::name_any).collect()
}

/// Waits until Kubernetes collects garbage of the kind: it looks for new kinds every half a minute, and where a definition
/// is deleted before, what its objects own stays.
async fn until_collected(env: &Env) {
    env.eventually("the garbage collector watches the kind", async || {
        let records = env.environment().audit().map_err(|error| error.to_string())?;
        let watches = records.iter().any(|record| {
            record.user == "system:kube-controller-manager"
                && record.resource == "memcacheds"
                && matches!(record.verb.as_str(), "list" | "watch")
        });
        watches.then_some(()).ok_or_else(|| "it does not yet".to_owned())
    })
    .await;
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn helm_installs_upgrades_and_removes_the_operator_and_no_cache_waits_for_it(env: Env) {
    let helm = prepared(&env).await;
    release(&helm, "install", "--create-namespace");
    env.create(memcached("a", 1)).await;
    env.create(memcached("b", 0)).await;
    until_ready(&env, "a", 1).await;
    until_ready(&env, "b", 0).await;
    assert_eq!(held(&env).await, ["a", "b"]);
    let place = Installation { namespace: HOME.to_owned(), ..installation(Build::Shipped) };
    let mut refused = all_requests(&env, &place);
    assert!(!refused.is_empty());
    refused.retain(|record| record.code == 403);
    assert!(refused.is_empty(), "{refused:#?}");

    // For this namespace alone, it goes on working without a ClusterRole.
    let one = format!("--set watchNamespaces={{{}}},peopleRoles.install=false", env.namespace());
    release(&helm, "upgrade", &one);
    until_none(&env, OURS).await;
    kubectl(&env, "scale mc a --replicas=2");
    until_ready(&env, "a", 2).await;

    uninstall(&helm);
    assert_eq!(held(&env).await, Vec::<String>::new());
    assert_eq!(set_and_get(&env, "a").await.len(), 2);
    let kinds = "deployments,jobs,pods,roles,rolebindings,serviceaccounts";
    let label = "app.kubernetes.io/name=memcached-operator";
    until_none(&env, &format!("-n {HOME} {kinds} -l {label}")).await;
    kubectl(&env, "delete mc b --timeout=60s");

    // The kept definition is taken over; where it is not kept, everything goes.
    release(&helm, "install", "--set crds.keep=false");
    until_ready(&env, "a", 2).await;
    env.eventually("it is held again", async || match &held(&env).await[..] {
        [_] => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
    until_collected(&env).await;
    uninstall(&helm);
    until_none(&env, DEFINITION).await;
    until_none(&env, OURS).await;
    until_none(&env, "deployments,replicasets,services,pods").await;
}

#[kubewright_testenv::test(own, controllers)]
async fn an_operator_that_was_killed_leaves_no_finalizer_either(env: Env) {
    let outside = Outside::prepare(&env, &installation(Build::Shipped)).await.unwrap();
    let mut process = outside.start().unwrap();
    env.create(memcached("a", 0)).await;
    until_ready(&env, "a", 0).await;
    assert_eq!(held(&env).await, ["a"]);
    process.kill().await.unwrap();
    let said = operator(&env, "leave --own-deployment memcached-operator-controller-manager");
    assert!(said.contains("not found"), "{said}");
    assert!(said.contains("took the finalizer off; objects that had it: 1"), "{said}");
    assert_eq!(held(&env).await, Vec::<String>::new());
}
