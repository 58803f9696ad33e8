//! The operator is replaced by another build of it: the new one goes on, and nobody notices.

use std::time::Duration;

use k8s_openapi::api::coordination::v1::Lease;
use kube::Api;
use kubewright::generate::Installation;
use kubewright_testenv::Env;
use kubewright_testenv::audit::AuditRecord;
use memcached_e2e::caches::{children, memcached, settled};
use memcached_e2e::deployed::{OPERATOR, all_requests, deploy, installation, until_ready};
use memcached_e2e::image::Build;
use memcached_e2e::kubectl::kubectl;

const CACHES: usize = 20;
const QUIET: Duration = Duration::from_secs(3);

fn name(number: usize) -> String {
    format!("c-{number}")
}

/// One in five has a pod; the others spare the node.
fn size(number: usize) -> i32 {
    i32::from(number.is_multiple_of(5))
}

async fn leader(env: &Env, installation: &Installation) -> Option<String> {
    let leases: Api<Lease> = Api::namespaced(env.client(), &installation.namespace);
    leases.get(OPERATOR).await.unwrap().spec.unwrap().holder_identity
}

/// What the operator wrote to anything but its Lease.
fn writes(env: &Env, installation: &Installation) -> Vec<AuditRecord> {
    let mut records = all_requests(env, installation);
    records.retain(|record| {
        let is_read = matches!(record.verb.as_str(), "get" | "list" | "watch");
        !is_read && record.resource != "leases"
    });
    records
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn another_build_takes_over_and_no_child_is_touched(env: Env) {
    let (shipped, other) = (installation(Build::Shipped), installation(Build::Other));
    deploy(&env, &shipped, Build::Shipped).await.unwrap();
    for number in 0..CACHES {
        env.create(memcached(&name(number), size(number))).await;
    }
    for number in 0..CACHES {
        until_ready(&env, &name(number), size(number)).await;
    }
    let before = settled(QUIET, || writes(&env, &shipped).len()).await;
    let (old, untouched) = (leader(&env, &shipped).await, children(&env).await);
    assert_eq!(untouched.len(), 2 * CACHES);
    let pods = kubectl(&env, "get pods -o jsonpath={.items[*].metadata.uid}");

    deploy(&env, &other, Build::Other).await.unwrap();
    env.eventually("the new one leads", async || {
        let now = leader(&env, &other).await;
        if now.as_ref().is_some_and(|now| !now.is_empty()) && now != old {
            return Ok(());
        }
        Err(format!("{now:?}"))
    })
    .await;
    settled(QUIET, || writes(&env, &other).len()).await;
    let written = writes(&env, &other).split_off(before);
    assert!(written.is_empty(), "{written:#?}");
    assert_eq!(children(&env).await, untouched);
    assert_eq!(kubectl(&env, "get pods -o jsonpath={.items[*].metadata.uid}"), pods);

    kubectl(&env, "scale mc c-1 --replicas=2");
    until_ready(&env, "c-1", 2).await;
    let written = settled(QUIET, || writes(&env, &other)).await.split_off(before);
    assert!(written.iter().any(|record| record.resource == "deployments"));
    assert!(written.iter().all(|record| record.resource == "events" || record.name == "c-1"));
    let mut now = children(&env).await;
    let moved = now.remove("deployment/c-1").unwrap();
    let mut untouched = untouched;
    let was = untouched.remove("deployment/c-1").unwrap();
    assert_eq!((&moved.0, moved.1), (&was.0, was.1 + 1));
    assert_eq!(now, untouched);
    let refused: Vec<_> =
        all_requests(&env, &other).into_iter().filter(|record| record.code == 403).collect();
    assert!(refused.is_empty(), "{refused:#?}");
    let log = format!("-n {} logs deployment/{OPERATOR}-controller-manager", other.namespace);
    let log = kubectl(&env, &log);
    assert!(log.contains("99.0.0"), "this is another build: {log}");
}
