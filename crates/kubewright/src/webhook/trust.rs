//! Makes the API server trust the operator's certificate: writes the authorities into the configurations and
//! definitions that call it, and into nothing else of them.
//!
//! What is to be written is decided by a pure function; the objects themselves are installed, not made here.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use k8s_openapi::ByteString;
use kube::api::{DynamicObject, Patch, PatchParams, WatchParams};
use kube::core::{GroupVersionKind, WatchEvent};
use kube::discovery::ApiResource;
use kube::{Api, Client};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::fmt::Debug;
use tokio::sync::Notify;
use tokio::time::timeout;
use tracing::{debug, info};

use crate::error::chain;
use crate::generate::webhook::Called;
use crate::watch::delay::Delay;

/// One request in five minutes for each object is all that it costs at rest. kube allows no longer watch.
const WATCH_SECONDS: u32 = 290;
/// Silence for longer is a connection that is dead.
const SILENCE: Duration = Duration::from_secs(320);

/// Why the API server does not trust the operator.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TrustError {
    #[error("cannot {doing} {name}")]
    Api {
        doing: &'static str,
        name: String,
        #[source]
        source: Box<kube::Error>,
    },
    #[error(
        "{0} is not installed: apply what `generate install` prints, or turn the webhooks off with \
         --webhook-bind-address=0"
    )]
    Missing(String),
}

/// The objects that call the operator.
pub(crate) struct Trust {
    client: Client,
    manager: String,
    called: Vec<Called>,
}

impl Trust {
    pub(crate) fn new(client: Client, manager: &str, called: Vec<Called>) -> Self {
        Self { client, manager: manager.to_owned(), called }
    }

    /// Sees that all of them trust exactly `bundle`; sends nothing where they do. Says whether something was
    /// sent.
    pub(super) async fn establish(&self, bundle: &str) -> Result<bool, TrustError> {
        let (mut missing, mut has_changed) = (None, false);
        for called in &self.called {
            let (api, name) = (api(&self.client, called), called.name.as_str());
            let failed = |doing| {
                let name = format!("{} {name}", called.kind);
                move |source| TrustError::Api { doing, name, source: Box::new(source) }
            };
            let Some(found) = api.get_opt(name).await.map_err(failed("look at"))? else {
                missing = Some(TrustError::Missing(format!("{} {name}", called.kind)));
                continue;
            };
            let operations = untrusting(&json!(found), bundle);
            if operations.is_empty() {
                continue;
            }
            let patch = serde_json::from_value(Value::Array(operations)).map(Patch::Json::<()>);
            let patch = patch.map_err(kube::Error::SerdeError).map_err(failed("change"))?;
            let field_manager = Some(self.manager.clone());
            let parameters = PatchParams { field_manager, ..PatchParams::default() };
            api.patch(name, &parameters, &patch).await.map_err(failed("change"))?;
            has_changed = true;
            info!(kind = called.kind, name, "the API server is told whom to trust");
        }
        missing.map_or(Ok(has_changed), Err)
    }

    /// Follows all of them, so that what somebody resets is put right at once.
    pub(super) fn news(
        &self,
        watches: &Client,
        news: &Arc<Notify>,
    ) -> Vec<impl Future<Output = ()> + use<>> {
        let follow = |called: &Called| {
            let (api, name) = (api(watches, called), called.name.clone());
            follow(api, name, news.clone())
        };
        self.called.iter().map(follow).collect()
    }
}

fn api(client: &Client, called: &Called) -> Api<DynamicObject> {
    let kind = GroupVersionKind::gvk(called.group, "v1", called.kind);
    Api::all_with(client.clone(), &ApiResource::from_gvk_with_plural(&kind, called.plural))
}

/// What has to be changed so that `object` trusts `bundle`; nothing of it that does not call a webhook.
fn untrusting(object: &Value, bundle: &str) -> Vec<Value> {
    let encoded = json!(ByteString(bundle.as_bytes().to_vec()));
    let webhooks = object["webhooks"].as_array().map_or(0, Vec::len);
    let mut places: Vec<_> =
        (0..webhooks).map(|at| format!("/webhooks/{at}/clientConfig")).collect();
    if object["spec"]["conversion"]["strategy"] == "Webhook" {
        places.push("/spec/conversion/webhook/clientConfig".to_owned());
    }
    let is_other =
        |place: &String| object.pointer(place).is_some_and(|config| config["caBundle"] != encoded);
    let mut operations: Vec<_> = places
        .into_iter()
        .filter(is_other)
        .map(|place| json!({"op": "add", "path": format!("{place}/caBundle"), "value": encoded}))
        .collect();
    if !operations.is_empty() {
        // Positions in a list mean something only in the list that was looked at.
        let version = &object["metadata"]["resourceVersion"];
        operations.insert(
            0,
            json!({"op": "test", "path": "/metadata/resourceVersion", "value": version}),
        );
    }
    operations
}

/// Tells `news` whenever the object `name` changes, comes or goes. Never gives up.
pub(super) async fn follow<K>(api: Api<K>, name: String, news: Arc<Notify>)
where
    K: Clone + Debug + DeserializeOwned + Send + 'static,
{
    let parameters =
        WatchParams::default().fields(&format!("metadata.name={name}")).timeout(WATCH_SECONDS);
    let mut delay = Delay::default();
    loop {
        match api.watch_metadata(&parameters, "0").await {
            Ok(events) => {
                let mut events = std::pin::pin!(events);
                loop {
                    match timeout(SILENCE, events.next()).await {
                        Ok(Some(Ok(WatchEvent::Bookmark(_)))) => {}
                        Ok(Some(Ok(WatchEvent::Error(status)))) => {
                            debug!(name, error = status.message, "a watch ended");
                            break;
                        }
                        Ok(Some(Ok(_))) => {
                            delay.reset();
                            news.notify_one();
                        }
                        Ok(Some(Err(error))) => {
                            debug!(name, error = chain(&error), "a watch was interrupted");
                            break;
                        }
                        Ok(None) => {
                            delay.reset();
                            break;
                        }
                        Err(_) => break,
                    }
                }
            }
            Err(error) => debug!(name, error = chain(&error), "cannot watch"),
        }
        delay.wait().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_calls_a_webhook_and_does_not_trust_yet_is_changed() {
        let encoded = json!(ByteString(b"new".to_vec()));
        let configuration = json!({
            "metadata": {"resourceVersion": "7"},
            "webhooks": [
                {"name": "a", "clientConfig": {"caBundle": encoded}},
                {"name": "b", "clientConfig": {"caBundle": "b2xk"}},
                {"name": "c", "clientConfig": {}},
            ],
        });
        let add = |path: &str| json!({"op": "add", "path": path, "value": encoded});
        let test = json!({"op": "test", "path": "/metadata/resourceVersion", "value": "7"});
        assert_eq!(
            untrusting(&configuration, "new"),
            [
                test.clone(),
                add("/webhooks/1/clientConfig/caBundle"),
                add("/webhooks/2/clientConfig/caBundle"),
            ]
        );
        let conversion = json!({"strategy": "Webhook", "webhook": {"clientConfig": {}}});
        let definition =
            json!({"metadata": {"resourceVersion": "7"}, "spec": {"conversion": conversion}});
        let path = "/spec/conversion/webhook/clientConfig/caBundle";
        assert_eq!(untrusting(&definition, "new"), [test, add(path)]);
        let plain = json!({"spec": {"conversion": {"strategy": "None"}}});
        assert!(untrusting(&plain, "new").is_empty());
    }
}
