//! Removes the definitions of an operator's kinds with all their objects. Works whether the operator runs,
//! has ended or never was: its finalizer is taken off, and again while objects go, should it be put on
//! meanwhile.

use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::discovery::ApiResource;
use kube::{Api, Client, ResourceExt as _};
use serde_json::json;
use tokio::time::{Instant, sleep};

use super::collect::delete_all;
use super::finalizers::{Installed, Meta, failed, installed, objects, remove_from, shown};
use super::{Change, ClusterError, Step, Tell};

/// So long nothing may happen before people are told what is waited for.
const PATIENCE: Duration = Duration::from_secs(30);
const FIRST_LOOK: Duration = Duration::from_millis(100);
/// Each look lists all objects that are left.
const LONGEST_LOOK: Duration = Duration::from_secs(1);
/// So many are named.
const NAMED: usize = 20;

/// How many objects of the defined kinds the cluster has.
pub async fn count(
    client: &Client,
    definitions: &[CustomResourceDefinition],
) -> Result<usize, ClusterError> {
    let mut count = 0;
    for definition in definitions {
        if let Some(found) = installed(client, &definition.name_any()).await? {
            count += objects(client, &found.kind).await?.len();
        }
    }
    Ok(count)
}

/// Deletes all objects of the defined kinds with what belongs to them, then the definitions, and waits until
/// they are gone. The finalizer of `operator` is taken off. A definition that is not there is fine.
///
/// # Errors
/// [`ClusterError::Held`] if objects wait for finalizers of others and nothing happens for 30 seconds.
pub async fn remove_definitions(
    client: &Client,
    operator: &str,
    definitions: &[CustomResourceDefinition],
    tell: &mut Tell<'_>,
) -> Result<(), ClusterError> {
    for definition in definitions {
        let name = definition.name_any();
        let change = match installed(client, &name).await? {
            Some(Installed { kind, converts }) => {
                if converts {
                    stop_converting(client, &name).await?;
                }
                delete_all(client, &kind, operator).await?;
                remove(client, &name, &kind, operator).await?
            }
            None => Change::NotFound,
        };
        let resource = "customresourcedefinition.apiextensions.k8s.io".to_owned();
        tell(Step { resource, name, change });
    }
    Ok(())
}

/// Has the definition called `name` convert nothing. Objects that nobody converts any more cannot be read in every
/// version, and the API server would try for most of a minute.
pub async fn stop_converting(client: &Client, name: &str) -> Result<(), ClusterError> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let patch = json!({"spec": {"conversion": {"strategy": "None", "webhook": null}}});
    match api.patch(name, &PatchParams::default(), &Patch::Merge(patch)).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(()),
        patched => patched.map(drop).map_err(|source| failed("change", name, source)),
    }
}

async fn remove(
    client: &Client,
    name: &str,
    kind: &ApiResource,
    operator: &str,
) -> Result<Change, ClusterError> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    match api.delete(name, &DeleteParams::background()).await {
        Ok(_) => {}
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(Change::NotFound),
        Err(source) => return Err(failed("delete", name, source)),
    }
    let (mut pause, mut since, mut fewest) = (FIRST_LOOK, Instant::now(), usize::MAX);
    loop {
        let found = api.get_metadata_opt(name).await;
        let Some(found) = found.map_err(|source| failed("look at", name, source))? else {
            return Ok(Change::Deleted);
        };
        let left = objects(client, kind).await?;
        remove_from(client, kind, operator, &left).await?;
        if left.len() < fewest {
            (fewest, since) = (left.len(), Instant::now());
        }
        if since.elapsed() > PATIENCE {
            return Err(stuck(name, kind, &left, found.finalizers()));
        }
        sleep(pause).await;
        pause = (pause * 2).min(LONGEST_LOOK);
    }
}

fn stuck(name: &str, kind: &ApiResource, left: &[Meta], finalizers: &[String]) -> ClusterError {
    let mut held: Vec<_> = left.iter().filter(|object| !object.finalizers().is_empty()).collect();
    if held.is_empty() {
        let (what, finalizers) = (name.to_owned(), finalizers.to_vec());
        return ClusterError::StillThere { what, after: PATIENCE, finalizers };
    }
    let more = held.len().saturating_sub(NAMED);
    held.truncate(NAMED);
    let line = |object: &&Meta| format!("{}: {}", shown(object), object.finalizers().join(", "));
    let mut objects: Vec<_> = held.iter().map(line).collect();
    if more > 0 {
        objects.push(format!("and {more} more"));
    }
    let resource = crate::write::resource(kind);
    ClusterError::Held { definition: name.to_owned(), resource, objects }
}
