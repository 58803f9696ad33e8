//! Talks to memcached in a pod, through the API server, so that it works wherever the cluster is.

use std::time::{Duration, Instant};

use anyhow::Context as _;
use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use memcached_client::Connection;

const KEY: &str = "tour";
/// The tunnel goes through the API server and the node's agent.
const DEADLINE: Duration = Duration::from_secs(10);
/// It is a greeting, not data.
const LIFETIME: Duration = Duration::from_mins(1);

/// What a server answered.
pub(crate) struct Answer {
    /// The version that it says it is.
    pub(crate) version: String,
    /// What it was given, and gave back.
    pub(crate) value: String,
    /// How long both took.
    pub(crate) took: Duration,
}

/// Gives the server in `pod` a value and asks for it.
pub(crate) async fn ask(api: &Api<Pod>, pod: &str, port: i32) -> anyhow::Result<Answer> {
    let cannot = || format!("cannot talk to memcached in pod {pod}");
    let port = u16::try_from(port).with_context(cannot)?;
    let mut tunnel = api.portforward(pod, &[port]).await.with_context(cannot)?;
    let stream = tunnel.take_stream(port).with_context(cannot)?;
    let mut connection = Connection::over(stream).with_deadline(DEADLINE);
    let version = connection.version().await.with_context(cannot)?.to_string();
    let value = format!("hello {:04}", fastrand::u16(..10_000));
    let begun = Instant::now();
    connection.set(KEY, &value, Some(LIFETIME)).await.with_context(cannot)?;
    let answer = connection.get(KEY).await.with_context(cannot)?;
    let took = begun.elapsed();
    anyhow::ensure!(
        answer.as_deref() == Some(value.as_bytes()),
        "memcached in pod {pod} was given {value:?} and gave back {answer:?}"
    );
    Ok(Answer { version, value, took })
}
