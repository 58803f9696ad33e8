//! What a cache costs the API server, from its audit log: a few writes while it comes, none while it is.

use std::time::Duration;

use kubewright_testenv::Env;
use kubewright_testenv::audit::AuditRecord;
use memcached_api::v1alpha1::Memcached;
use memcached_e2e::caches::{memcached, settled};
use memcached_e2e::deployed::{
    all_requests, deploy, deployed, installation, nothing_was_forbidden, requests, until_ready,
};
use memcached_e2e::image::Build;
use memcached_e2e::kubectl::kubectl;

/// No two statuses of one object are closer.
const DISTANCE: Duration = Duration::from_millis(200);
/// Longer than anything that follows by itself takes.
const QUIET: Duration = Duration::from_secs(5);
const REST: Duration = Duration::from_secs(30);

/// Each request as verb, resource and subresource.
fn shown(records: &[AuditRecord]) -> Vec<String> {
    let one = |record: &AuditRecord| {
        let AuditRecord { verb, resource, subresource, code, .. } = record;
        format!("{verb} {resource}/{subresource} {code}")
    };
    records.iter().map(one).collect()
}

fn count(shown: &[String], request: &str) -> usize {
    shown.iter().filter(|one| one.starts_with(request)).count()
}

/// What the operator asked for until nothing more came; besides the statuses, each once.
async fn cost(env: &Env) -> Vec<AuditRecord> {
    let records = settled(QUIET, || requests(env)).await;
    let shown = shown(&records);
    assert_eq!(count(&shown, "patch memcacheds/ 200"), 1, "the finalizer: {shown:#?}");
    assert_eq!(count(&shown, "patch deployments/ 201"), 1, "{shown:#?}");
    assert_eq!(count(&shown, "patch services/ 201"), 1, "{shown:#?}");
    let events = count(&shown, "create events/ 201");
    assert!(events <= 1, "{shown:#?}");
    let statuses: Vec<_> =
        records.into_iter().filter(|record| record.subresource == "status").collect();
    assert_eq!(shown.len(), 3 + events + statuses.len(), "nothing more: {shown:#?}");
    for pair in statuses.windows(2) {
        let distance = pair[1].received.duration_since(pair[0].received).unsigned_abs();
        assert!(distance >= DISTANCE, "two statuses within {distance:?}");
    }
    statuses
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_new_cache_costs_one_write_of_each_thing_and_at_most_five_statuses(env: Env) {
    deployed(&env).await;
    env.create(memcached("a", 3)).await;
    until_ready(&env, "a", 3).await;
    let statuses = cost(&env).await;
    assert!(statuses.len() <= 5, "{} statuses", statuses.len());
    let pods = kubectl(&env, "get pods -o jsonpath={.items[*].metadata.name}");
    let mut pods: Vec<_> = pods.split(' ').map(str::to_owned).collect();
    pods.sort();
    let memcached = env.api::<Memcached>().get("a").await.unwrap();
    let status = memcached.status.unwrap();
    assert_eq!(status.nodes, Some(pods), "the last status is about the pods that are there");
    assert_eq!((status.replicas, status.ready_replicas), (Some(3), Some(3)));
    assert_eq!(status.server_list.map(|servers| servers.len()), Some(3));
    nothing_was_forbidden(&env);
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_new_cache_without_pods_costs_at_most_two_statuses(env: Env) {
    deployed(&env).await;
    env.create(memcached("a", 0)).await;
    until_ready(&env, "a", 0).await;
    let statuses = cost(&env).await;
    assert!(statuses.len() <= 2, "{} statuses", statuses.len());
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn at_rest_nothing_is_written_but_the_lease(env: Env) {
    let shipped = installation(Build::Shipped);
    deploy(&env, &shipped, Build::Shipped).await.unwrap();
    env.create(memcached("a", 2)).await;
    env.create(memcached("b", 0)).await;
    until_ready(&env, "a", 2).await;
    until_ready(&env, "b", 0).await;
    let asked = || {
        let mut asked = all_requests(&env, &shipped);
        asked.retain(|record| record.verb != "watch");
        asked
    };
    let of_lease = |record: &AuditRecord| record.resource == "leases" && record.verb == "update";
    settled(QUIET, || asked().iter().filter(|record| !of_lease(record)).count()).await;
    let before = asked().len();
    tokio::time::sleep(REST).await;
    let during = asked().split_off(before);
    let (leases, others): (Vec<_>, Vec<_>) = during.iter().cloned().partition(of_lease);
    println!("{} updates of the lease in {REST:?}", leases.len());
    assert!(others.is_empty(), "{:#?}", shown(&others));
    assert!(!leases.is_empty(), "the operator does not lead, or the audit log is not its");
}
