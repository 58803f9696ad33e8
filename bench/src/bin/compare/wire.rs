//! Requests as bytes: sent, answered and, for watches, read line by line. Nothing is decoded that nobody
//! asked for, so that what measures takes little of the machine from what is measured.

use std::time::Duration;

use anyhow::{Context as _, bail};
use futures_util::StreamExt as _;
use http_body_util::BodyExt as _;
use kube::Client;
use kube::client::Body;
use tokio::sync::mpsc::UnboundedSender;

/// Longer than any phase, so that no watch of the harness ends in one.
const WATCH_SECONDS: u32 = 6 * 3600;

/// A request that writes.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub(crate) method: http::Method,
    pub(crate) path: String,
    pub(crate) content_type: String,
    pub(crate) body: String,
}

/// What came of a request.
pub(crate) struct Answer {
    pub(crate) code: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// Fails if the request did.
    pub(crate) fn accepted(self) -> anyhow::Result<Self> {
        if self.code >= 300 {
            bail!("answered with {}: {}", self.code, String::from_utf8_lossy(&self.body));
        }
        Ok(self)
    }

    /// The resourceVersion of the object, found without decoding it: metadata comes before what else might
    /// have one.
    pub(crate) fn version(&self) -> Option<&str> {
        let text = std::str::from_utf8(&self.body).ok()?;
        let (_, rest) = text.split_once("\"resourceVersion\":\"")?;
        Some(rest.split_once('"')?.0)
    }
}

/// Sends a request and reads its answer.
pub(crate) async fn send(client: &Client, call: Call) -> anyhow::Result<Answer> {
    let Call { method, path, content_type, body } = call;
    let request = http::Request::builder().method(method).uri(path);
    let request = request.header(http::header::CONTENT_TYPE, content_type);
    let response = client.send(request.body(Body::from(body.into_bytes()))?).await?;
    let code = response.status().as_u16();
    let body = response.into_body().collect().await?.to_bytes().to_vec();
    Ok(Answer { code, body })
}

/// A JSON object to create.
pub(crate) fn post(path: String, body: String) -> Call {
    let content_type = "application/json".to_owned();
    Call { method: http::Method::POST, path, content_type, body }
}

/// A merge patch.
pub(crate) fn merge(path: String, body: String) -> Call {
    let content_type = "application/merge-patch+json".to_owned();
    Call { method: http::Method::PATCH, path, content_type, body }
}

/// A deletion in the background.
pub(crate) fn delete(path: String) -> Call {
    let body = r#"{"propagationPolicy":"Background"}"#.to_owned();
    let content_type = "application/json".to_owned();
    Call { method: http::Method::DELETE, path, content_type, body }
}

/// The newest resourceVersion of a collection, and how many objects it has.
pub(crate) async fn count(client: &Client, path: &str) -> anyhow::Result<(String, usize)> {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct List {
        metadata: Metadata,
        items: Vec<serde::de::IgnoredAny>,
    }
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Metadata {
        resource_version: String,
        remaining_item_count: Option<usize>,
    }
    let request = http::Request::get(format!("{path}?limit=1")).body(Body::empty())?;
    let body = client.send(request).await?.into_body().collect().await?.to_bytes();
    let list: List =
        serde_json::from_slice(&body).with_context(|| format!("cannot list {path}"))?;
    let more = list.metadata.remaining_item_count.unwrap_or(0);
    Ok((list.metadata.resource_version, list.items.len() + more))
}

/// Watches a collection from `version` on, and gives each line to `each` until that says no.
pub(crate) async fn watch(
    client: &Client,
    path: &str,
    version: &str,
    mut each: impl FnMut(&[u8]) -> bool,
) -> anyhow::Result<()> {
    let uri = format!(
        "{path}?watch=true&resourceVersion={version}&timeoutSeconds={WATCH_SECONDS}&allowWatchBookmarks=false"
    );
    let response = begin(client, &uri).await?;
    let mut chunks = response.into_body().into_data_stream();
    let mut rest = Vec::new();
    while let Some(chunk) = chunks.next().await {
        rest.extend_from_slice(&chunk?);
        let mut begin = 0;
        while let Some(length) = rest[begin..].iter().position(|byte| *byte == b'\n') {
            if !each(&rest[begin..begin + length]) {
                return Ok(());
            }
            begin += length + 1;
        }
        rest.drain(..begin);
    }
    bail!("the watch of {path} ended")
}

/// Begins to watch. A server that has just got to know the kind says 429 for a moment.
async fn begin(client: &Client, uri: &str) -> anyhow::Result<http::Response<Body>> {
    for _ in 0..50 {
        let response = client.send(http::Request::get(uri).body(Body::empty())?).await?;
        if response.status() != http::StatusCode::TOO_MANY_REQUESTS {
            anyhow::ensure!(response.status().is_success(), "watch {uri}: {}", response.status());
            return Ok(response);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    bail!("watch {uri}: the API server does not get ready")
}

/// Watches and drops what it reads, as a client must that wants nothing of it.
pub(crate) fn discard(
    client: Client,
    path: &'static str,
    failed: UnboundedSender<anyhow::Error>,
) -> tokio::task::JoinHandle<()> {
    tokio::spawn(async move {
        let read = async {
            let (version, _) = count(&client, path).await?;
            watch(&client, path, &version, |_| true).await
        };
        if let Err(error) = read.await {
            let _ = failed.send(error);
        }
    })
}
