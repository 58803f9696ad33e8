//! What `run bundle` does on a cluster, step by step: each applies, or changes one thing, then looks until it is so.

use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client};
use kubewright::cluster::{self, Step};
use serde_json::{Value, json};

use crate::olm::catalogue::Catalogue;
use crate::olm::look::subscription::Next;
use crate::olm::look::{self, Look, Sentence};
use crate::olm::objects::{Kind, Objects, name};
use crate::olm::source::Release;
use crate::olm::{BUNDLE, CONTENT, MANAGER, bundle_selector, installed, plain, removal, wait};

/// Where the steps are done, and how long each may take.
pub(super) struct Steps<'a> {
    pub(super) client: &'a Client,
    pub(super) namespace: &'a str,
    pub(super) limit: Duration,
    /// Who is told what was applied.
    pub(super) tell: fn(Step),
}

impl Steps<'_> {
    /// Serves a catalogue.
    pub(super) async fn serve(&self, catalogue: &Catalogue) -> anyhow::Result<()> {
        let opm = installed::opm_image(self.client).await;
        self.apply(&catalogue.server(&opm)).await?;
        let called = catalogue.name();
        let api: Api<Deployment> = Api::namespaced(self.client.clone(), self.namespace);
        let label = format!("app.kubernetes.io/name={called}");
        wait::until(self.limit, async || {
            let deployment = api.get(&called).await.context("cannot look at the catalogue")?;
            let pods = self.within().pods(&label).await.context("cannot look at its pods")?;
            Ok(look::deployment::look(&deployment, &pods))
        })
        .await
    }

    /// Tells OLM of it, and waits until OLM reads it.
    pub(super) async fn connect(&self, catalogue: &Catalogue) -> anyhow::Result<()> {
        self.apply(&[catalogue.source()]).await?;
        let (address, label) =
            (catalogue.address(), format!("app.kubernetes.io/name={}", catalogue.name()));
        let called = Catalogue::source_name(&catalogue.package);
        wait::until(self.limit, async || {
            let source = self.expected(Kind::CatalogSource, &called).await?;
            let pods = self.within().pods(&label).await.context("cannot look at its pods")?;
            Ok(look::catalogue::look(&source, &address, &pods))
        })
        .await
    }

    /// Asks OLM for a release.
    pub(super) async fn subscribe(&self, release: &Release) -> anyhow::Result<()> {
        let Release { package, name, channels, .. } = release;
        let labels =
            json!({ BUNDLE: plain(package, 63), "app.kubernetes.io/managed-by": "kubewright" });
        let annotations = json!({ CONTENT: release.content() });
        let subscription = json!({
            "apiVersion": Kind::Subscription.api_version(),
            "kind": Kind::Subscription.name(),
            "metadata": {
                "name": package, "namespace": self.namespace, "labels": labels, "annotations": annotations,
            },
            "spec": {
                "name": package,
                "channel": channels.first(),
                "source": Catalogue::source_name(package),
                "sourceNamespace": self.namespace,
                "startingCSV": name,
                // Approved here, and only what was asked for.
                "installPlanApproval": "Manual",
            },
        });
        self.apply(&[subscription]).await
    }

    /// Has the Subscription of that name say what it is for now.
    pub(super) async fn mark(&self, subscription: &str, release: &Release) -> anyhow::Result<()> {
        let api = self.within().api(&Kind::Subscription.resource());
        let patch = json!({ "metadata": { "annotations": { CONTENT: release.content() } } });
        let patched = api.patch(subscription, &PatchParams::default(), &Patch::Merge(patch)).await;
        patched.map(drop).with_context(|| format!("cannot change subscription/{subscription}"))
    }

    /// Waits until OLM has a plan for the release.
    pub(super) async fn plan(&self, package: &str, release: &str) -> anyhow::Result<Next> {
        wait::until(self.limit, async || {
            let subscription = self.expected(Kind::Subscription, package).await?;
            let others = self.within().all(Kind::Subscription).await;
            let mut others = others.context("cannot look at the other Subscriptions")?;
            others.retain(|one| name(one) != package);
            let plans = self.within().all(Kind::InstallPlan).await;
            let plans = plans.context("cannot look at OLM's plans")?;
            let pods = self.unpacking().await?;
            Ok(look::subscription::look(&subscription, &others, &plans, &pods, release))
        })
        .await
    }

    /// Approves a plan.
    pub(super) async fn approve(&self, plan: &str) -> anyhow::Result<()> {
        let api = self.within().api(&Kind::InstallPlan.resource());
        let patch = Patch::Merge(json!({ "spec": { "approved": true } }));
        let approved = api.patch(plan, &PatchParams::default(), &patch).await;
        approved.map(drop).with_context(|| format!("cannot approve installplan/{plan}"))
    }

    /// Waits until OLM has carried it out.
    pub(super) async fn carried_out(&self, plan: &str) -> anyhow::Result<()> {
        wait::until(self.limit, async || {
            let found = self.expected(Kind::InstallPlan, plan).await?;
            Ok(look::plan::look(&found, &self.unpacking().await?))
        })
        .await
    }

    /// Waits until the release runs.
    pub(super) async fn succeeded(&self, release: &str) -> anyhow::Result<()> {
        wait::until(self.limit, async || {
            let found = self.within().find(Kind::ClusterServiceVersion, release).await;
            let Some(found) = found.context("cannot look at the release")? else {
                let why = "OLM has not made it yet";
                return Ok(Look::Waiting(Sentence::new(format!("csv/{release}"), why)));
            };
            let pods = self.within().operator(&found).await;
            let pods = pods.context("cannot look at the operator's pods")?;
            Ok(look::release::look(&found, &pods))
        })
        .await
    }

    /// Removes what holds and serves another content than `catalogue` of the same package.
    pub(super) async fn sweep(&self, catalogue: &Catalogue) -> anyhow::Result<()> {
        let found = self.within().servers(&bundle_selector(&catalogue.package)).await;
        let mut found = found.context("cannot look for older catalogues")?;
        found.retain(|object| name(object) != catalogue.name());
        removal::remove_all(self.client, &found, self.tell).await
    }

    pub(super) fn within(&self) -> Objects {
        Objects::within(self.client, self.namespace)
    }

    async fn apply(&self, documents: &[Value]) -> anyhow::Result<()> {
        let mut tell = self.tell;
        Ok(cluster::apply(self.client, MANAGER, documents, &mut tell).await?)
    }

    /// An object that was made a moment ago; it is an error if somebody has removed it since.
    async fn expected(&self, kind: Kind, called: &str) -> anyhow::Result<Value> {
        let shown = format!("{}/{called}", kind.name().to_lowercase());
        let found = self.within().find(kind, called).await;
        let found = found.with_context(|| format!("cannot look at {shown}"))?;
        found.with_context(|| format!("{shown} is gone: somebody else removed it"))
    }

    /// The pods in which OLM unpacks bundles.
    async fn unpacking(&self) -> anyhow::Result<Vec<Pod>> {
        let pods = self.within().pods("job-name").await;
        let mut pods = pods.context("cannot look at the pods that unpack")?;
        pods.retain(|pod| {
            let containers = pod.spec.as_ref().map(|spec| spec.containers.as_slice());
            containers.unwrap_or_default().iter().any(|container| container.name == "extract")
        });
        Ok(pods)
    }
}
