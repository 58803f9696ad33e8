//! The objects of a kind that goes: deleted while their operator still runs, so that it can do its work.

use std::time::Instant;

use anyhow::Context as _;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, DynamicObject, ListParams, PartialObjectMeta};
use kube::core::ApiResource;
use kube::{Api, Client, Error, ResourceExt as _};
use kubewright::cluster;

use super::{PATIENCE, POLL, free};
use crate::olm::objects::Objects;

type Meta = PartialObjectMeta<DynamicObject>;

/// Deletes all objects of the definition called `name`, if it is there, and frees those that nobody frees.
pub(super) async fn remove(client: &Client, name: &str) -> anyhow::Result<()> {
    let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definition = match definitions.get(name).await {
        Err(Error::Api(status)) if status.code == 404 => return Ok(()),
        found => found.with_context(|| format!("cannot look at the definition {name}"))?,
    };
    let Some(kind) = cluster::served(&definition) else { return Ok(()) };
    let cannot = || format!("cannot delete all {name}");
    let found = list(client, &kind).await.with_context(cannot)?;
    for object in &found {
        delete(client, &kind, object).await.with_context(cannot)?;
    }
    let (mut since, mut fewest) = (Instant::now(), found.len());
    loop {
        let left = list(client, &kind).await.with_context(cannot)?;
        if left.is_empty() {
            return Ok(());
        }
        if left.len() < fewest {
            (fewest, since) = (left.len(), Instant::now());
        }
        if since.elapsed() > PATIENCE {
            for object in &left {
                let finalizers = object.finalizers().join(", ");
                free(&api(client, &kind, object), &kind, &object.name_any(), &finalizers).await?;
            }
            return Ok(()); // the definition goes next, and waits for them
        }
        tokio::time::sleep(POLL).await;
    }
}

async fn list(client: &Client, kind: &ApiResource) -> Result<Vec<Meta>, Error> {
    let api = Objects::everywhere(client).api(kind);
    match api.list_metadata(&ListParams::default()).await {
        Ok(list) => Ok(list.items),
        Err(Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

async fn delete(client: &Client, kind: &ApiResource, object: &Meta) -> Result<(), Error> {
    let api = api(client, kind, object);
    match api.delete(&object.name_any(), &DeleteParams::foreground()).await {
        Ok(_) => Ok(()),
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error),
    }
}

fn api(client: &Client, kind: &ApiResource, object: &Meta) -> Api<DynamicObject> {
    match object.namespace() {
        Some(namespace) => Objects::within(client, &namespace).api(kind),
        None => Objects::everywhere(client).api(kind),
    }
}
