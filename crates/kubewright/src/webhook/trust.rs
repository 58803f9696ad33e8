//! Makes the API server trust the operator's certificate: writes the authorities into the configurations and
//! definitions that call it, and into nothing else of them.
//!
//! What is to be written is decided by a pure function; the objects themselves are installed, not made here.

use std::collections::HashMap;
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
use tracing::{debug, info, warn};

use crate::error::chain;
use crate::generate::webhook::Called;
use crate::watch::delay::Delay;

/// One request in five minutes for each object is all that it costs at rest. kube allows no longer watch.
const WATCH_SECONDS: u32 = 290;
/// The server sends a bookmark about every minute. Silence for longer is a connection that is dead. It has to be
/// noticed while both authorities are trusted, or this replica serves what nobody trusts any more.
const SILENCE: Duration = Duration::from_secs(150);

/// Why the API server does not trust the operator.
#[derive(Debug, thiserror::Error)]
#[error("cannot {doing} {name}")]
pub(crate) struct TrustError {
    doing: &'static str,
    name: String,
    source: Box<kube::Error>,
}

/// The objects that call the operator.
pub(crate) struct Trust {
    client: Client,
    manager: String,
    /// Where the operator runs: what calls a Service elsewhere calls another one of its name.
    namespace: String,
    called: Vec<Called>,
    /// Whose they were when it was last said: none if missing, empty if ours.
    told: HashMap<String, Option<String>>,
}

impl Trust {
    pub(crate) fn new(client: Client, manager: &str, namespace: &str, called: Vec<Called>) -> Self {
        let (manager, namespace) = (manager.to_owned(), namespace.to_owned());
        Self { client, manager, namespace, called, told: HashMap::new() }
    }

    /// Sees that all of them trust exactly `bundle`; sends nothing where they do. Says whether something was
    /// sent. One that cannot be reached does not keep the others from being told.
    pub(super) async fn establish(&mut self, bundle: &str) -> Result<bool, TrustError> {
        let (mut failed, mut has_changed) = (None, false);
        for called in self.called.clone() {
            match self.tell(&called, bundle).await {
                Ok(changed) => has_changed |= changed,
                Err(error) => failed = Some(error),
            }
        }
        failed.map_or(Ok(has_changed), Err)
    }

    /// One of them. Where it is missing nobody calls, and nobody has to be told.
    async fn tell(&mut self, called: &Called, bundle: &str) -> Result<bool, TrustError> {
        let (api, name) = (api(&self.client, called), called.name.as_str());
        let failed = |doing| {
            let name = format!("{} {name}", called.kind);
            move |source| TrustError { doing, name, source: Box::new(source) }
        };
        let found = api.get_opt(name).await.map_err(failed("look at"))?;
        self.mention(called, found.as_ref());
        let operations = found.map(|found| untrusting(&json!(found), bundle, &self.namespace));
        let Some(operations) = operations.filter(|operations| !operations.is_empty()) else {
            return Ok(false);
        };
        let patch = serde_json::from_value(Value::Array(operations)).map(Patch::Json::<()>);
        let patch = patch.map_err(kube::Error::SerdeError).map_err(failed("change"))?;
        let field_manager = Some(self.manager.clone());
        let parameters = PatchParams { field_manager, ..PatchParams::default() };
        api.patch(name, &parameters, &patch).await.map_err(failed("change"))?;
        info!(kind = called.kind, name, "the API server is told whom to trust");
        Ok(true)
    }

    /// Says once of an object that it is missing, or whose it is if it is another's.
    fn mention(&mut self, called: &Called, found: Option<&DynamicObject>) {
        let (kind, name) = (called.kind, called.name.as_str());
        let object = found.map(|found| json!(found));
        let owner = object.as_ref().map(|object| elsewhere(object, &self.namespace));
        let word = owner.map(|owner| owner.unwrap_or_default().to_owned());
        if self.told.insert(name.to_owned(), word.clone()) == Some(word) {
            return;
        }
        match owner {
            Some(None) => {}
            Some(Some(owner)) => {
                warn!(kind, name, owner, "calls the operator of another namespace");
            }
            None => warn!(
                kind,
                name,
                "is not installed, so that nobody calls these webhooks: apply what `generate install` prints, \
                 or turn them off with --webhook-bind-address=0"
            ),
        }
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

/// Where `object` says how webhooks are called.
fn places(object: &Value) -> Vec<String> {
    let webhooks = object["webhooks"].as_array().map_or(0, Vec::len);
    let mut places: Vec<_> =
        (0..webhooks).map(|at| format!("/webhooks/{at}/clientConfig")).collect();
    if object["spec"]["conversion"]["strategy"] == "Webhook" {
        places.push("/spec/conversion/webhook/clientConfig".to_owned());
    }
    places
}

/// The other namespace whose Service `config` calls.
fn stranger<'a>(config: &'a Value, namespace: &str) -> Option<&'a str> {
    config["service"]["namespace"].as_str().filter(|owner| *owner != namespace)
}

/// The other namespace whose operator `object` calls, if there is one.
fn elsewhere<'a>(object: &'a Value, namespace: &str) -> Option<&'a str> {
    let mut configs = places(object).into_iter().filter_map(|place| object.pointer(&place));
    configs.find_map(|config| stranger(config, namespace))
}

/// What has to be changed so that `object` trusts `bundle`; nothing of it that does not call a webhook, or
/// calls one in another namespace than `namespace`: two operators would put their authorities there in turn.
fn untrusting(object: &Value, bundle: &str, namespace: &str) -> Vec<Value> {
    let encoded = json!(ByteString(bundle.as_bytes().to_vec()));
    let is_other = |place: &String| {
        let is_to_change =
            |config: &Value| config["caBundle"] != encoded && stranger(config, namespace).is_none();
        object.pointer(place).is_some_and(is_to_change)
    };
    let mut operations: Vec<_> = places(object)
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
    use crate::webhook::rotation::Timing;

    #[test]
    fn a_watch_that_is_dead_is_noticed_before_the_last_authority_is_forgotten() {
        let delay = Duration::from_secs(30); // the longest
        assert!(SILENCE + delay < Timing::default().overlap * 2);
    }

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
            untrusting(&configuration, "new", "here"),
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
        assert_eq!(untrusting(&definition, "new", "here"), [test, add(path)]);
        let plain = json!({"spec": {"conversion": {"strategy": "None"}}});
        assert!(untrusting(&plain, "new", "here").is_empty());
    }

    #[test]
    fn what_calls_the_operator_of_another_namespace_is_left_to_it() {
        let service = |namespace: &str| json!({"service": {"name": "a", "namespace": namespace}});
        let configuration = json!({
            "metadata": {"resourceVersion": "7"},
            "webhooks": [{"clientConfig": service("there")}, {"clientConfig": service("here")}],
        });
        let changed = untrusting(&configuration, "new", "here");
        assert_eq!(changed.len(), 2, "the version is tested, and one entry changed: {changed:?}");
        assert_eq!(changed[1]["path"], "/webhooks/1/clientConfig/caBundle");
        assert_eq!(elsewhere(&configuration, "here"), Some("there"));
        let conversion =
            json!({"strategy": "Webhook", "webhook": {"clientConfig": service("there")}});
        let definition = json!({"spec": {"conversion": conversion}});
        assert!(untrusting(&definition, "new", "here").is_empty());
        assert_eq!(elsewhere(&definition, "there"), None);
    }
}
