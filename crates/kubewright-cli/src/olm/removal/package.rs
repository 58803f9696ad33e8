//! Everything of a package in a namespace, off the cluster: what `run bundle` made, and what OLM made of it.
//!
//! Owns the order, in which nothing needs what is gone: the Subscription first, or OLM installs again; the kinds
//! with their objects while their operator still runs; then the release with its operator; then the kinds that
//! could not go before, as where the operator's webhooks refuse it or do not answer; then what is left of OLM's.
//! Every step is fine with what is not there, so that it can begin anywhere.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Client, ResourceExt};
use kubewright::cluster;
use kubewright_testenv::progress::elapsed;
use serde_json::{Value, json};

use super::belonging::{
    brought, is_under_way, other_owner, owned, plans_of, promised, readers, releases, unshared,
};
use super::instances::{self, Operator};
use super::{POLL, remove, remove_all};
use crate::cluster::print;
use crate::olm::objects::{Kind, Objects, name, resource, text};
use crate::olm::{BUNDLE, MANAGED, bundle_selector, component_label};
use crate::{output, style};

/// What OLM makes for the whole cluster.
const OF_THE_CLUSTER: [(&str, &str); 4] = [
    ("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io/v1", "ClusterRole"),
    ("admissionregistration.k8s.io/v1", "ValidatingWebhookConfiguration"),
    ("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration"),
];

/// So long OLM goes on with a plan that is gone.
const UNDER_WAY: Duration = Duration::from_secs(3);

/// A package that is to go.
pub(crate) struct Package<'a> {
    pub(crate) client: &'a Client,
    pub(crate) name: &'a str,
    pub(crate) namespace: &'a str,
    pub(crate) keep_definitions: bool,
    /// So long its operator may take, for its objects and to end.
    pub(crate) limit: Duration,
}

