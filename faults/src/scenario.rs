//! What a user does, on the real API server and with all rights, and when it is over.

use std::time::Duration;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Service};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client};
use memcached_api::v1alpha1::Memcached;
use serde_json::{Value, json};

use crate::history::History;
use crate::plan::Scenario;
use crate::state::{is_as_desired, objects};

/// The name of the one cache of a namespace.
pub const NAME: &str = "cache";

/// A user in a namespace.
pub struct User<'a> {
    /// With all rights, and not through a proxy.
    pub client: Client,
    /// Where.
    pub namespace: String,
    /// What there is.
    pub history: &'a History,
}

impl User<'_> {
    /// What there is before the scenario begins.
    pub async fn prepare(&self, scenario: Scenario) -> kube::Result<()> {
        match scenario {
            Scenario::Create => Ok(()),
            _ => self.create(json!({"size": 1})).await,
        }
    }

    /// Does it.
    pub async fn act(&self, scenario: Scenario) -> anyhow::Result<()> {
        match scenario {
            Scenario::Create => self.create(json!({"size": 2})).await?,
            Scenario::Scale => self.change(json!({"size": 3})).await?,
            Scenario::Config => self.change(json!({"containerPort": 11311})).await?,
            Scenario::Drift => self.disturb().await?,
            Scenario::Delete => self.delete().await?,
            Scenario::Recreate => {
                self.delete().await?;
                self.create_when_free(json!({"size": 2})).await?;
            }
            Scenario::Namespace => {
                let api: Api<Namespace> = Api::all(self.client.clone());
                api.delete(&self.namespace, &DeleteParams::background()).await?;
            }
        }
        Ok(())
    }

    /// Whether it is over and all is as it should be.
    ///
    /// # Errors
    /// What is still missing.
    pub async fn is_over(&self, scenario: Scenario) -> Result<(), String> {
        if scenario == Scenario::Namespace {
            let api: Api<Namespace> = Api::all(self.client.clone());
            return match api.get_opt(&self.namespace).await {
                Ok(None) => Ok(()),
                Ok(Some(namespace)) => Err(format!("{:?}", namespace.status)),
                Err(error) => Err(error.to_string()),
            };
        }
        has_all(scenario, &self.history.current(&self.namespace))?;
        // The watcher may not have heard yet what was done a moment ago: what it takes for the end is asked for.
        let objects = objects(&self.client, &self.namespace).await;
        has_all(scenario, &objects.map_err(|error| format!("{error:#}"))?)
    }

    fn caches(&self) -> Api<Memcached> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    async fn create(&self, spec: Value) -> kube::Result<()> {
        let object = json!({
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
            "metadata": {"name": NAME}, "spec": spec,
        });
        let object = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
        self.caches().create(&PostParams::default(), &object).await.map(drop)
    }

    /// As people do it: again and again until the name is free.
    async fn create_when_free(&self, spec: Value) -> kube::Result<()> {
        loop {
            match self.create(spec.clone()).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                outcome => return outcome,
            }
        }
    }

    async fn change(&self, spec: Value) -> kube::Result<()> {
        let patch = Patch::Merge(json!({"spec": spec}));
        self.caches().patch(NAME, &PatchParams::default(), &patch).await.map(drop)
    }

    async fn delete(&self) -> kube::Result<()> {
        self.caches().delete(NAME, &DeleteParams::background()).await.map(drop)
    }

    /// Both children at once.
    async fn disturb(&self) -> kube::Result<()> {
        let deployments: Api<Deployment> = Api::namespaced(self.client.clone(), &self.namespace);
        let services: Api<Service> = Api::namespaced(self.client.clone(), &self.namespace);
        let patch = Patch::Merge(json!({"spec": {"replicas": 3}}));
        deployments.patch(NAME, &PatchParams::default(), &patch).await?;
        services.delete(NAME, &DeleteParams::background()).await.map(drop)
    }
}

fn has_all(scenario: Scenario, objects: &Value) -> Result<(), String> {
    let caches = objects["memcacheds"].as_array().map_or(0, Vec::len);
    let wanted = usize::from(scenario != Scenario::Delete);
    if caches != wanted {
        return Err(format!("{caches} caches and not {wanted}"));
    }
    is_as_desired(objects)
}
