//! Caches serve: on every address that they tell, on any port, under any name, whatever becomes of pods.

use std::collections::BTreeSet;

use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kubewright::names::service_name;
use kubewright_testenv::Env;
use memcached_api::v1alpha1::Memcached;
use memcached_e2e::conditions::{manifest, until_condition};
use memcached_e2e::deployed::{deployed, nothing_was_forbidden, until_ready};
use memcached_e2e::kubectl::{apply, kubectl, refused};
use memcached_e2e::servers::set_and_get;
use serde_json::json;

fn nodes(memcached: &Memcached) -> Vec<String> {
    memcached.status.as_ref().and_then(|status| status.nodes.clone()).unwrap_or_default()
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_cache_serves_on_the_port_that_it_is_given(env: Env) {
    deployed(&env).await;
    let ports = [("usual", 11211), ("high", 12345), ("low", 80)];
    for (name, port) in ports {
        apply(&env, &manifest(name, json!({"size": 2, "containerPort": port})));
    }
    for (name, port) in ports {
        until_ready(&env, name, 2).await;
        let servers = set_and_get(&env, name).await;
        assert_eq!(servers.len(), 2);
        assert!(servers.iter().all(|server| server.ends_with(&format!(":{port}"))), "{servers:?}");
    }
    nothing_was_forbidden(&env);
}

/// The addresses that cluster DNS has for a cache, asked from inside of one of its pods.
fn looked_up(env: &Env, pod: &str, name: &str) -> BTreeSet<String> {
    let host = format!("{}.{}.svc.cluster.local", service_name(name), env.namespace());
    let output = env.kubectl().args(["exec", pod, "--", "nslookup", &host]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let answer = told.split("Name:").skip(1).collect::<String>();
    let addresses = answer.lines().filter_map(|line| line.strip_prefix("Address: "));
    addresses.map(|address| address.trim().to_owned()).collect()
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_cache_of_any_name_serves_and_is_found_by_it(env: Env) {
    deployed(&env).await;
    let (label, longest) = ("b".repeat(63), "longest.name".repeat(21) + "s");
    let mut names = vec!["a", &label, "dots.in-the.name", "12345", &longest[..242]];
    assert_eq!(longest.len(), 253);
    if env.environment().version().as_str().starts_with("1.33.") {
        // It cannot make a ReplicaSet of a Deployment whose name has more than 242 characters.
        apply(&env, &manifest(&longest, json!({"size": 1})));
        let stalled = ("Degraded", "True", "Stalled");
        let (_, message) = until_condition(&env, &longest, stalled).await;
        assert!(message.starts_with("ReplicaSetCreateError"), "{message}");
    } else {
        names.push(&longest);
    }
    for name in &names {
        apply(&env, &manifest(name, json!({"size": 1})));
    }
    for name in names {
        let memcached = until_ready(&env, name, 1).await;
        let servers = set_and_get(&env, name).await;
        let hosts: BTreeSet<_> =
            servers.iter().map(|server| server.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(hosts.len(), 1, "{name}: {servers:?}");
        let pod = nodes(&memcached).remove(0);
        env.eventually(&format!("{name} is found by its name"), async || {
            let found = looked_up(&env, &pod, name);
            if found == hosts { Ok(()) } else { Err(format!("{found:?}, not {hosts:?}")) }
        })
        .await;
    }
    nothing_was_forbidden(&env);
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_name_that_is_none_is_refused(env: Env) {
    deployed(&env).await;
    for name in ["mémcached", "Upper", "under_score", "-dash", &"a".repeat(254)] {
        let complaint = refused(&env, &manifest(name, json!({"size": 1})));
        assert!(complaint.contains("metadata.name"), "{name}: {complaint}");
    }
}

#[kubewright_testenv::test(nodes = 1)]
async fn pods_that_go_come_back_and_the_status_follows(env: Env) {
    deployed(&env).await;
    apply(&env, &manifest("restless", json!({"size": 2})));
    let mut known = nodes(&until_ready(&env, "restless", 2).await);
    for how in ["", "--force --grace-period=0"] {
        let victim = known.remove(0);
        kubectl(&env, &format!("delete pod {victim} {how}"));
        env.eventually(&format!("the status is without {victim}"), async || {
            let now = env.api::<Memcached>().get("restless").await;
            let now = nodes(&now.map_err(|error| error.to_string())?);
            if now.contains(&victim) { Err(format!("{now:?}")) } else { Ok(()) }
        })
        .await;
        let now = nodes(&until_ready(&env, "restless", 2).await);
        assert!(now.contains(&known[0]) && !now.contains(&victim), "{known:?}, {victim}, {now:?}");
        assert_eq!(set_and_get(&env, "restless").await.len(), 2);
        known = now;
    }

    kubectl(&env, "scale memcached/restless --replicas=0");
    let none = until_ready(&env, "restless", 0).await;
    assert!(nodes(&none).is_empty());
    assert_eq!(none.status.unwrap().server_list, None);
    kubectl(&env, "scale memcached/restless --replicas=2");
    until_ready(&env, "restless", 2).await;
    assert_eq!(set_and_get(&env, "restless").await.len(), 2);
    nothing_was_forbidden(&env);
}

#[kubewright_testenv::test(nodes = 1)]
async fn what_an_instance_may_use_is_what_the_object_says(env: Env) {
    deployed(&env).await;
    let resources = json!({
        "requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"cpu": 1, "memory": "100Mi"},
    });
    apply(&env, &manifest("frugal", json!({"size": 1, "resources": resources})));
    let first = until_ready(&env, "frugal", 1).await;
    let given = async |name: &str| {
        let pod = env.api::<Pod>().get(name).await.unwrap();
        serde_json::to_value(&pod.spec.unwrap().containers[0].resources).unwrap()
    };
    let expected = json!({
        "requests": {"cpu": "10m", "memory": "32Mi"}, "limits": {"cpu": "1", "memory": "100Mi"},
    });
    assert_eq!(given(&nodes(&first)[0]).await, expected);

    kubectl(
        &env,
        "patch memcached frugal --type=json -p [{\"op\":\"remove\",\"path\":\"/spec/resources\"}]",
    );
    let second = until_ready(&env, "frugal", 1).await;
    let expected =
        json!({"requests": {"cpu": "50m", "memory": "128Mi"}, "limits": {"memory": "160Mi"}});
    assert_eq!(given(&nodes(&second)[0]).await, expected);
    assert_eq!(set_and_get(&env, "frugal").await.len(), 1);
    let pods = env.api::<Pod>().list(&ListParams::default()).await.unwrap();
    let living = pods.items.iter().filter(|pod| pod.metadata.deletion_timestamp.is_none());
    assert_eq!(living.count(), 1);
}