impl Package<'_> {
    /// Removes it; true if there was anything.
    pub(crate) async fn remove(&self) -> anyhow::Result<bool> {
        let Self { client, name, namespace, .. } = *self;
        let cannot = || format!("cannot look for {name} in namespace {namespace}");
        let subscriptions = Objects::within(client, namespace).all(Kind::Subscription).await;
        let (subscribed, others): (Vec<_>, Vec<_>) = subscriptions
            .with_context(cannot)?
            .into_iter()
            .partition(|one| text(one, "/spec/name") == name);
        let all_plans = Objects::everywhere(client).all(Kind::InstallPlan).await;
        let (plans, other_plans) = plans_of(&all_plans.with_context(cannot)?, &subscribed);
        let names = promised(&subscribed, &others, &plans);
        let brought = brought(&plans, &other_plans, &names);
        let catalogue = self.catalogue().await.with_context(cannot)?;
        let mut found = !subscribed.is_empty() || !catalogue.is_empty();
        let is_busy = plans.iter().any(is_under_way);
        for list in [&brought, &subscribed, &unshared(plans, &others), &catalogue] {
            remove_all(client, list, print).await?;
        }
        if is_busy {
            tokio::time::sleep(UNDER_WAY).await;
            remove_all(client, &brought, print).await?;
        }
        let mut left = BTreeSet::new();
        while let Some(definitions) = self.remove_releases(&names).await? {
            left.extend(definitions);
            found = true;
        }
        found |= self.remove_left(left).await?;
        found |= self.remove_lease().await?;
        let is_rest = self.remove_rest().await?;
        Ok(found || is_rest)
    }

    /// The releases with their kinds, and what belongs to them; which kinds could not go, or none if there are no
    /// releases.
    async fn remove_releases(
        &self,
        names: &BTreeSet<String>,
    ) -> anyhow::Result<Option<BTreeSet<String>>> {
        let Self { client, name, namespace, .. } = *self;
        let cannot = || format!("cannot look for releases of {name} in namespace {namespace}");
        let all = self.all_releases().await?;
        let releases = releases(&component_label(name, namespace), namespace, names, &all);
        if releases.is_empty() {
            return Ok(None);
        }
        let leases = self.leases(&releases).await.with_context(cannot)?;
        let mut left = BTreeSet::new();
        for definition in self.definitions(&releases, &all).await? {
            if let Err(error) = self.remove_definition(&definition, &releases).await {
                let why = kubewright::chain(error.as_ref());
                style::warn(&format!("{why}; the operator goes first, then this"));
                left.insert(definition);
            }
        }
        remove_all(client, &releases, print).await?;
        self.remove_of_the_cluster(&releases).await?;
        self.ended(&releases).await?;
        remove_all(client, &leases, print).await?;
        Ok(Some(left))
    }

    /// The kinds that are still there with nobody to look after them; true if there was one.
    async fn remove_left(&self, mut left: BTreeSet<String>) -> anyhow::Result<bool> {
        let all = self.all_releases().await?;
        left.extend(self.definitions(&[], &all).await?);
        for definition in &left {
            cluster::stop_converting(self.client, definition).await?;
            self.remove_definition(definition, &[]).await?;
        }
        Ok(!left.is_empty())
    }

    /// All that OLM has installed, wherever.
    async fn all_releases(&self) -> anyhow::Result<Vec<Value>> {
        let all = Objects::everywhere(self.client).all(Kind::ClusterServiceVersion).await;
        all.context("cannot look at what OLM has installed")
    }

    /// What serves the catalogue, and the `CatalogSource`.
    async fn catalogue(&self) -> Result<Vec<Value>, kube::Error> {
        let within = Objects::within(self.client, self.namespace);
        let source = Kind::CatalogSource.resource();
        let labels = bundle_selector(self.name);
        let mut found = within.labelled(&source, &labels).await?;
        found.extend(within.servers(&labels).await?);
        Ok(found)
    }

    /// Waits until no pod of the operator is left: one that runs makes its lease anew.
    async fn ended(&self, releases: &[Value]) -> anyhow::Result<()> {
        let within = Objects::within(self.client, self.namespace);
        let begun = Instant::now();
        for release in releases {
            loop {
                let left = within.operator(release).await;
                let left = left.context("cannot look at the operator's pods")?;
                let Some(pod) = left.first().map(ResourceExt::name_any) else { break };
                anyhow::ensure!(
                    begun.elapsed() < self.limit,
                    "pod/{pod} is still there after {}, although what made it is gone: `kubectl describe pod {pod} \
                     --namespace {}` tells more",
                    elapsed(self.limit),
                    self.namespace
                );
                tokio::time::sleep(POLL).await;
            }
        }
        Ok(())
    }

    /// The kinds of the releases, and those that OLM has labelled as the package's; none if they are to be kept.
    async fn definitions(
        &self,
        releases: &[Value],
        all: &[Value],
    ) -> anyhow::Result<BTreeSet<String>> {
        if self.keep_definitions {
            return Ok(BTreeSet::new());
        }
        let kind = resource("apiextensions.k8s.io/v1", "CustomResourceDefinition");
        let label = component_label(self.name, self.namespace);
        let labelled = Objects::everywhere(self.client).labelled(&kind, &label).await;
        let labelled = labelled.context("cannot look for the package's kinds")?;
        let mut names: BTreeSet<String> = releases.iter().flat_map(owned).collect();
        names.extend(labelled.iter().map(|one| name(one).to_owned()));
        let mut own = BTreeSet::new();
        for definition in names {
            if let Some(other) = other_owner(&definition, releases, all) {
                output::write(format!("{definition} stays: {other} has it, too\n"))?;
            } else {
                own.insert(definition);
            }
        }
        Ok(own)
    }

    /// A kind with all its objects, which the operator of the releases lets go.
    async fn remove_definition(&self, definition: &str, releases: &[Value]) -> anyhow::Result<()> {
        let within = Objects::within(self.client, self.namespace);
        let operator = Operator { within, releases, limit: self.limit };
        instances::remove(self.client, definition, &operator).await?;
        let (removed, mut tell) = (named(definition), print);
        let removed = std::slice::from_ref(&removed);
        // The finalizer of an operator of this library is taken off, should it have ended already.
        Ok(cluster::remove_definitions(self.client, self.name, removed, &mut tell).await?)
    }

    /// What OLM made for releases or groups in no namespace, and leaves where it does not run.
    async fn remove_of_the_cluster(&self, owners: &[Value]) -> anyhow::Result<()> {
        let everywhere = Objects::everywhere(self.client);
        for owner in owners {
            let owner = format!("olm.owner={},olm.owner.namespace={}", name(owner), self.namespace);
            for (api_version, kind) in OF_THE_CLUSTER {
                let found = everywhere.labelled(&resource(api_version, kind), &owner).await;
                let found = found.with_context(|| format!("cannot look for {kind}s"))?;
                remove_all(self.client, &found, print).await?;
            }
        }
        let bindings = resource("rbac.authorization.k8s.io/v1", "RoleBinding");
        let bindings =
            Objects::within(self.client, "kube-system").labelled(&bindings, MANAGED).await;
        let bindings = bindings.context("cannot look for RoleBindings in kube-system")?;
        remove_all(self.client, &readers(&bindings, owners, self.namespace), print).await
    }

    /// The group, and OLM's own list; true if the group was there.
    async fn remove_rest(&self) -> anyhow::Result<bool> {
        let within = Objects::within(self.client, self.namespace);
        let cannot = "cannot look at what else is in the namespace";
        let others = within.all(Kind::Subscription).await.context(cannot)?;
        let groups = if others.is_empty() {
            within.labelled(&Kind::OperatorGroup.resource(), BUNDLE).await.context(cannot)?
        } else {
            Vec::new()
        };
        remove_all(self.client, &groups, print).await?;
        self.remove_of_the_cluster(&groups).await?;
        let operator = json!({
            "apiVersion": Kind::Operator.api_version(), "kind": Kind::Operator.name(),
            "metadata": { "name": format!("{}.{}", self.name, self.namespace) },
        });
        remove(self.client, &operator, print).await?;
        Ok(!groups.is_empty())
    }
}

fn named(definition: &str) -> CustomResourceDefinition {
    let mut named = CustomResourceDefinition::default();
    named.metadata.name = Some(definition.to_owned());
    named
}
