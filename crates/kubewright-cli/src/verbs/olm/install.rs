//! `kubewright olm install`: applies OLM's manifests and waits until all of it runs.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::Args;
use k8s_openapi::api::apps::v1::Deployment;
use kube::{Api, Client, ResourceExt as _};
use kubewright::cluster;
use kubewright_testenv::binaries::{OLM_VERSION, OPM_VERSION};
use kubewright_testenv::cache::Cache;
use kubewright_testenv::images::{olm_image, opm_image};
use kubewright_testenv::olm;
use kubewright_testenv::progress::Progress;
use serde_json::Value;

use super::Limit;
use crate::cluster::{Cluster, print};
use crate::olm::interrupt::unless_interrupted;
use crate::olm::look::{self, Look, Sentence};
use crate::olm::objects::{Kind, Objects, name, resource, text};
use crate::olm::{MANAGER, OLM, installed, manifests, wait};
use crate::output;
use crate::verbs::dev;

const WAY_OUT: &str = "what is there so far stays, and the same command goes on with it; `kubewright olm uninstall` \
                       removes it";

#[derive(Debug, Args)]
pub(in crate::verbs) struct Install {
    /// The version of OLM
    #[arg(long, default_value = OLM_VERSION, value_parser = version, conflicts_with_all = ["local", "manifests"])]
    version: String,
    /// Install from these files, such as `crds.yaml` and `olm.yaml` of a release; can be repeated
    #[arg(long, value_name = "FILE", conflicts_with = "local")]
    manifests: Vec<PathBuf>,
    /// Build it from source for the Kubernetes of `kubewright dev`, and give its images to the nodes
    #[arg(long)]
    local: bool,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    cluster: Cluster,
}

impl Install {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        self.cluster.connected(async |client| expect_free(&client).await)?;
        let mut documents = manifests::prepared(self.documents()?, &self.named());
        self.cluster.connected(async |client| {
            unless_interrupted(WAY_OUT, Box::pin(self.install(&client, &mut documents))).await?;
            output::write(format!("OLM {} runs\n", self.named()))
        })
    }

    /// What the label says that was installed.
    fn named(&self) -> String {
        if self.manifests.is_empty() { self.version.clone() } else { "files".to_owned() }
    }

    /// What is to be applied, before any of it is: what cannot be had is known at once.
    fn documents(&self) -> anyhow::Result<Vec<Value>> {
        if self.local {
            return local();
        }
        if self.manifests.is_empty() {
            return manifests::released(&self.version);
        }
        let mut documents = Vec::new();
        for path in &self.manifests {
            let text = std::fs::read_to_string(path);
            let text = text.with_context(|| format!("cannot read {}", path.display()))?;
            documents.extend(cluster::documents(&text)?);
        }
        Ok(documents)
    }

    async fn install(&self, client: &Client, documents: &mut [Value]) -> anyhow::Result<()> {
        leave_to_others(client, documents).await?;
        let mut tell = print;
        cluster::apply(client, MANAGER, documents, &mut tell).await?;
        let of_kind = |kind: &'static str| {
            documents.iter().filter(move |document| text(document, "/kind") == kind)
        };
        for deployment in of_kind("Deployment") {
            let namespace = text(deployment, "/metadata/namespace");
            self.until_serving(client, namespace, name(deployment)).await?;
        }
        for release in of_kind("ClusterServiceVersion") {
            self.until_running(client, release).await?;
        }
        // A release has succeeded as soon as one of its pods serves; `olm status` asks for all.
        let parts = installed::parts(client).await.context("cannot look at OLM's Deployments")?;
        for part in parts {
            let namespace = part.namespace().unwrap_or_default();
            self.until_serving(client, &namespace, &part.name_any()).await?;
        }
        Ok(())
    }

    async fn until_serving(
        &self,
        client: &Client,
        namespace: &str,
        name: &str,
    ) -> anyhow::Result<()> {
        let api: Api<Deployment> = Api::namespaced(client.clone(), namespace);
        let within = Objects::within(client, namespace);
        wait::until(self.limit.timeout, async || {
            let deployment = api.get(name).await;
            let deployment = deployment.with_context(|| format!("cannot look at {name}"))?;
            let labels =
                deployment.spec.as_ref().and_then(|spec| spec.selector.match_labels.as_ref());
            let labels = labels.into_iter().flatten().map(|(key, value)| format!("{key}={value}"));
            let labels = labels.collect::<Vec<_>>().join(",");
            let pods = within.pods(&labels).await;
            let pods = pods.with_context(|| format!("cannot look at the pods of {name}"))?;
            Ok(look::deployment::look(&deployment, &pods))
        })
        .await
    }

    /// OLM installs a part of itself through itself.
    async fn until_running(&self, client: &Client, document: &Value) -> anyhow::Result<()> {
        let (namespace, name) = (text(document, "/metadata/namespace"), name(document));
        let within = Objects::within(client, namespace);
        wait::until(self.limit.timeout, async || {
            let release = within.find(Kind::ClusterServiceVersion, name).await;
            let Some(release) = release.with_context(|| format!("cannot look at csv/{name}"))?
            else {
                let why = "somebody has removed it";
                return Ok(Look::Failed(Sentence::new(format!("csv/{name}"), why)));
            };
            let pods = within.pods(&format!("app={name}")).await;
            let pods = pods.with_context(|| format!("cannot look at the pods of {name}"))?;
            Ok(look::release::look(&release, &pods))
        })
        .await
    }
}

