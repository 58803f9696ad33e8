//! Removes children that are ours and no longer wanted, each guarded by uid and resourceVersion.

use std::sync::Arc;

use kube::api::{DeleteParams, Preconditions};
use tracing::info;

use crate::error::Error;
use crate::held::Held;
use crate::key::Key;
use crate::pass::{Wanted, address};
use crate::store::{Arrival, Store};
use crate::wiring::Source;
use crate::write::{Request, Writer};

/// Deletes the children of the owner `uid` in `sources` that are not in `wanted`. Says how many.
pub(crate) async fn prune(
    writer: &Writer,
    sources: &[Source],
    uid: &str,
    wanted: &Wanted,
) -> Result<usize, Error> {
    let mut deleted = 0;
    for source in sources.iter().filter(|source| source.ownership.is_some()) {
        let store = &source.store;
        for held in store.indexed(uid) {
            let key = Key::new(held.namespace(), held.name());
            if !held.deleting() && !wanted.contains(&(address(store), key.clone())) {
                delete(writer, store, &key, &held).await?;
                deleted += 1;
            }
        }
    }
    Ok(deleted)
}

async fn delete(writer: &Writer, store: &Arc<Store>, key: &Key, held: &Held) -> Result<(), Error> {
    let preconditions = Preconditions {
        uid: Some(held.uid().to_owned()),
        resource_version: Some(held.version().to_string()),
    };
    let parameters =
        DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() };
    let request = Request { verb: "delete", doing: "delete", kind: &store.kind, key };
    let api = writer.api(store, key);
    match writer.send(request, api.delete(key.name(), &parameters)).await {
        Ok(answer) => {
            match answer.left().filter(crate::raw::Raw::deleting) {
                Some(going) => drop(store.put(going, Arrival::Own)),
                None => store.deleted(key, held.uid()),
            }
            let (kind, namespace, name) = (&store.kind.kind, key.namespace(), key.name());
            info!(kind, namespace, name, "deleted");
            Ok(())
        }
        Err(error) if error.status().is_some_and(|status| status.code == 404) => {
            store.deleted(key, held.uid());
            Ok(())
        }
        Err(error) => Err(error),
    }
}
