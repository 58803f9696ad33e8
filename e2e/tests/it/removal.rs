//! The operator goes, in every order that people think of: nothing is left that waits for it.

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{ListParams, PostParams};
use kube::{Api, ResourceExt as _};
use kubewright::generate::Installation;
use kubewright_testenv::Env;
use memcached_api::v1alpha1::Memcached;
use memcached_e2e::caches::{children, memcached, until_none};
use memcached_e2e::deployed::{all_requests, deploy, installation, until_ready};
use memcached_e2e::image::Build;
use memcached_e2e::kubectl::kubectl;
use memcached_e2e::programs::{Outside, kubewright, operator};
use memcached_e2e::servers::set_and_get;

const OURS: &str = "clusterroles,clusterrolebindings -l app.kubernetes.io/name=memcached-operator";
const DEFINITION: &str =
    "customresourcedefinition.apiextensions.k8s.io/memcacheds.cache.example.com";

/// Deploys the operator as people do.
async fn deploy_by_hand(env: &Env, more: &str) -> String {
    for node in env.environment().nodes() {
        node.import_image(&Build::Shipped.tar().unwrap()).await.unwrap();
    }
    kubewright(env, &format!("deploy --image {} {more}", Build::Shipped.name()))
}

/// A cache with pods and one without.
async fn two_caches(env: &Env) {
    env.create(memcached("a", 2)).await;
    env.create(memcached("b", 0)).await;
    until_ready(env, "a", 2).await;
    until_ready(env, "b", 0).await;
    assert_eq!(held(env).await, 2);
}

/// How many caches have a finalizer.
async fn held(env: &Env) -> usize {
    let caches = env.api::<Memcached>().list(&ListParams::default()).await.unwrap();
    caches.items.iter().filter(|cache| !cache.finalizers().is_empty()).count()
}

async fn until_children_are_gone(env: &Env) {
    until_none(env, "deployments,replicasets,services,pods").await;
}

