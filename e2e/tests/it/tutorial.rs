//! What the tutorials have people type, and what they then see.

use kubewright_testenv::Env;
use memcached_e2e::deployed::{deployed, nothing_was_forbidden, until_ready};
use memcached_e2e::kubectl::{apply, kubectl, refused};
use memcached_e2e::servers::set_and_get;

const SAMPLE: &str = include_str!("../../../deploy/samples/cache_v1alpha1_memcached.yaml");

fn words(text: &str) -> Vec<String> {
    let mut words: Vec<_> = text.split_whitespace().map(str::to_owned).collect();
    words.sort();
    words
}

/// The pods that are there for good.
fn pods(env: &Env) -> Vec<String> {
    words(&kubectl(
        env,
        "get pods -o jsonpath={.items[?(@.status.phase==\"Running\")].metadata.name}",
    ))
}

#[kubewright_testenv::test(nodes = 1)]
async fn what_the_tutorials_type_gives_what_they_show(env: Env) {
    deployed(&env).await;
    assert_eq!(apply(&env, SAMPLE), "memcached.cache.example.com/memcached-sample created");
    until_ready(&env, "memcached-sample", 3).await;
    let ready = "get deployment memcached-sample -o jsonpath={.status.readyReplicas}";
    assert_eq!(kubectl(&env, ready), "3");
    let nodes = "get memcached/memcached-sample -o jsonpath={.status.nodes[*]}";
    assert_eq!(pods(&env).len(), 3);
    assert_eq!(words(&kubectl(&env, nodes)), pods(&env));
    assert_eq!(set_and_get(&env, "memcached-sample").await.len(), 3);

    kubectl(&env, "patch memcached memcached-sample -p {\"spec\":{\"size\":2}} --type=merge");
    until_ready(&env, "memcached-sample", 2).await;
    kubectl(&env, "patch memcached memcached-sample -p {\"spec\":{\"size\":3}} --type=merge");
    until_ready(&env, "memcached-sample", 3).await;

    let victim = words(&kubectl(&env, nodes)).remove(0);
    kubectl(&env, &format!("delete pod {victim}"));
    until_ready(&env, "memcached-sample", 3).await;
    let after = words(&kubectl(&env, nodes));
    assert!(!after.contains(&victim), "{victim} is still in {after:?}");

    kubectl(&env, "scale memcached/memcached-sample --replicas=5");
    until_ready(&env, "memcached-sample", 5).await;
    assert_eq!(set_and_get(&env, "memcached-sample").await.len(), 5);

    kubectl(&env, "delete memcached memcached-sample");
    let gone = "get memcacheds,deployments,services,pods -o name --ignore-not-found";
    env.eventually("everything is gone", async || {
        let left = kubectl(&env, gone);
        if left.is_empty() { Ok(()) } else { Err(left) }
    })
    .await;
    nothing_was_forbidden(&env);
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_size_that_is_none_is_refused_with_its_bound(env: Env) {
    deployed(&env).await;
    let below = refused(&env, &SAMPLE.replace("size: 3", "size: -1"));
    assert!(below.contains("spec.size") && below.contains("greater than or equal to 0"), "{below}");
    let text = refused(&env, &SAMPLE.replace("size: 3", "size: \"3\""));
    assert!(text.contains("spec.size") && text.contains("must be of type integer"), "{text}");
    let unknown = refused(&env, &SAMPLE.replace("size: 3", "sizes: 3"));
    assert!(unknown.contains("spec.sizes"), "{unknown}");
}
