//! A walk over every leaf of the definition's own schema: set, change, remove, empty, default, boundary,
//! invalid. What a leaf takes is asked of the API server, so a new field is walked without a new test.

mod bypass;
mod values;
mod walk;

pub use bypass::{bypass, lax, monsters};
pub use values::{Leaf, leaves};
pub use walk::walk;

use std::time::{Duration, Instant};

use http::Request;
use kube::api::{DynamicObject, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::history::kinds;
use crate::scenario::NAME;
use crate::state::{is_as_desired_without_pods, masked};

/// As the API server writes it: the names of the fields in their order.
const UNRECONCILED: &str = r#""status":"False","type":"Reconciled""#;

/// What a leaf came to.
#[derive(Debug)]
pub struct Walked {
    /// Its path.
    pub leaf: String,
    /// How many values were tried, accepted and refused ones.
    pub values: usize,
    /// What the API server refused.
    pub refused: Vec<Value>,
    /// What is wrong.
    pub wrong: Vec<String>,
}

/// Caches by name in one namespace.
pub struct Caches {
    client: Client,
    namespace: String,
    api: Api<DynamicObject>,
    limit: Duration,
}

impl Caches {
    /// Waits at most `limit` for each.
    pub fn new(client: Client, namespace: &str, limit: Duration) -> Self {
        let [(_, kind), ..] = kinds();
        let api = Api::namespaced_with(client.clone(), namespace, &kind);
        Self { client, namespace: namespace.to_owned(), api, limit }
    }

    /// Creates one, or only asks whether it could be.
    pub(crate) async fn create(&self, name: &str, spec: &Value, dry: bool) -> kube::Result<()> {
        let object = json!({
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
            "metadata": {"name": name}, "spec": spec,
        });
        let object = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
        let parameters = PostParams { dry_run: dry, ..PostParams::default() };
        self.api.create(&parameters, &object).await.map(drop)
    }

    /// Gives it another spec, whole.
    pub(crate) async fn change(&self, name: &str, spec: &Value) -> kube::Result<()> {
        let operations = json!([{"op": "replace", "path": "/spec", "value": spec}]);
        let patch = serde_json::from_value(operations).map_err(kube::Error::SerdeError)?;
        let patch = Patch::Json::<()>(patch);
        self.api.patch(name, &PatchParams::default(), &patch).await.map(drop)
    }

    /// The same for one that may be too deep to be read.
    pub(crate) async fn heal(&self, name: &str, spec: &Value) -> kube::Result<()> {
        match self.change(name, spec).await {
            Err(kube::Error::SerdeError(_)) => Ok(()), // the answer is not what counts
            outcome => outcome,
        }
    }

    /// What the operator made of a spec: the cache and its children, or why there is nothing to be made of it.
    pub(crate) async fn outcome(&self, name: &str) -> Result<Value, String> {
        self.answered(name).await?;
        let cache = self.get(name).await.map_err(|error| error.to_string())?;
        let conditions = cache["status"]["conditions"].as_array().cloned().unwrap_or_default();
        let refused = conditions
            .iter()
            .find(|it| it["type"] == "Reconciled" && it["status"] == "False")
            .map(|it| json!({"reason": it["reason"]}));
        match refused {
            Some(refused) => Ok(refused),
            None => self.settled(name).await,
        }
    }

    /// The cache and its children, once they are as it asks; with another name and without what counts
    /// changes.
    pub(crate) async fn settled(&self, name: &str) -> Result<Value, String> {
        let started = Instant::now();
        loop {
            let own = self.own(name).await.map_err(|error| error.to_string())?;
            match is_as_desired_without_pods(&own) {
                Ok(()) => return Ok(comparable(&own, name)),
                Err(state) if started.elapsed() > self.limit => return Err(state),
                Err(_) => sleep(Duration::from_millis(100)).await,
            }
        }
    }

    /// The cache and its children, which have its name.
    async fn own(&self, name: &str) -> kube::Result<Value> {
        let mut own = serde_json::Map::new();
        for (resource, kind) in kinds() {
            let api: Api<DynamicObject> =
                Api::namespaced_with(self.client.clone(), &self.namespace, &kind);
            let found: Vec<_> = api.get_opt(name).await?.into_iter().collect();
            let found = serde_json::to_value(found).map_err(kube::Error::SerdeError)?;
            own.insert(resource.to_owned(), found);
        }
        Ok(Value::Object(own))
    }

    /// Waits until the operator has said what it thinks of the spec as it is.
    pub(crate) async fn answered(&self, name: &str) -> Result<(), String> {
        let started = Instant::now();
        loop {
            let cache = self.get(name).await.map_err(|error| error.to_string())?;
            let generation = &cache["metadata"]["generation"];
            let conditions = cache["status"]["conditions"].as_array();
            let told = conditions.into_iter().flatten().any(|condition| {
                condition["type"] == "Reconciled" && condition["observedGeneration"] == *generation
            });
            if told {
                return Ok(());
            }
            if started.elapsed() > self.limit {
                return Err(format!("generation {generation} is not told of: {}", cache["status"]));
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// Waits until a cache that is too deep to be read here says that it is not reconciled.
    pub(crate) async fn told_of_depth(&self, name: &str) -> Result<(), String> {
        let request = Request::get(format!("{}/{name}", self.api.resource_url()))
            .body(Vec::new())
            .map_err(|error| error.to_string())?;
        let started = Instant::now();
        loop {
            let text = self.client.request_text(request.clone()).await;
            if text.map_err(|error| error.to_string())?.contains(UNRECONCILED) {
                return Ok(());
            }
            if started.elapsed() > self.limit {
                return Err("it does not say what is wrong".to_owned());
            }
            sleep(Duration::from_millis(100)).await;
        }
    }

    /// The cache as it is.
    pub(crate) async fn get(&self, name: &str) -> kube::Result<Value> {
        serde_json::to_value(self.api.get(name).await?).map_err(kube::Error::SerdeError)
    }
}

/// Two caches with the same spec are the same, however often either was changed.
fn comparable(own: &Value, name: &str) -> Value {
    let mut masked = masked(own);
    drop_counts(&mut masked);
    let text = masked.to_string().replace(name, NAME);
    serde_json::from_str(&text).unwrap_or_default()
}

fn drop_counts(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|name, _| !matches!(name.as_str(), "generation" | "observedGeneration"));
            object.values_mut().for_each(drop_counts);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_counts),
        _ => {}
    }
}
