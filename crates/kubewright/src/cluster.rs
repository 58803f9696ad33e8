//! Puts objects on a cluster and takes them off again, for whoever installs: applies documents, deletes
//! them and waits, removes definitions with all their objects.
//!
//! Owns what `install` and `uninstall` of an operator and `deploy` and `undeploy` of the toolchain do. Must
//! not decide what is installed, nor print: each step is told to a callback, in `kubectl`'s words. A
//! running operator writes elsewhere ([`crate::Owned`]); nothing here is guarded by a lease.
//!
//! ```no_run
//! # async fn install(client: kube::Client, text: &str) -> Result<(), kubewright::cluster::ClusterError> {
//! use kubewright::cluster;
//!
//! let documents = cluster::documents(text)?;
//! let mut tell = |step: cluster::Step| println!("{step}"); // deployment.apps/guestbook created
//! cluster::apply(&client, "guestbook-install", &documents, &mut tell).await?;
//! # Ok(())
//! # }
//! ```

mod collect;
mod definitions;
mod delete;
mod error;
mod finalizers;
mod target;

use std::fmt;
use std::time::Duration;

use kube::Client;
use kube::api::{Patch, PatchParams};
use serde_json::Value;
use tokio::time::{Instant, sleep};

pub use definitions::{count, remove_definitions, stop_converting};
pub use delete::delete;
pub use error::ClusterError;
pub(crate) use finalizers::release;
pub use finalizers::{remove_finalizers, served};
use target::{Kinds, Target};

/// A definition is established within a second; a server under water takes longer.
const ESTABLISHED_WITHIN: Duration = Duration::from_secs(30);
/// How often is asked whether something is so at last.
const POLL: Duration = Duration::from_millis(100);

/// What became of one object. Printed as `kubectl` does: `deployment.apps/guestbook created`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The kind in small letters, with its group: `deployment.apps`.
    pub resource: String,
    /// The name of the object.
    pub name: String,
    /// What became of it.
    pub change: Change,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{} {}", self.resource, self.name, self.change)
    }
}

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It was not there.
    Created,
    /// It was there, and differed.
    Configured,
    /// It was there as it is to be.
    Unchanged,
    /// It is gone.
    Deleted,
    /// It was to be deleted, and was not there.
    NotFound,
}

impl fmt::Display for Change {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
            Self::Deleted => "deleted",
            Self::NotFound => "not found",
        })
    }
}

/// Who is told of each step, as it is done.
pub type Tell<'a> = dyn FnMut(Step) + Send + 'a;

/// The documents in a YAML text; empty ones are left out.
pub fn documents(text: &str) -> Result<Vec<Value>, ClusterError> {
    let documents: Vec<Value> = serde_saphyr::from_multiple(text)
        .map_err(|source| ClusterError::NotYaml(Box::new(source)))?;
    Ok(documents.into_iter().filter(|document| !document.is_null()).collect())
}

/// Makes the objects so, in the order given, by server-side apply as `manager`. What others set on the
/// same fields is overruled: whoever installs says how it is to be. A definition is waited for until it is
/// in effect, so that objects of its kind may follow it.
pub async fn apply(
    client: &Client,
    manager: &str,
    documents: &[Value],
    tell: &mut Tell<'_>,
) -> Result<(), ClusterError> {
    let mut kinds = Kinds::new(client);
    let parameters = PatchParams::apply(manager).force();
    for document in documents {
        let target = kinds.target(document).await?;
        let failed = |source| target.failed("apply", source);
        let before = target.api.get_metadata_opt(&target.name).await.map_err(failed)?;
        let patched = target.api.patch(&target.name, &parameters, &Patch::Apply(document)).await;
        let after = patched.map_err(failed)?;
        let change = match before {
            None => Change::Created,
            Some(before) if before.metadata.resource_version == after.metadata.resource_version => {
                Change::Unchanged
            }
            Some(_) => Change::Configured,
        };
        tell(target.step(change));
        if target.is_definition() {
            established(&target).await?;
            kinds.expect_new();
        }
    }
    Ok(())
}

/// Waits until objects of a new kind may be created.
async fn established(target: &Target) -> Result<(), ClusterError> {
    let begun = Instant::now();
    loop {
        let definition = target
            .api
            .get(&target.name)
            .await
            .map_err(|source| target.failed("look at", source))?;
        let conditions = definition.data["status"]["conditions"].as_array().cloned();
        let holds = |type_: &str| {
            let is = |one: &Value| one["type"] == type_ && one["status"] == "True";
            conditions.iter().flatten().any(is)
        };
        if holds("Established") {
            return Ok(());
        }
        if begun.elapsed() > ESTABLISHED_WITHIN {
            let message = conditions.map(|list| Value::Array(list).to_string()).unwrap_or_default();
            return Err(ClusterError::NotEstablished { name: target.name.clone(), message });
        }
        sleep(POLL).await;
    }
}
