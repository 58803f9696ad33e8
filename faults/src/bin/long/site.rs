//! A namespace with one operator in it and any number of caches, of which nothing is kept but counts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use kubewright_testenv::Disturbed;
use memcached_api::v1alpha1::Memcached;
use memcached_faults::process::Victim;
use memcached_faults::world::{Subject, World};
use serde_json::json;
use tokio::time::sleep;

use crate::tally::Tally;

/// How many requests of ours are on their way at once.
const BESIDE: usize = 32;
/// A page of a list.
const PAGE: u32 = 500;

pub(crate) struct Site {
    client: Client,
    pub(crate) namespace: String,
    pub(crate) subject: Subject,
    pub(crate) tally: Arc<Tally>,
}

impl Site {
    /// An operator without a lease.
    pub(crate) async fn new(world: &World<'_>) -> anyhow::Result<Self> {
        let namespace = world.namespace("site").await?;
        Self::on(world, world.way().await?, namespace, &[], &["--leader-elect=false".to_owned()])
    }

    /// An operator on a way, by a command, with these arguments.
    pub(crate) fn on(
        world: &World<'_>,
        way: Disturbed,
        namespace: String,
        by: &[String],
        more: &[String],
    ) -> anyhow::Result<Self> {
        let tally = Arc::new(Tally::default());
        way.proxy.set_hook(Some(tally.clone()));
        let subject = world.operator_on(way, by, &namespace, more, Arc::new(Victim::default()))?;
        Ok(Self { client: world.client(), namespace, subject, tally })
    }

    pub(crate) fn caches(&self) -> Api<Memcached> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    pub(crate) fn deployments(&self) -> Api<Deployment> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    /// Creates so many caches, without an instance each.
    pub(crate) async fn create(&self, prefix: &str, count: usize) -> anyhow::Result<()> {
        let objects = (0..count).map(|number| {
            json!({
                "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
                "metadata": {"name": format!("{prefix}-{number}")}, "spec": {"size": 0},
            })
        });
        create(&self.caches(), objects).await
    }

    pub(crate) async fn resize(&self, name: &str, size: i32) -> anyhow::Result<()> {
        let patch = Patch::Merge(json!({"spec": {"size": size}}));
        self.caches().patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// Changes a cache and waits for its Deployment to follow.
    pub(crate) async fn followed(&self, name: &str, size: i32) -> anyhow::Result<Duration> {
        let began = Instant::now();
        self.resize(name, size).await?;
        loop {
            let deployment = self.deployments().get_opt(name).await?;
            let replicas = deployment.and_then(|it| it.spec).and_then(|spec| spec.replicas);
            if replicas == Some(size) {
                return Ok(began.elapsed());
            }
            ensure!(began.elapsed() < Duration::from_mins(1), "{name} has {replicas:?} of {size}");
            sleep(Duration::from_millis(5)).await;
        }
    }

    /// Waits until so many caches say that they are as they should be.
    pub(crate) async fn settled(&self, count: usize, limit: Duration) -> anyhow::Result<Duration> {
        let began = Instant::now();
        loop {
            let settled = self.count("True").await?;
            if settled >= count {
                return Ok(began.elapsed());
            }
            if began.elapsed() > limit {
                bail!(
                    "{settled} of {count} after {limit:?}: {:?}",
                    self.subject.running.failures()
                );
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// How many caches say so about `Reconciled` and their newest spec.
    pub(crate) async fn count(&self, status: &str) -> anyhow::Result<usize> {
        self.counted(|it| it.type_ == "Reconciled" && it.status == status).await
    }

    /// Waits until so many have heard that their Deployments are complete: the controller of Deployments may ask
    /// for so much a second only, and each word of it is one more status.
    pub(crate) async fn complete(&self, count: usize, limit: Duration) -> anyhow::Result<()> {
        let began = Instant::now();
        while self.counted(|it| it.type_ == "Progressing" && it.reason == "Complete").await? < count
        {
            ensure!(began.elapsed() < limit, "not all are complete after {limit:?}");
            sleep(Duration::from_secs(1)).await;
        }
        Ok(())
    }

    /// How many caches have such a condition about their newest spec.
    async fn counted(&self, is: impl Fn(&Condition) -> bool) -> anyhow::Result<usize> {
        let has = |cache: &Memcached| {
            let generation = cache.metadata.generation;
            let conditions = cache.status.iter().flat_map(|status| &status.conditions);
            conditions.into_iter().any(|it| it.observed_generation == generation && is(it))
        };
        let (api, mut count, mut page) = (self.caches(), 0, ListParams::default().limit(PAGE));
        loop {
            let list = api.list(&page).await?;
            count += list.items.iter().filter(|cache| has(cache)).count();
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => page = page.continue_token(&token),
                None => return Ok(count),
            }
        }
    }

    /// Nothing that nobody asked for has happened to the process.
    pub(crate) fn stands(&self) -> anyhow::Result<()> {
        let failures = self.subject.running.failures();
        ensure!(failures.is_empty(), "{failures:?}");
        Ok(())
    }
}

/// Creates objects of any kind, many at once.
pub(crate) async fn create<K>(
    api: &Api<K>,
    objects: impl Iterator<Item = serde_json::Value>,
) -> anyhow::Result<()>
where
    K: Clone + std::fmt::Debug + serde::Serialize + serde::de::DeserializeOwned,
{
    let creations = objects.map(|object| async move {
        let object = serde_json::from_value(object)?;
        api.create(&PostParams::default(), &object).await?;
        anyhow::Ok(())
    });
    stream::iter(creations).buffer_unordered(BESIDE).try_collect::<Vec<_>>().await?;
    Ok(())
}
