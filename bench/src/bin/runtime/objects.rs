//! The objects that an operator is given, and when it is done with them.

use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ListParams, PostParams};
use kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kube::{Api, Client};
use kubewright_bench::progress;
use kubewright_testenv::Environment;
use serde_json::{Value, json};

use crate::subject::Subject;

/// More would only wait for the API server.
const AT_ONCE: usize = 32;
const NAMESPACES: usize = 10;
/// Twelve objects a second are few, even beside other work.
const LIMIT: Duration = Duration::from_mins(14);

/// The objects of one environment.
pub(crate) struct Objects {
    subject: Subject,
    client: Client,
    kind: ApiResource,
    count: usize,
}

impl Objects {
    /// Installs the kind that `definition` describes, and creates `count` objects of it.
    pub(crate) async fn create(
        environment: &Environment,
        definition: CustomResourceDefinition,
        subject: Subject,
        count: usize,
    ) -> anyhow::Result<Self> {
        let object = subject.object(0);
        let word = |name: &str| object[name].as_str().unwrap_or_default();
        let (group, version) = word("apiVersion").split_once('/').unwrap_or_default();
        let gvk = GroupVersionKind::gvk(group, version, word("kind"));
        let kind = ApiResource::from_gvk_with_plural(&gvk, subject.resources()[0]);
        environment.install(&[definition]).await?;
        let client = environment.client();
        let spaces: Api<Namespace> = Api::all(client.clone());
        for number in 0..NAMESPACES {
            let space = serde_json::from_value(json!({"metadata": {"name": namespace(number)}}))?;
            spaces.create(&PostParams::default(), &space).await?;
        }
        let objects = Self { subject, client, kind, count };
        let began = Instant::now();
        let created = stream::iter((0..count).map(|number| objects.create_one(number)));
        created.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        progress(&format!("{count} objects created in {:.1} s", began.elapsed().as_secs_f64()));
        Ok(objects)
    }

    async fn create_one(&self, number: usize) -> anyhow::Result<()> {
        let space = namespace(number % NAMESPACES);
        let api = Api::<DynamicObject>::namespaced_with(self.client.clone(), &space, &self.kind);
        let object = serde_json::from_value(self.subject.object(number))?;
        api.create(&PostParams::default(), &object).await.context("cannot create an object")?;
        Ok(())
    }

    /// Waits until every object has its children and a status that says so.
    pub(crate) async fn until_converged(&self) -> anyhow::Result<()> {
        let began = Instant::now();
        let mut told = Instant::now();
        loop {
            let made = self.deployments().await?;
            if made >= self.count && self.unfinished().await? == 0 {
                return Ok(());
            }
            ensure!(began.elapsed() < LIMIT, "not converged after {LIMIT:?}: {made} Deployments");
            if told.elapsed() > Duration::from_secs(10) {
                progress(&format!("{made} of {} have a Deployment", self.count));
                told = Instant::now();
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// How many Deployments there are, without transferring them.
    async fn deployments(&self) -> anyhow::Result<usize> {
        let api: Api<Deployment> = Api::all(self.client.clone());
        let list = api.list_metadata(&ListParams::default().limit(1)).await?;
        let more = list.metadata.remaining_item_count.unwrap_or(0);
        Ok(list.items.len() + usize::try_from(more)?)
    }

    /// How many objects do not say that they are reconciled.
    async fn unfinished(&self) -> anyhow::Result<usize> {
        let api = Api::<DynamicObject>::all_with(self.client.clone(), &self.kind);
        let mut parameters = ListParams::default().limit(1000);
        let mut unfinished = 0;
        loop {
            let page = api.list(&parameters).await?;
            unfinished += page.items.iter().filter(|object| !is_reconciled(object)).count();
            parameters.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
            if parameters.continue_token.is_none() {
                return Ok(unfinished);
            }
        }
    }

    /// How many bytes of JSON an object and its Deployment are.
    pub(crate) async fn sizes(&self) -> anyhow::Result<(usize, usize)> {
        let (client, space) = (self.client.clone(), namespace(0));
        let objects = Api::<DynamicObject>::namespaced_with(client.clone(), &space, &self.kind);
        let deployments = Api::<Deployment>::namespaced(client, &space);
        let list = ListParams::default().limit(1);
        let object = objects.list(&list).await?.items.pop().context("there is no object")?;
        let child = deployments.list(&list).await?.items.pop().context("there is no child")?;
        Ok((serde_json::to_vec(&object)?.len(), serde_json::to_vec(&child)?.len()))
    }
}

fn namespace(number: usize) -> String {
    format!("bench-{number}")
}

fn is_reconciled(object: &DynamicObject) -> bool {
    let conditions = object.data["status"]["conditions"].as_array();
    let is = |condition: &Value| condition["type"] == "Reconciled" && condition["status"] == "True";
    conditions.is_some_and(|conditions| conditions.iter().any(is))
}