/// With or without the `v` that tags have.
#[expect(clippy::unnecessary_wraps, reason = "that is what a parser of values returns")]
fn version(text: &str) -> Result<String, String> {
    Ok(text.strip_prefix('v').unwrap_or(text).to_owned())
}

/// Takes the label off what is on the cluster already and has none: it was not put there by us.
async fn leave_to_others(client: &Client, documents: &mut [Value]) -> anyhow::Result<()> {
    let everywhere = Objects::everywhere(client);
    for (api_version, kind) in manifests::SHARED {
        let theirs = everywhere.names(&resource(api_version, kind), &format!("!{OLM}")).await;
        let theirs = theirs.with_context(|| format!("cannot look for {kind}s"))?;
        manifests::left_to_others(documents, kind, &theirs);
    }
    Ok(())
}

/// An error if there is an OLM that somebody else has installed.
async fn expect_free(client: &Client) -> anyhow::Result<()> {
    if !installed::is_there(client).await? {
        return Ok(());
    }
    let parts = installed::parts(client).await.context("cannot look at OLM's Deployments")?;
    // The packageserver is made by OLM itself and has no label of whoever installs.
    let is_theirs =
        |one: &&Deployment| one.name_any() != "packageserver" && !one.labels().contains_key(OLM);
    if let Some(theirs) = parts.iter().find(is_theirs) {
        anyhow::bail!(
            "OLM is on this cluster already, in namespace {}, and was not put there by `kubewright olm install`: it can \
             be used as it is, `kubewright olm status` tells how it is",
            theirs.namespace().unwrap_or_default()
        );
    }
    Ok(())
}

/// Builds OLM, and gives its images to the nodes of `kubewright dev`.
fn local() -> anyhow::Result<Vec<Value>> {
    dev::expect_nodes()?;
    let olm::Built { manifests, images } =
        olm::built(&Cache::from_environment()?, Progress::Shown)?;
    for image in &images {
        dev::give(&image.display().to_string())?;
    }
    let text = std::fs::read_to_string(&manifests);
    let text = text.with_context(|| format!("cannot read {}", manifests.display()))?;
    let documents = cluster::documents(&text)?;
    Ok(crate::olm::manifests::localised(
        documents,
        &olm_image(OLM_VERSION),
        &opm_image(OPM_VERSION),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_the_same_with_and_without_its_v() {
        assert_eq!(version("v0.28.0"), version("0.28.0"));
    }
}
