//! An independent watcher: every version of every object of the kinds that matter, by namespace, in the
//! order of the store. It asks with all rights and never through a proxy.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::{StreamExt as _, pin_mut};
use kube::api::{ApiResource, DynamicObject, ListParams, WatchParams};
use kube::core::WatchEvent;
use kube::{Api, Client, ResourceExt as _};
use serde_json::Value;
use tokio::task::JoinSet;

/// One version of one object.
#[derive(Clone, Debug)]
pub struct Seen {
    /// `memcacheds`, `deployments`, `services`.
    pub resource: &'static str,
    /// `ADDED`, `MODIFIED`, `DELETED`.
    pub type_: &'static str,
    /// All kinds count together.
    pub version: u64,
    /// The object.
    pub object: Arc<Value>,
}

/// What happened to one object, by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// How often one was made.
    pub creates: usize,
    /// How often one went.
    pub deletes: usize,
    /// How often what is asked of it changed.
    pub bumps: i64,
}

/// By resource and name.
pub type Counts = BTreeMap<String, Count>;

/// The watcher. It ends when it is dropped; by default it sees nothing.
#[derive(Debug, Default)]
pub struct History {
    seen: Arc<Mutex<HashMap<String, Vec<Seen>>>>,
    _watches: JoinSet<()>,
}

/// The kinds that are watched.
pub fn kinds() -> [(&'static str, ApiResource); 3] {
    let kind = |group: &str, version: &str, kind: &str| {
        ApiResource::from_gvk(&kube::core::GroupVersionKind::gvk(group, version, kind))
    };
    [
        ("memcacheds", kind("cache.example.com", "v1alpha1", "Memcached")),
        ("deployments", kind("apps", "v1", "Deployment")),
        ("services", kind("", "v1", "Service")),
    ]
}

impl History {
    /// Watches from now on.
    pub fn start(client: &Client) -> Self {
        let seen = Arc::default();
        let mut watches = JoinSet::new();
        for (resource, kind) in kinds() {
            let api = Api::all_with(client.clone(), &kind);
            watches.spawn(follow(api, resource, Arc::clone(&seen)));
        }
        Self { seen, _watches: watches }
    }

    /// What there is in a namespace now, by resource, as [`crate::state::objects`] would list it: a thousand
    /// looks a second cost the API server nothing.
    pub fn current(&self, namespace: &str) -> Value {
        let mut current: BTreeMap<&str, BTreeMap<String, Arc<Value>>> = BTreeMap::new();
        for seen in self.of(namespace) {
            let objects = current.entry(seen.resource).or_default();
            let name = seen.object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            match seen.type_ {
                "DELETED" => drop(objects.remove(&name)),
                _ => drop(objects.insert(name, seen.object)),
            }
        }
        let lists = current.into_iter().map(|(resource, objects)| {
            let list = objects.into_values().map(|object| (*object).clone()).collect();
            (resource.to_owned(), Value::Array(list))
        });
        Value::Object(lists.collect())
    }

    /// What happened in a namespace so far.
    pub fn of(&self, namespace: &str) -> Vec<Seen> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let mut seen = seen.get(namespace).cloned().unwrap_or_default();
        seen.sort_by_key(|seen| seen.version);
        seen
    }

    /// The same, and forgets it.
    pub fn take(&self, namespace: &str) -> Vec<Seen> {
        let seen = self.of(namespace);
        self.seen.lock().unwrap_or_else(PoisonError::into_inner).remove(namespace);
        seen
    }
}

/// Sums a history up.
pub fn counts(history: &[Seen]) -> Counts {
    let mut counts = Counts::new();
    let mut generations: HashMap<String, i64> = HashMap::new();
    for seen in history {
        let metadata = &seen.object["metadata"];
        let text = |name: &str| metadata[name].as_str().unwrap_or_default().to_owned();
        let count = counts.entry(format!("{}/{}", seen.resource, text("name"))).or_default();
        let generation = metadata["generation"].as_i64().unwrap_or(1);
        let known = generations.entry(text("uid")).or_insert(generation);
        match seen.type_ {
            "ADDED" => count.creates += 1,
            "DELETED" => count.deletes += 1,
            _ => {}
        }
        count.bumps += (generation - *known).max(0);
        *known = generation.max(*known);
    }
    counts
}

async fn follow(
    api: Api<DynamicObject>,
    resource: &'static str,
    seen: Arc<Mutex<HashMap<String, Vec<Seen>>>>,
) {
    let mut version = None;
    loop {
        let from = match version.take() {
            Some(version) => version,
            None => newest(&api).await,
        };
        version = Some(from.clone());
        let Ok(events) = api.watch(&WatchParams::default(), &from).await else {
            tokio::time::sleep(Duration::from_millis(200)).await;
            continue;
        };
        pin_mut!(events);
        while let Some(Ok(event)) = events.next().await {
            let (type_, object) = match event {
                WatchEvent::Added(object) => ("ADDED", object),
                WatchEvent::Modified(object) => ("MODIFIED", object),
                WatchEvent::Deleted(object) => ("DELETED", object),
                WatchEvent::Bookmark(_) => continue,
                WatchEvent::Error(_) => {
                    version = None;
                    break;
                }
            };
            version = object.resource_version();
            note(&seen, resource, type_, object);
        }
    }
}

/// The version as of now.
async fn newest(api: &Api<DynamicObject>) -> String {
    loop {
        if let Ok(list) = api.list_metadata(&ListParams::default().limit(1)).await {
            return list.metadata.resource_version.unwrap_or_default();
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

fn note(
    seen: &Mutex<HashMap<String, Vec<Seen>>>,
    resource: &'static str,
    type_: &'static str,
    mut object: DynamicObject,
) {
    let namespace = object.namespace().unwrap_or_default();
    let version = object.resource_version().and_then(|version| version.parse().ok());
    object.managed_fields_mut().clear();
    let object = Arc::new(serde_json::to_value(object).unwrap_or_default());
    let new = Seen { resource, type_, version: version.unwrap_or_default(), object };
    seen.lock().unwrap_or_else(PoisonError::into_inner).entry(namespace).or_default().push(new);
}
