//! Addresses: pods by their IP, Services by IP and name, and nothing beyond.

use std::net::SocketAddr;
use std::time::Duration;

use k8s_openapi::api::core::v1::Service;
use kubewright_testenv::Env;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use crate::fixtures::{kubectl, memcached, ready, typed, until_gone};

/// Sets a key at `address` to `value`, gets it back and returns what came.
pub(crate) async fn set_and_get(address: &str, value: &str) -> std::io::Result<String> {
    let talk = async {
        let mut stream = TcpStream::connect(address).await?;
        let request = format!("set key 0 0 {}\r\n{value}\r\nget key\r\n", value.len());
        stream.write_all(request.as_bytes()).await?;
        // STORED, VALUE key 0 N, the value, END
        let mut lines = BufReader::new(stream).lines();
        for _ in 0..2 {
            lines.next_line().await?;
        }
        Ok(lines.next_line().await?.unwrap_or_default())
    };
    tokio::time::timeout(Duration::from_secs(5), talk).await?
}

async fn service(env: &Env, name: &str) -> String {
    let service: Service = typed(json!({
        "metadata": { "name": name },
        "spec": { "selector": { "app": name }, "ports": [{ "name": "cache", "port": 11211 }] },
    }));
    env.create(service).await.spec.unwrap().cluster_ip.unwrap()
}

#[kubewright_testenv::test(nodes = 2)]
async fn memcached_answers_on_its_pod_ip_its_service_ip_and_its_service_name(env: Env) {
    env.create(memcached("cache", json!({}))).await;
    let service_ip = service(&env, "cache").await;
    let pod_ip = ready(&env, "cache").await.status.unwrap().pod_ip.unwrap();
    assert_eq!(set_and_get(&format!("{pod_ip}:11211"), "by-pod").await.unwrap(), "by-pod");
    env.eventually("an answer on the Service's address", async || {
        let answer = set_and_get(&format!("{service_ip}:11211"), "by-service").await;
        answer
            .map_err(|error| error.to_string())
            .and_then(|got| if got == "by-service" { Ok(()) } else { Err(got) })
    })
    .await;
    let name = format!("cache.{}.svc.cluster.local", env.namespace());
    for name in [name.as_str(), "cache"] {
        let talk = format!(
            "printf 'set key 0 0 7\\r\\nby-name\\r\\nget key\\r\\nquit\\r\\n' | nc {name} 11211"
        );
        let answer = kubectl(&env, &["exec", "cache", "--", "sh", "-c", &talk]).await.unwrap();
        assert!(answer.contains("by-name"), "{name}: {answer}");
    }
}

#[kubewright_testenv::test(nodes = 2)]
async fn pods_on_different_nodes_reach_each_other(env: Env) {
    let nodes = env.environment().nodes();
    for (name, node) in [("left", &nodes[0]), ("right", &nodes[1])] {
        let mut pod = memcached(name, json!({}));
        pod.spec.as_mut().unwrap().node_name = Some(node.name().to_owned());
        env.create(pod).await;
    }
    ready(&env, "left").await;
    let address = ready(&env, "right").await.status.unwrap().pod_ip.unwrap();
    let talk = format!("printf 'version\\r\\nquit\\r\\n' | nc {address} 11211");
    assert!(
        kubectl(&env, &["exec", "left", "--", "sh", "-c", &talk])
            .await
            .unwrap()
            .contains("VERSION 1.6.45")
    );
}

/// A packet for a pod or a Service that nobody serves ends in the environment.
#[kubewright_testenv::test(nodes = 2)]
async fn nothing_for_the_pod_and_service_networks_takes_the_default_route(env: Env) {
    let unserved = service(&env, "nobody").await;
    env.create(memcached("gone", json!({}))).await;
    let pod = ready(&env, "gone").await;
    env.delete(&pod).await;
    until_gone(&env, "gone").await;
    let of_pod = pod.status.unwrap().pod_ip.unwrap();
    let next_to_it = of_pod.rsplit_once('.').map(|(net, _)| format!("{net}.254")).unwrap();
    for address in [unserved, of_pod, next_to_it] {
        let route =
            std::process::Command::new("ip").args(["route", "get", &address]).output().unwrap();
        let route = String::from_utf8(route.stdout).unwrap();
        let device =
            route.split_whitespace().skip_while(|word| *word != "dev").nth(1).unwrap_or_default();
        assert!(device.starts_with("kw"), "{address} would go out by {route}");
        let target: SocketAddr = format!("{address}:11211").parse().unwrap();
        let connected =
            tokio::time::timeout(Duration::from_secs(1), TcpStream::connect(target)).await;
        assert!(!matches!(connected, Ok(Ok(_))), "{address} answered");
    }
}

#[kubewright_testenv::test(nodes = 2)]
async fn a_pod_has_no_way_out_of_the_environment(env: Env) {
    env.create(memcached("cache", json!({}))).await;
    ready(&env, "cache").await;
    let routes = kubectl(&env, &["exec", "cache", "--", "ip", "route"]).await.unwrap();
    assert!(!routes.contains("default"), "{routes}");
    let lookup = kubectl(&env, &["exec", "cache", "--", "nslookup", "example.com"]).await;
    assert!(lookup.is_err(), "{lookup:?}");
}
