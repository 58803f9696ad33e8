//! `kubewright olm uninstall`: takes off what `olm install` put there, and what OLM made for itself.
//!
//! Owns the order: what OLM helps with goes while OLM runs; its own API goes before the namespaces, which would
//! wait for an API that does not answer.

use anyhow::Context as _;
use clap::Args;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::ListParams;
use kube::{Api, Client};
use kubewright::cluster;
use serde_json::{Value, json};

use crate::cluster::{Cluster, print};
use crate::olm::installed::{self, Operator};
use crate::olm::interrupt::unless_interrupted;
use crate::olm::objects::{Kind, Objects, resource};
use crate::olm::removal::{remove, remove_all};
use crate::olm::{BUNDLE, MANAGED, MANAGER, OLM};
use crate::output;
use crate::verbs::ignored::OlmFlags;

/// What OLM's manifests have in namespaces. They go with these, but for those that were there before.
const WITHIN: [(&str, &str); 5] = [
    ("networking.k8s.io/v1", "NetworkPolicy"),
    ("rbac.authorization.k8s.io/v1", "RoleBinding"),
    ("rbac.authorization.k8s.io/v1", "Role"),
    ("v1", "Service"),
    ("v1", "ServiceAccount"),
];

#[derive(Debug, Args)]
pub(in crate::verbs) struct Uninstall {
    /// Also where operators are installed through it: they go, too; their kinds stay with all their objects
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    cluster: Cluster,
    #[command(flatten)]
    ignored: OlmFlags,
}

impl Uninstall {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        self.ignored.say("each object has its own time, and what does not go is told");
        self.cluster.connected(async |client| {
            let way_out = "the rest is still there, and the same command removes it";
            let found = unless_interrupted(way_out, self.remove(&client)).await?;
            output::write(if found { "OLM is gone\n" } else { "there is no OLM on this cluster\n" })
        })
    }

    /// True if there was something.
    async fn remove(&self, client: &Client) -> anyhow::Result<bool> {
        let everywhere = Objects::everywhere(client);
        let own = async |api_version: &str, kind: &str| {
            let found = everywhere.labelled(&resource(api_version, kind), OLM).await;
            found.with_context(|| format!("cannot look for {kind}s of OLM"))
        };
        let namespaces = own("v1", "Namespace").await?;
        let deployments = own("apps/v1", "Deployment").await?;
        let roles = own("rbac.authorization.k8s.io/v1", "ClusterRole").await?;
        if namespaces.is_empty()
            && deployments.is_empty()
            && roles.is_empty()
            && own_definitions(client).await?.is_empty()
        {
            let is_there = installed::is_there(client).await?;
            anyhow::ensure!(
                !is_there,
                "OLM is on this cluster, but was not put there by `kubewright olm install`: take it off as it was put on"
            );
            return Ok(false);
        }
        self.expect_unused(client).await?;
        if self.force {
            remove_operators(client).await?;
        }
        for kind in [Kind::CatalogSource, Kind::ClusterServiceVersion, Kind::OperatorGroup] {
            remove_all(client, &own(kind.api_version(), kind.name()).await?, print).await?;
        }
        remove(client, &api_service(), print).await?;
        remove_all(client, &deployments, print).await?;
        let definitions = own_definitions(client).await?;
        let mut tell = print;
        cluster::remove_definitions(client, MANAGER, &definitions, &mut tell).await?;
        remove_all(client, &namespaces, print).await?;
        for (api_version, kind) in WITHIN {
            remove_all(client, &own(api_version, kind).await?, print).await?;
        }
        for kind in ["ClusterRoleBinding", "ClusterRole"] {
            let kind_of = resource("rbac.authorization.k8s.io/v1", kind);
            for label in [OLM, MANAGED] {
                let found = everywhere.labelled(&kind_of, label).await;
                remove_all(
                    client,
                    &found.with_context(|| format!("cannot look for {kind}s"))?,
                    print,
                )
                .await?;
            }
        }
        let left = resource("rbac.authorization.k8s.io/v1", "RoleBinding");
        let left = Objects::within(client, "kube-system").labelled(&left, MANAGED).await;
        remove_all(client, &left.context("cannot look for RoleBindings")?, print).await?;
        Ok(true)
    }

    /// An error that names what runs through it, unless that is to go, too.
    async fn expect_unused(&self, client: &Client) -> anyhow::Result<()> {
        let found = installed::look(client).await?;
        if self.force || found.operators.is_empty() {
            return Ok(());
        }
        let line = |one: &Operator| format!("{} in namespace {}", one.package, one.namespace);
        let list = found.operators.iter().map(line).collect::<Vec<_>>().join(", ");
        anyhow::bail!(
            "operators are installed through OLM: {list}; take each off with `kubewright cleanup PACKAGE --namespace \
             NAMESPACE`, or all with --force"
        )
    }
}

/// What others installed through it, while it runs and can help; their kinds stay, as OLM would have it.
async fn remove_operators(client: &Client) -> anyhow::Result<()> {
    let everywhere = Objects::everywhere(client);
    for kind in [Kind::Subscription, Kind::CatalogSource, Kind::ClusterServiceVersion] {
        let found = everywhere.all(kind).await;
        let mut found = found.with_context(|| format!("cannot look for {}s", kind.name()))?;
        // What OLM copied goes with what it was copied from.
        found.retain(|one| one["metadata"]["labels"].get("olm.copiedFrom").is_none());
        remove_all(client, &found, print).await?;
    }
    // Nobody owns what `run bundle` has made to serve its catalogues.
    let servers = everywhere.servers(BUNDLE).await;
    remove_all(client, &servers.context("cannot look for what serves catalogues")?, print).await
}

/// OLM's kinds.
async fn own_definitions(client: &Client) -> anyhow::Result<Vec<CustomResourceDefinition>> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let found = api.list(&ListParams::default().labels(OLM)).await;
    Ok(found.context("cannot look for OLM's kinds")?.items)
}

/// The API that OLM's packageserver answers; while it is registered and nobody answers, no namespace can go.
fn api_service() -> Value {
    json!({
        "apiVersion": "apiregistration.k8s.io/v1", "kind": "APIService",
        "metadata": { "name": "v1.packages.operators.coreos.com" },
    })
}
