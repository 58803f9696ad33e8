//! Real memcached servers of every version that is supported, in pods.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kubewright_testenv::Env;
use memcached_client::protocol::{LONGEST_KEY, Response};
use memcached_client::{Connection, Error};
use serde_json::json;
use tokio::net::TcpStream;

/// For a machine that also runs a whole cluster.
const DEADLINE: Duration = Duration::from_secs(10);

const MEBIBYTE: usize = 1 << 20;

#[kubewright_testenv::test(nodes = 1)]
async fn memcached_1_6_18_is_understood(env: Env) {
    converse(&mut server(&env, "1.6.18", &[]).await, (1, 6, 18)).await.unwrap();
}

#[kubewright_testenv::test(nodes = 1)]
async fn memcached_1_6_38_is_understood(env: Env) {
    converse(&mut server(&env, "1.6.38", &[]).await, (1, 6, 38)).await.unwrap();
}

#[kubewright_testenv::test(nodes = 1)]
async fn memcached_1_6_45_is_understood(env: Env) {
    converse(&mut server(&env, "1.6.45", &[]).await, (1, 6, 45)).await.unwrap();
}

#[kubewright_testenv::test(nodes = 1)]
async fn a_value_beyond_a_mebibyte_is_kept_if_the_server_takes_it(env: Env) {
    let mut connection = server(&env, "1.6.45", &["--max-item-size=8m"]).await;
    let value = vec![b'\r'; 5 * MEBIBYTE];
    connection.set("large", &value, None).await.unwrap();
    assert!(connection.get("large").await.unwrap() == Some(value), "another value came back");
}

/// A pod of that version, and a connection to it.
async fn server(env: &Env, version: &str, arguments: &[&str]) -> Connection<TcpStream> {
    let command = [&["memcached", "--memory-limit=32", "-o", "modern"], arguments].concat();
    let pod = json!({
        "metadata": { "name": "cache" },
        "spec": {
            "terminationGracePeriodSeconds": 1,
            "securityContext": { "runAsUser": 1001, "runAsNonRoot": true },
            "containers": [{
                "name": "memcached",
                "image": format!("docker.io/library/memcached:{version}"),
                "command": command,
            }],
        },
    });
    env.create::<Pod>(serde_json::from_value(pod).unwrap()).await;
    env.eventually("memcached takes connections", async || {
        let pod = env.api::<Pod>().get("cache").await.map_err(|error| error.to_string())?;
        let status = pod.status.unwrap_or_default();
        let address = status.pod_ip.clone().ok_or_else(|| format!("{status:?}"))?;
        let connection = Connection::connect(format!("{address}:11211"), DEADLINE).await;
        connection.map_err(|error| format!("{error:?}, {status:?}"))
    })
    .await
}

async fn converse(
    connection: &mut Connection<TcpStream>,
    version: (u32, u32, u32),
) -> anyhow::Result<()> {
    assert_eq!(connection.version().await?.numbers(), version);
    values(connection).await?;
    lifetimes(connection).await?;
    refusals(connection).await?;
    statistics(connection, version).await?;
    assert_eq!(connection.broken(), None);
    Ok(())
}

async fn values(connection: &mut Connection<TcpStream>) -> anyhow::Result<()> {
    assert_eq!(connection.get("absent").await?, None);
    assert!(!connection.delete("absent").await?);
    let every_byte: Vec<u8> = (0..=255).collect();
    let values = [&b""[..], b"hello", b"\r\nflush_all\r\nEND\r\n", &every_byte];
    let keys = ["k".to_owned(), "ключ/é:1".to_owned(), "k".repeat(LONGEST_KEY)];
    for key in &keys {
        for value in values {
            connection.set(key, value, None).await?;
            assert_eq!(connection.get(key).await?.as_deref(), Some(value), "{key}");
        }
        assert!(connection.delete(key).await?, "{key}");
        assert_eq!(connection.get(key).await?, None, "{key}");
    }
    Ok(())
}

async fn lifetimes(connection: &mut Connection<TcpStream>) -> anyhow::Result<()> {
    connection.set("short", "s", Some(Duration::from_millis(1))).await?;
    connection.set("long", "l", Some(memcached_client::protocol::LONGEST_LIFETIME)).await?;
    // memcached counts seconds by a clock of its own that ticks once a second.
    let mut ticks = 0;
    while connection.get("short").await?.is_some() {
        ticks += 1;
        assert!(ticks < 50, "a value of one second is there after five");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(connection.get("long").await?.as_deref(), Some(&b"l"[..]));
    Ok(())
}

/// What the server or the client refuses leaves the connection usable.
async fn refusals(connection: &mut Connection<TcpStream>) -> anyhow::Result<()> {
    let refused = connection.set("large", vec![b'x'; 2 * MEBIBYTE], None).await.unwrap_err();
    let too_large = Response::ServerError("object too large for cache".to_owned());
    assert!(
        matches!(&refused, Error::Refused { answer, .. } if *answer == too_large),
        "{refused:?}"
    );
    for key in ["", "two words", "k\r\nflush_all", &"k".repeat(LONGEST_KEY + 1)] {
        let refused = connection.get(key).await.unwrap_err();
        assert!(matches!(refused, Error::Request { .. }), "{refused:?}");
    }
    assert_eq!(connection.get("large").await?, None);
    Ok(())
}

async fn statistics(
    connection: &mut Connection<TcpStream>,
    version: (u32, u32, u32),
) -> anyhow::Result<()> {
    connection.set("counted", "1", None).await?;
    let before = connection.stats().await?;
    assert_eq!((before.version.numbers(), before.pid), (version, 1));
    assert_eq!((before.limit_maxbytes, before.threads), (32 << 20, 4));
    assert!(before.curr_items >= 1 && before.bytes > 0, "{before:?}");
    assert!(before.curr_connections >= 1 && before.total_connections >= 1, "{before:?}");
    assert_eq!(before.cmd_get, before.get_hits + before.get_misses);
    assert!(before.other.contains_key("rusage_user") && before.other.len() > 40, "{before:?}");
    connection.get("counted").await?;
    connection.get("absent").await?;
    let after = connection.stats().await?;
    assert_eq!((after.get_hits, after.get_misses), (before.get_hits + 1, before.get_misses + 1));

    let settings = connection.report("settings").await?;
    assert!(settings.contains(&("maxbytes".to_owned(), (32 << 20).to_string())), "{settings:?}");
    let slabs = connection.report("slabs").await?;
    assert!(slabs.iter().any(|(name, _)| name == "active_slabs"), "{slabs:?}");
    for report in ["items", "conns", "sizes"] {
        connection.report(report).await?;
    }
    assert_eq!(connection.report("reset").await?, []);
    assert_eq!(connection.stats().await?.get_hits, 0);
    Ok(())
}
