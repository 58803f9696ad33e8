//! Takes objects off a cluster, whoever should have helped with it: what hangs on a finalizer whose owner does
//! not come is told, and freed.
//!
//! Owns the order in which a package goes (`package`) and how one object does. Must not decide by itself that
//! an object belongs to a package: labels and OLM's own lists do.

mod belonging;
mod instances;
mod lease;
pub(crate) mod package;

use std::time::{Duration, Instant};

use anyhow::Context as _;
use kube::api::{DeleteParams, DynamicObject, Patch, PatchParams};
use kube::core::ApiResource;
use kube::{Api, Client, Error, ResourceExt as _};
use kubewright::cluster::{Change, Step};
use kubewright_testenv::progress::elapsed;
use serde_json::{Value, json};

use super::objects::{Objects, name, resource, text};
use crate::style;

/// So long whoever put a finalizer on may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// Longer than pods take to end, and a namespace with them.
const LIMIT: Duration = Duration::from_mins(3);
const POLL: Duration = Duration::from_millis(250);

/// Deletes an object, which says itself what it is, waits until it is gone, and tells it. What is not there is
/// fine.
pub(crate) async fn remove(client: &Client, object: &Value, tell: fn(Step)) -> anyhow::Result<()> {
    let kind = resource(text(object, "/apiVersion"), text(object, "/kind"));
    let objects = match text(object, "/metadata/namespace") {
        "" => Objects::everywhere(client),
        namespace => Objects::within(client, namespace),
    };
    remove_named(&objects.api(&kind), &kind, name(object), tell).await
}

/// The same for all of a list.
pub(crate) async fn remove_all(
    client: &Client,
    objects: &[Value],
    tell: fn(Step),
) -> anyhow::Result<()> {
    for object in objects {
        remove(client, object, tell).await?;
    }
    Ok(())
}

async fn remove_named(
    api: &Api<DynamicObject>,
    kind: &ApiResource,
    name: &str,
    tell: fn(Step),
) -> anyhow::Result<()> {
    let shown = shown(kind);
    let cannot = || format!("cannot delete {shown}/{name}");
    // What runs pods is gone only with them.
    let is_of_pods = kind.group == "apps";
    let parameters =
        if is_of_pods { DeleteParams::foreground() } else { DeleteParams::background() };
    match api.delete(name, &parameters).await {
        Ok(_) => {}
        Err(Error::Api(status)) if status.code == 404 => return Ok(()),
        Err(error) => return Err(error).with_context(cannot),
    }
    let (begun, mut is_freed) = (Instant::now(), false);
    loop {
        let left = match api.get_metadata(name).await {
            Err(Error::Api(status)) if status.code == 404 => break,
            left => left.with_context(cannot)?,
        };
        if left.metadata.deletion_timestamp.is_none() {
            break; // somebody has made a new one
        }
        let finalizers = left.finalizers();
        if begun.elapsed() > LIMIT {
            let finalizers = finalizers.join(", ");
            anyhow::bail!(
                "{shown}/{name} is still there after {LIMIT:?}; it has the finalizers [{finalizers}]"
            );
        }
        // A namespace has none of its own and goes when it is empty; what waits for its pods is waited for.
        let is_held = !finalizers.is_empty() && !finalizers.iter().any(|one| is_of_kubernetes(one));
        if begun.elapsed() > PATIENCE && is_held && !is_freed {
            free(api, kind, name, finalizers, PATIENCE).await?;
            is_freed = true;
        }
        tokio::time::sleep(POLL).await;
    }
    tell(Step { resource: shown, name: name.to_owned(), change: Change::Deleted });
    Ok(())
}

/// Takes the finalizers off that somebody has put on, and says so.
async fn free(
    api: &Api<DynamicObject>,
    kind: &ApiResource,
    name: &str,
    finalizers: &[String],
    after: Duration,
) -> anyhow::Result<()> {
    let (kept, taken): (Vec<_>, Vec<_>) =
        finalizers.iter().cloned().partition(|one| is_of_kubernetes(one));
    if taken.is_empty() {
        return Ok(());
    }
    let (shown, taken, after) = (shown(kind), taken.join(", "), elapsed(after));
    style::warn(&format!(
        "{shown}/{name} waits for {taken}, and nobody has done that work: taken off after {after}"
    ));
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": kept } }));
    match api.patch(name, &PatchParams::default(), &patch).await {
        Ok(_) => Ok(()),
        Err(Error::Api(status)) if status.code == 404 => Ok(()),
        Err(error) => Err(error).with_context(|| format!("cannot free {shown}/{name}")),
    }
}

/// True if the garbage collector does what the finalizer waits for: without it, what belongs to the object may stay.
fn is_of_kubernetes(finalizer: &str) -> bool {
    matches!(finalizer, "foregroundDeletion" | "orphan")
}

/// As `kubectl` prints a kind.
fn shown(kind: &ApiResource) -> String {
    let dot = if kind.group.is_empty() { "" } else { "." };
    format!("{}{dot}{}", kind.kind.to_lowercase(), kind.group)
}
