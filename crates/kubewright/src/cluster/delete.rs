//! Deletes objects, last applied first, and waits until each is gone.

use std::time::Duration;

use kube::api::DeleteParams;
use kube::{Client, ResourceExt as _};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::target::{Kinds, Target};
use super::{Change, ClusterError, POLL, Tell};

/// Longer than pods may take to end by default (30 s), and a namespace with them.
const GONE_WITHIN: Duration = Duration::from_mins(3);

/// Deletes the objects in the reverse of the order given, each gone before the next: what runs pods is
/// gone only with its pods, so that they can end with the account, the roles and the namespace that they
/// have. What is not there is fine.
pub async fn delete(
    client: &Client,
    documents: &[Value],
    tell: &mut Tell<'_>,
) -> Result<(), ClusterError> {
    let mut kinds = Kinds::new(client);
    for document in documents.iter().rev() {
        match kinds.target(document).await {
            Ok(target) => {
                let change = delete_one(&target).await?;
                tell(target.step(change));
            }
            Err(ClusterError::NotServed { .. }) => {} // without the kind there is no object
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Deletes one object and waits until it is gone.
async fn delete_one(target: &Target) -> Result<Change, ClusterError> {
    let parameters =
        if target.runs_pods() { DeleteParams::foreground() } else { DeleteParams::background() };
    let uid = match target.api.delete(&target.name, &parameters).await {
        Ok(answer) => answer.left().and_then(|object| object.uid()),
        Err(kube::Error::Api(status)) if status.code == 404 => return Ok(Change::NotFound),
        Err(source) => return Err(target.failed("delete", source)),
    };
    let Some(uid) = uid else { return Ok(Change::Deleted) }; // a mere status: it is gone
    until_gone(target, &uid).await?;
    Ok(Change::Deleted)
}

async fn until_gone(target: &Target, uid: &str) -> Result<(), ClusterError> {
    let begun = Instant::now();
    loop {
        let found = target.api.get_metadata_opt(&target.name).await;
        let found = found.map_err(|source| target.failed("look at", source))?;
        // Another of the same name is somebody's new one.
        let Some(found) = found.filter(|found| found.uid().as_deref() == Some(uid)) else {
            return Ok(());
        };
        if begun.elapsed() > GONE_WITHIN {
            let (what, after) = (target.to_string(), GONE_WITHIN);
            let finalizers = found.finalizers().to_vec();
            return Err(ClusterError::StillThere { what, after, finalizers });
        }
        sleep(POLL).await;
    }
}
