//! The objects that the operator is given, and what it makes of them.

use std::collections::BTreeMap;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Event, Pod};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use memcached_api::v1alpha1::{Memcached, MemcachedStatus};
use serde_json::json;

use crate::watched::{Watched, Which};

/// More would only wait for the API server.
pub(crate) const AT_ONCE: usize = 16;
const NAMESPACE: &str = "default";

/// The objects of one environment, in one namespace.
pub(crate) struct Objects {
    client: Client,
}

impl Objects {
    pub(crate) fn new(client: Client) -> Self {
        Self { client }
    }

    pub(crate) fn caches(&self) -> Api<Memcached> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(crate) fn deployments(&self) -> Api<Deployment> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(crate) fn pods(&self) -> Api<Pod> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    pub(crate) fn events(&self) -> Api<Event> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    /// Creates a cache.
    pub(crate) async fn create(&self, name: &str, size: i32) -> anyhow::Result<()> {
        let cache = serde_json::from_value(json!({
            "apiVersion": "cache.example.com/v1alpha1",
            "kind": "Memcached",
            "metadata": {"name": name},
            "spec": {"size": size},
        }))?;
        self.caches().create(&PostParams::default(), &cache).await?;
        Ok(())
    }

    /// Creates `count` caches of three instances each.
    pub(crate) async fn create_many(&self, count: usize) -> anyhow::Result<()> {
        let names: Vec<_> = (0..count).map(|number| format!("cache-{number:04}")).collect();
        let created = stream::iter(names.iter().map(|name| self.create(name, 3)));
        created.buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Changes the size of a cache.
    pub(crate) async fn resize(&self, name: &str, size: i32) -> anyhow::Result<()> {
        let patch = Patch::Merge(json!({"spec": {"size": size}}));
        self.caches().patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// Deletes a cache, and waits until it is gone.
    pub(crate) async fn delete(&self, name: &str) -> anyhow::Result<()> {
        let mut watched = Watched::start(self.caches(), Which::Named(name)).await?;
        self.caches().delete(name, &DeleteParams::default()).await?;
        watched.until("the cache is gone", BTreeMap::is_empty).await
    }

    /// Waits until `count` caches, or the one, have the status that `holds` asks for.
    pub(crate) async fn until(
        &self,
        which: Which<'_>,
        count: usize,
        holds: impl Fn(&MemcachedStatus) -> bool,
    ) -> anyhow::Result<()> {
        let mut watched = Watched::start(self.caches(), which).await?;
        let is = |cache: &Memcached| {
            let status = cache.status.as_ref();
            let is_seen = status.and_then(|status| status.observed_generation);
            is_seen == cache.metadata.generation && status.is_some_and(&holds)
        };
        let done = watched.until("the caches are as they should be", |caches| {
            caches.len() >= count && caches.values().filter(|cache| is(cache)).count() >= count
        });
        done.await
    }
}

/// Whether a condition holds.
pub(crate) fn is(status: &MemcachedStatus, condition: &str) -> bool {
    status.conditions.iter().any(|one| one.type_ == condition && one.status == "True")
}
