//! What a test sees of an operator from outside: its requests in the audit log, its endpoints, its children.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::api::PostParams;
use kubewright_testenv::Env;
use kubewright_testenv::audit::AuditRecord;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::books::Book;

/// Changes a book, however often somebody else is faster.
pub async fn edit(env: &Env, name: &str, change: impl Fn(&mut Book)) {
    env.eventually(&format!("{name} is changed"), async || {
        let api = env.api::<Book>();
        let mut book = api.get(name).await.map_err(|error| error.to_string())?;
        change(&mut book);
        let replaced = api.replace(name, &PostParams::default(), &book).await;
        replaced.map(drop).map_err(|error| error.to_string())
    })
    .await;
}

/// Waits until a `ConfigMap` has this text, and gives it.
pub async fn text(env: &Env, name: &str, text: &str) -> ConfigMap {
    env.eventually(&format!("ConfigMap {name} says {text}"), async || {
        let map = env.api::<ConfigMap>().get(name).await.map_err(|error| error.to_string())?;
        let is = map.data.as_ref().and_then(|data| data.get("text").cloned());
        if is.as_deref() == Some(text) { Ok(map) } else { Err(format!("it says {is:?}")) }
    })
    .await
}

/// Waits at most `limit` for what `done` brings about, and says how long it took.
pub async fn within<T>(limit: Duration, what: &str, done: impl Future<Output = T>) -> Duration {
    let begun = Instant::now();
    let ended = tokio::time::timeout(limit, done).await;
    assert!(ended.is_ok(), "{what}: not within {limit:?}");
    begun.elapsed()
}

/// Everything that `user` asked of the API server.
pub fn asked(env: &Env, user: &str) -> Vec<AuditRecord> {
    let records = env.environment().audit().unwrap();
    records.into_iter().filter(|record| record.user == user).collect()
}

/// The name of the user that [`crate::running::start_as`] makes of `name`.
pub fn user(env: &Env, name: &str) -> String {
    format!("{name}-{}", env.namespace())
}

/// How many lists of each kind `user` has asked for.
pub fn lists(env: &Env, user: &str) -> BTreeMap<String, usize> {
    count(asked(env, user).into_iter().filter(|record| record.verb == "list"))
}

/// How many watches of each kind `user` has begun.
pub fn watches(env: &Env, user: &str) -> BTreeMap<String, usize> {
    let records = asked(env, user).into_iter();
    count(records.filter(|record| record.verb == "watch" && !record.is_complete))
}

fn count(records: impl Iterator<Item = AuditRecord>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for record in records {
        *counts.entry(record.resource).or_default() += 1;
    }
    counts
}

/// The writes of `user` that took effect, events and leases left out.
pub fn written(env: &Env, user: &str) -> Vec<AuditRecord> {
    let records = asked(env, user).into_iter();
    let records = records.filter(|record| {
        let is_read = matches!(record.verb.as_str(), "get" | "list" | "watch");
        !is_read && record.code < 300 && !matches!(record.resource.as_str(), "events" | "leases")
    });
    records.collect()
}

/// A port that nobody listens on.
pub fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Asks for a path over HTTP: the status and the body.
pub async fn get(port: u16, path: &str) -> Result<(u16, String), String> {
    let ask = async {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answer = tokio::time::timeout(Duration::from_secs(1), ask).await;
    let answer = answer.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
    let (head, body) = answer.split_once("\r\n\r\n").ok_or("no body")?;
    let code = head.split(' ').nth(1).and_then(|code| code.parse().ok()).ok_or("no status")?;
    Ok((code, body.to_owned()))
}

/// Waits until a path answers with this status, and gives the body.
pub async fn answers(env: &Env, port: u16, path: &str, code: u16) -> String {
    env.eventually(&format!("{path} answers {code}"), async || {
        let (is, body) = get(port, path).await?;
        if is == code { Ok(body) } else { Err(format!("{is}: {body}")) }
    })
    .await
}
