//! The operator's namespace, once the operator is gone: it goes if it is the operator's and holds
//! nothing of somebody else.

use anyhow::Context as _;
use k8s_openapi::api::core::v1::{
    ConfigMap, Namespace, PersistentVolumeClaim, Pod, Secret, Service,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DynamicObject, ListParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource, ResourceExt as _};
use kubewright::cluster;
use serde::de::DeserializeOwned;
use serde_json::json;

use crate::cluster::print;
use crate::output;
use crate::verbs::deploy::OWNER;

/// Every namespace has it.
const EVERYWHERE: &str = "kube-root-ca.crt";

/// Removes the namespace called `name`, or says why not. `kept` are kinds whose objects stay.
pub(super) async fn remove(
    client: &Client,
    operator: &str,
    name: &str,
    kept: &[CustomResourceDefinition],
) -> anyhow::Result<()> {
    let cannot = || format!("cannot look at namespace {name}");
    let api: Api<Namespace> = Api::all(client.clone());
    if let Some(found) = api.get_opt(name).await.with_context(cannot)? {
        if found.labels().get(OWNER).is_none_or(|owner| owner != operator) {
            return output::write(format!("namespace/{name} left: it is not the operator's\n"));
        }
        if let Some(holds) = holds(client, name, kept).await.with_context(cannot)? {
            return output::write(format!("namespace/{name} left: it holds {holds}\n"));
        }
    }
    let document = json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } });
    cluster::delete(client, &[document], &mut print).await?;
    Ok(())
}

/// What of others is in the namespace, if something is.
async fn holds(
    client: &Client,
    namespace: &str,
    kept: &[CustomResourceDefinition],
) -> Result<Option<String>, kube::Error> {
    for definition in kept {
        let Some(kind) = cluster::served(definition) else { continue };
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &kind);
        let list = api.list_metadata(&ListParams::default().limit(1)).await?;
        if let Some(first) = list.items.first() {
            return Ok(Some(format!("{}/{}", kind.plural, first.name_any())));
        }
    }
    let found = [
        first::<Pod>(client, namespace).await?,
        first::<Service>(client, namespace).await?,
        first::<PersistentVolumeClaim>(client, namespace).await?,
        first::<Secret>(client, namespace).await?,
        first::<ConfigMap>(client, namespace).await?,
    ];
    Ok(found.into_iter().flatten().next())
}

/// The first object of a kind, but for those that every namespace has.
async fn first<K>(client: &Client, namespace: &str) -> Result<Option<String>, kube::Error>
where
    K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
        + Clone
        + DeserializeOwned
        + std::fmt::Debug,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    let list = api.list_metadata(&ListParams::default()).await?;
    // What is owned or going goes with its owner or soon.
    let stays = |name: &str| name != EVERYWHERE;
    let mut others = list.items.iter().filter(|object| {
        object.owner_references().is_empty()
            && object.metadata.deletion_timestamp.is_none()
            && stays(&object.name_any())
    });
    let kind = K::kind(&()).to_lowercase();
    Ok(others.next().map(|object| format!("{kind}/{}", object.name_any())))
}
