//! What the end of a cache costs and leaves: of one, of one that others hold, of a whole namespace.

use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Namespace;
use kube::api::{ListParams, Patch, PatchParams};
use kube::{Api, ResourceExt as _};
use kubewright::{conditions, finalizer};
use kubewright_testenv::Env;
use kubewright_testenv::audit::AuditRecord;
use memcached_api::v1alpha1::Memcached;
use memcached_e2e::caches::{memcached, settled, until_none};
use memcached_e2e::deployed::{
    OPERATOR, all_requests, deploy, deployed, installation, nothing_was_forbidden, requests,
    until_current, until_ready,
};
use memcached_e2e::image::Build;
use memcached_e2e::kubectl::kubectl;
use serde_json::json;

const THEIRS: &str = "example.com/somebody-else";
const QUIET: Duration = Duration::from_secs(2);
const CACHES: usize = 10;

fn shown(records: &[AuditRecord]) -> Vec<String> {
    let one = |record: &AuditRecord| {
        let AuditRecord { verb, resource, subresource, name, code, .. } = record;
        format!("{verb} {resource}/{subresource} {name} {code}")
    };
    records.iter().map(one).collect()
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_deletion_costs_a_status_an_event_and_the_finalizer(env: Env) {
    deployed(&env).await;
    env.create(memcached("a", 1)).await;
    until_ready(&env, "a", 1).await;
    let before = settled(QUIET, || requests(&env).len()).await;
    kubectl(&env, "delete mc a");
    until_none(&env, "memcacheds,deployments,services,pods").await;
    let mut after = shown(&settled(QUIET, || requests(&env)).await.split_off(before));
    after.sort();
    assert_eq!(after.len(), 3, "{after:#?}");
    assert!(after[0].starts_with("create events/ "), "{after:#?}");
    assert_eq!(after[1..], ["patch memcacheds/ a 200", "patch memcacheds/status a 200"]);
    let event = "get events.events.k8s.io -o jsonpath={.items[?(@.reason==\"Finalizing\")]";
    assert_eq!(kubectl(&env, &format!("{event}.type}}")), "Warning");
    let note = kubectl(&env, &format!("{event}.note}}"));
    assert!(note.contains("Memcached a ") && note.contains(env.namespace()), "{note}");
    nothing_was_forbidden(&env);
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_namespace_with_caches_goes_and_at_most_one_request_each_is_refused(env: Env) {
    deployed(&env).await;
    for number in 0..CACHES {
        env.create(memcached(&format!("c-{number}"), 1)).await;
    }
    for number in 0..CACHES {
        until_ready(&env, &format!("c-{number}"), 1).await;
    }
    let before = settled(QUIET, || requests(&env).len()).await;
    let begun = Instant::now();
    kubectl(&env, &format!("delete namespace {} --wait=false", env.namespace()));
    let namespaces: Api<Namespace> = Api::all(env.client());
    env.eventually("the namespace is gone", async || {
        match namespaces.get_opt(env.namespace()).await {
            Ok(None) => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let took = begun.elapsed();
    let after = settled(QUIET, || requests(&env)).await.split_off(before);
    let refused: Vec<_> = after.iter().filter(|record| record.code == 403).collect();
    println!("gone after {took:?}, {} requests, {} refused", after.len(), refused.len());
    assert!(took < Duration::from_mins(1), "{took:?}");
    assert!(refused.len() <= CACHES, "{:#?}", shown(&after));
    for number in 0..CACHES {
        let of_cache = refused.iter().filter(|record| record.name == format!("c-{number}"));
        assert!(of_cache.count() <= 1, "{:#?}", shown(&after));
    }
}

/// Creates a cache that somebody else holds, deletes it, and waits until only they hold it.
async fn held(env: &Env) -> Memcached {
    let mut object = memcached("held", 1);
    object.metadata.finalizers = Some(vec![THEIRS.to_owned()]);
    env.create(object).await;
    let object = until_ready(env, "held", 1).await;
    assert_eq!(object.finalizers(), [THEIRS.to_owned(), finalizer("cache.example.com", OPERATOR)]);
    env.delete(&object).await;
    env.eventually("ours is off", async || {
        let object = env.api::<Memcached>().get("held").await.map_err(|error| error.to_string())?;
        if object.finalizers() == [THEIRS] { Ok(object) } else { Err(format!("{object:?}")) }
    })
    .await
}

#[kubewright_testenv::test(own, nodes = 1)]
async fn a_cache_that_somebody_else_holds_is_left_in_peace_also_after_a_restart(env: Env) {
    let shipped = installation(Build::Shipped);
    deploy(&env, &shipped, Build::Shipped).await.unwrap();
    let status = held(&env).await.status.unwrap();
    let degraded = conditions::find(&status.conditions, "Degraded").unwrap();
    assert_eq!((degraded.status.as_str(), degraded.reason.as_str()), ("True", "Finalizing"));

    let before = settled(QUIET, || requests(&env).len()).await;
    kubectl(&env, "patch mc held --type=merge -p {\"metadata\":{\"labels\":{\"a\":\"b\"}}}");
    kubectl(&env, "delete pods --all --wait=false");
    tokio::time::sleep(Duration::from_secs(5)).await;
    let after = requests(&env).split_off(before);
    assert!(after.is_empty(), "{:#?}", shown(&after));

    let lists = || {
        let all = all_requests(&env, &shipped).into_iter();
        all.filter(|record| record.verb == "list" && record.resource == "memcacheds").count()
    };
    let listed = lists();
    kubectl(&env, &format!("-n {} delete pods --all", shipped.namespace));
    until_current(&env, &shipped).await;
    env.eventually("the new operator knows all caches", async || {
        if lists() > listed { Ok(()) } else { Err("it has not listed them".to_owned()) }
    })
    .await;
    env.create(memcached("other", 0)).await;
    until_ready(&env, "other", 0).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let mut after = requests(&env).split_off(before);
    after.retain(|record| record.name == "held");
    assert!(after.is_empty(), "{:#?}", shown(&after));

    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    env.api::<Memcached>().patch("held", &PatchParams::default(), &free).await.unwrap();
    kubectl(&env, "delete mc --all --timeout=60s");
    until_none(&env, "memcacheds,deployments,services,pods").await;
    assert!(env.api::<Memcached>().list(&ListParams::default()).await.unwrap().items.is_empty());
}