async fn until_namespace_is_gone(env: &Env, name: &str) {
    let namespaces: Api<Namespace> = Api::all(env.client());
    env.eventually(&format!("namespace {name} is gone"), async || {
        match namespaces.get_opt(name).await {
            Ok(None) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
}

/// Nothing that the operator asked for was refused.
fn nothing_was_forbidden(env: &Env, installation: &Installation) {
    let mut records = all_requests(env, installation);
    assert!(!records.is_empty());
    records.retain(|record| record.code == 403);
    assert!(records.is_empty(), "{records:#?}");
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn undeploy_leaves_nothing_behind(env: Env) {
    let said = deploy_by_hand(&env, "").await;
    assert!(said.contains("memcached-operator runs in namespace memcached-operator-system"));
    two_caches(&env).await;
    let said = kubewright(&env, "undeploy");
    assert!(
        said.starts_with("2 objects of memcacheds.cache.example.com will be deleted"),
        "{said}"
    );
    assert!(said.contains(&format!("{DEFINITION} deleted")), "{said}");
    until_children_are_gone(&env).await;
    until_namespace_is_gone(&env, "memcached-operator-system").await;
    until_none(&env, OURS).await;
    until_none(&env, DEFINITION).await;
    nothing_was_forbidden(&env, &installation(Build::Shipped));
    kubewright(&env, "undeploy"); // nothing is there, and that is fine
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn caches_that_are_kept_run_on_and_are_taken_over_untouched(env: Env) {
    deploy_by_hand(&env, "").await;
    two_caches(&env).await;
    let (before, pods) = (children(&env).await, "get pods -o jsonpath={.items[*].metadata.uid}");
    let running = kubectl(&env, pods);
    let said = kubewright(&env, "undeploy --keep-crd");
    assert!(said.starts_with("2 objects of memcacheds.cache.example.com stay"), "{said}");
    until_namespace_is_gone(&env, "memcached-operator-system").await;
    until_none(&env, OURS).await;
    assert_eq!(held(&env).await, 0);
    assert_eq!(set_and_get(&env, "a").await.len(), 2);
    assert_eq!((children(&env).await, kubectl(&env, pods)), (before.clone(), running.clone()));

    deploy_by_hand(&env, "").await;
    env.eventually("they are looked after again", async || match held(&env).await {
        2 => Ok(()),
        count => Err(format!("{count} of them")),
    })
    .await;
    until_ready(&env, "a", 2).await;
    assert_eq!((children(&env).await, kubectl(&env, pods)), (before, running));
    kubectl(&env, "scale mc b --replicas=1");
    until_ready(&env, "b", 1).await;
    nothing_was_forbidden(&env, &installation(Build::Shipped));
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn nothing_hangs_when_the_operators_deployment_is_deleted_first(env: Env) {
    let shipped = installation(Build::Shipped);
    deploy(&env, &shipped, Build::Shipped).await.unwrap();
    two_caches(&env).await;
    let namespace = &shipped.namespace;
    kubectl(&env, &format!("-n {namespace} delete deployment --all"));
    kubectl(&env, "delete mc --all --timeout=90s");
    until_children_are_gone(&env).await;
    nothing_was_forbidden(&env, &shipped);
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn nothing_hangs_when_the_operators_namespace_is_deleted_first(env: Env) {
    let shipped = installation(Build::Shipped);
    deploy(&env, &shipped, Build::Shipped).await.unwrap();
    two_caches(&env).await;
    kubectl(&env, &format!("delete namespace {} --timeout=120s", shipped.namespace));
    assert_eq!(held(&env).await, 0);
    assert_eq!(set_and_get(&env, "a").await.len(), 2);
    kubectl(&env, "delete mc b --timeout=60s");
    kubectl(&env, &format!("delete namespace {} --timeout=90s", env.namespace()));
}

#[kubewright_testenv::test(own, controllers)]
async fn uninstall_works_after_the_operator_was_killed(env: Env) {
    let outside = Outside::prepare(&env, &installation(Build::Shipped)).await.unwrap();
    let mut process = outside.start().unwrap();
    env.create(memcached("a", 0)).await;
    env.create(memcached("b", 1)).await; // nobody runs its pod
    until_ready(&env, "a", 0).await;
    env.eventually("both are held", async || match held(&env).await {
        2 => Ok(()),
        count => Err(format!("{count} of them")),
    })
    .await;
    process.kill().await.unwrap();
    kubectl(&env, "delete mc b --wait=false");
    let said = operator(&env, "uninstall");
    assert!(said.contains(&format!("{DEFINITION} deleted")), "{said}");
    until_children_are_gone(&env).await;
    until_none(&env, DEFINITION).await;
    operator(&env, "uninstall"); // nothing is there, and that is fine
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn an_operator_for_one_namespace_lives_and_goes_with_it(env: Env) {
    let place =
        Installation { namespace: env.namespace().to_owned(), ..installation(Build::Shipped) };
    deploy_by_hand(&env, &format!("--namespace {} --scope namespaced", env.namespace())).await;
    until_none(&env, "clusterroles memcached-operator-manager-role").await;
    let mut elsewhere = Namespace::default();
    elsewhere.metadata.name = Some("elsewhere".to_owned());
    Api::all(env.client()).create(&PostParams::default(), &elsewhere).await.unwrap();
    let others: Api<Memcached> = Api::namespaced(env.client(), "elsewhere");
    others.create(&PostParams::default(), &memcached("c", 1)).await.unwrap();
    two_caches(&env).await;
    assert_eq!(set_and_get(&env, "a").await.len(), 2);
    let other = others.get("c").await.unwrap();
    assert!(other.finalizers().is_empty(), "it is not this operator's: {other:?}");
    assert_eq!(kubectl(&env, "-n elsewhere get deployments,services -o name"), "");
    nothing_was_forbidden(&env, &place);
    kubectl(&env, &format!("delete namespace {} --timeout=150s", env.namespace()));
    kubectl(&env, "delete namespace elsewhere --timeout=60s");
}
