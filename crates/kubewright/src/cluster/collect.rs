//! Deletes all objects of a kind, each with what belongs to it, while the kind is still there.
//!
//! The garbage collector of Kubernetes looks for new kinds every half minute. If a definition goes before
//! it was seen, the children of its objects stay for ever: nobody can tell any more whether their owner is
//! there. So the objects are deleted first, in the foreground: they wait for their children, and so for
//! the garbage collector.

use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kube::api::{DeleteParams, DynamicObject, Preconditions};
use kube::discovery::ApiResource;
use kube::{Api, Client, ResourceExt as _};
use tokio::time::{Instant, sleep};

use super::finalizers::{AT_ONCE, Meta, api, failed, objects, remove_from, remove_named, shown};
use super::{ClusterError, POLL};

/// What an object has that waits for its children.
const WAITS: &str = "foregroundDeletion";
/// So long no object may go before they stop to wait. Longer than the garbage collector and pods that do
/// not end by themselves take; a cluster without a garbage collector needs more than patience.
const PATIENCE: Duration = Duration::from_secs(45);

/// Deletes the objects and returns when none waits for its children any more. Those that others hold stay.
pub(super) async fn delete_all(
    client: &Client,
    kind: &ApiResource,
    operator: &str,
) -> Result<(), ClusterError> {
    let mut left = objects(client, kind).await?;
    stream::iter(left.iter().map(|object| delete(client, kind, object)))
        .buffer_unordered(AT_ONCE)
        .try_collect::<()>()
        .await?;
    let (mut since, mut fewest) = (Instant::now(), usize::MAX);
    while !left.is_empty() {
        left = objects(client, kind).await?;
        remove_from(client, kind, operator, &left).await?; // none can be put on any more
        left.retain(|object| object.finalizers().iter().any(|name| name == WAITS));
        if left.len() < fewest {
            (fewest, since) = (left.len(), Instant::now());
        }
        if since.elapsed() > PATIENCE {
            remove_named(client, kind, WAITS, &left).await?;
            break;
        }
        sleep(POLL).await;
    }
    Ok(())
}

/// Deletes this very object, not another of the same name.
async fn delete(client: &Client, kind: &ApiResource, object: &Meta) -> Result<(), ClusterError> {
    let preconditions = Preconditions { uid: object.uid(), resource_version: None };
    let parameters =
        DeleteParams { preconditions: Some(preconditions), ..DeleteParams::foreground() };
    let api: Api<DynamicObject> = api(client, kind, object);
    match api.delete(&object.name_any(), &parameters).await {
        Ok(_) => Ok(()),
        Err(kube::Error::Api(status)) if matches!(status.code, 404 | 409) => Ok(()),
        Err(source) => Err(failed("delete", &shown(object), source)),
    }
}
