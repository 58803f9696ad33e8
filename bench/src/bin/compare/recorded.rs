//! What ours sends for one new object, recorded on its way, so that the null writer and the ideal reactor
//! send the same verbs and bodies by construction.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use kube::Client;
use serde_json::json;
use tokio::net::TcpListener;

use crate::objects::Object;
use crate::wire::Call;

/// No request of an operator is larger.
const LARGEST: usize = 1 << 20;

/// The four writes of the job, with the object that they were recorded for.
#[derive(Clone, Debug)]
pub(crate) struct Templates {
    object: Object,
    uid: String,
    version: String,
    finalizer: Call,
    children: [Call; 2],
    status: Call,
}

impl Templates {
    pub(crate) fn new(calls: &[Call], object: Object, uid: String) -> anyhow::Result<Self> {
        let find = |what: &str, is: &dyn Fn(&str) -> bool| {
            let found: Vec<_> = calls.iter().filter(|call| is(&call.path)).collect();
            let [call] = found[..] else {
                anyhow::bail!("ours sent {} writes to {what}; expected one", found.len())
            };
            Ok(call.clone())
        };
        let status = find("the status", &|path| path.contains("/status"))?;
        let (_, version) = status.body.split_once("\"resourceVersion\":\"").unwrap_or_default();
        let (version, _) = version.split_once('"').context("a status without a version")?;
        let own = |path: &str| path.contains("/memcacheds/") && !path.contains("/status");
        Ok(Self {
            version: version.to_owned(),
            finalizer: find("the object", &own)?,
            children: [
                find("the Deployment", &|path| path.contains("/deployments/"))?,
                find("the Service", &|path| path.contains("/services/"))?,
            ],
            status,
            object,
            uid,
        })
    }

    pub(crate) fn finalizer(&self, object: &Object, uid: &str) -> Call {
        self.fill(&self.finalizer, object, uid)
    }

    /// The Deployment and the Service.
    pub(crate) fn children(&self, object: &Object, uid: &str) -> [Call; 2] {
        [0, 1].map(|number| self.fill(&self.children[number], object, uid))
    }

    /// `version` is that of the object after the finalizer.
    pub(crate) fn status(&self, object: &Object, uid: &str, version: &str) -> Call {
        let mut call = self.fill(&self.status, object, uid);
        let field = |version: &str| format!("\"resourceVersion\":\"{version}\"");
        call.body = call.body.replace(&field(&self.version), &field(version));
        call
    }

    fn fill(&self, call: &Call, object: &Object, uid: &str) -> Call {
        let fill = |text: &str| {
            let text = text.replace(&self.object.name, &object.name);
            text.replace(&self.object.namespace, &object.namespace).replace(&self.uid, uid)
        };
        Call { path: fill(&call.path), body: fill(&call.body), ..call.clone() }
    }
}

/// Stands between an operator and the API server, and writes down what it sends.
pub(crate) struct Recorder {
    calls: Arc<Mutex<Vec<Call>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Recorder {
    /// Starts it, and writes a kubeconfig that leads to it.
    pub(crate) async fn start(client: Client, kubeconfig: &Path) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
        let server = format!("http://{}", listener.local_addr()?);
        let config = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "recorded",
            "clusters": [{"name": "recorded", "cluster": {"server": server}}],
            "users": [{"name": "recorded", "user": {}}],
            "contexts": [{"name": "recorded", "context": {"cluster": "recorded", "user": "recorded"}}],
        });
        std::fs::write(kubeconfig, config.to_string())?;
        let calls = Arc::default();
        let router = Router::new().fallback(pass_on).with_state((client, Arc::clone(&calls)));
        let task = tokio::spawn(async move {
            let _ = axum::serve(listener, router).await; // ends with this program
        });
        Ok(Self { calls, task })
    }

    /// The writes so far, but for the lease's.
    pub(crate) fn calls(&self) -> Vec<Call> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Shared = (Client, Arc<Mutex<Vec<Call>>>);

async fn pass_on(State((client, calls)): State<Shared>, request: Request) -> Response {
    match forward(&client, &calls, request).await {
        Ok(response) => response,
        Err(error) => (http::StatusCode::BAD_GATEWAY, format!("{error:#}")).into_response(),
    }
}

async fn forward(
    client: &Client,
    calls: &Mutex<Vec<Call>>,
    request: Request,
) -> anyhow::Result<Response> {
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, LARGEST).await?;
    let path = parts.uri.to_string();
    if parts.method != http::Method::GET && !path.contains("/leases") {
        let content_type = parts.headers.get(http::header::CONTENT_TYPE);
        let call = Call {
            method: parts.method.clone(),
            path,
            content_type: content_type.context("no content type")?.to_str()?.to_owned(),
            body: String::from_utf8(body.to_vec())?,
        };
        calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
    }
    parts.headers.remove(http::header::HOST);
    let request = http::Request::from_parts(parts, kube::client::Body::from(body.to_vec()));
    Ok(client.send(request).await?.map(Body::new))
}
