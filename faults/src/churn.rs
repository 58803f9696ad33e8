//! People who change their minds: creates, changes, disturbs and deletes caches by chance, and knows what
//! there should be in the end.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use memcached_api::v1alpha1::Memcached;
use serde_json::json;
use tokio::time::sleep;

use crate::state::{is_as_desired, objects};

/// The most instances: pods cost the built-in controllers time.
const MOST: i32 = 2;

/// Caches in one namespace.
pub struct Churn {
    client: Client,
    namespace: String,
    most: usize,
    random: Rng,
    wanted: BTreeMap<String, i32>,
    changes: usize,
}

impl Churn {
    /// Nobody has done anything yet.
    pub fn new(client: Client, namespace: &str, most: usize, seed: u64) -> Self {
        let (random, namespace) = (Rng::with_seed(seed), namespace.to_owned());
        Self { client, namespace, most, random, wanted: BTreeMap::new(), changes: 0 }
    }

    /// How often somebody did something.
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// Somebody does something.
    pub async fn step(&mut self) -> anyhow::Result<()> {
        let caches: Api<Memcached> = Api::namespaced(self.client.clone(), &self.namespace);
        let (name, size) =
            (format!("c-{}", self.random.usize(..self.most)), self.random.i32(0..=MOST));
        if !self.wanted.contains_key(&name) {
            return self.create(&caches, name, size).await;
        }
        let change = match self.random.u8(..8) {
            0 => {
                caches.delete(&name, &DeleteParams::background()).await?;
                self.wanted.remove(&name);
                self.changes += 1;
                return Ok(());
            }
            1 => return self.disturb(&name).await,
            2 => json!({"spec": {"containerPort": 11211 + i32::from(self.random.bool())}}),
            _ => {
                self.wanted.insert(name.clone(), size);
                json!({"spec": {"size": size}})
            }
        };
        self.changes += 1;
        caches.patch(&name, &PatchParams::default(), &Patch::Merge(change)).await?;
        Ok(())
    }

    async fn create(
        &mut self,
        caches: &Api<Memcached>,
        name: String,
        size: i32,
    ) -> anyhow::Result<()> {
        let object = serde_json::from_value(json!({
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
            "metadata": {"name": name}, "spec": {"size": size},
        }))?;
        match caches.create(&PostParams::default(), &object).await {
            Ok(_) => {
                self.changes += 1;
                self.wanted.insert(name, size);
                Ok(())
            }
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()), // the one before still goes
            Err(error) => Err(error.into()),
        }
    }

    /// A child is deleted, or its number changed; it may be missing at the moment.
    async fn disturb(&mut self, name: &str) -> anyhow::Result<()> {
        self.changes += 1;
        if self.random.bool() {
            let api: Api<Service> = Api::namespaced(self.client.clone(), &self.namespace);
            return ignore_missing(api.delete(name, &DeleteParams::background()).await.map(drop));
        }
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), &self.namespace);
        let patch = Patch::Merge(json!({"spec": {"revisionHistoryLimit": 3}}));
        ignore_missing(api.patch(name, &PatchParams::default(), &patch).await.map(drop))
    }

    /// Waits until all is as everybody wants it.
    ///
    /// # Errors
    /// What is not.
    pub async fn settled(&self, limit: Duration) -> Result<(), String> {
        let began = Instant::now();
        loop {
            let state = match objects(&self.client, &self.namespace).await {
                Ok(objects) => {
                    let count = objects["memcacheds"].as_array().map_or(0, Vec::len);
                    if count == self.wanted.len() {
                        is_as_desired(&objects)
                    } else {
                        Err(format!("{count} caches and not {}", self.wanted.len()))
                    }
                }
                Err(error) => Err(format!("{error:#}")),
            };
            match state {
                Ok(()) => return Ok(()),
                Err(state) if began.elapsed() > limit => {
                    return Err(format!("{limit:?} after the last fault: {state}"));
                }
                Err(_) => sleep(Duration::from_millis(200)).await,
            }
        }
    }
}

fn ignore_missing(outcome: kube::Result<()>) -> anyhow::Result<()> {
    match outcome {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        outcome => Ok(outcome?),
    }
}
