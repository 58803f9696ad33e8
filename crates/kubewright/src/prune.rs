//! Removes children that are ours and no longer wanted, each guarded by uid and resourceVersion.

use std::sync::Arc;

use kube::ResourceExt as _;
use kube::api::{DeleteParams, Preconditions};
use tracing::info;

use crate::error::Error;
use crate::handle::Ownership;
use crate::held::Held;
use crate::key::Key;
use crate::pass::{Wanted, address};
use crate::raw::Raw;
use crate::store::{Arrival, Store};
use crate::wiring::Source;
use crate::write::{Request, Writer};

/// How often a child that changes under our hands is looked at again.
const LOOKS: usize = 3;

/// Deletes the children of the owner `uid` in `sources` that are not in `wanted`. Says how many.
pub(crate) async fn prune(
    writer: &Writer,
    sources: &[Source],
    uid: &str,
    wanted: &Wanted,
) -> Result<usize, Error> {
    let mut deleted = 0;
    let may_go = |source: &&Source| {
        matches!(source.ownership, Some(Ownership::Reference | Ownership::Label))
    };
    for source in sources.iter().filter(may_go) {
        let store = &source.store;
        for held in store.indexed(uid) {
            let key = Key::new(held.namespace(), held.name());
            if !held.deleting() && !wanted.contains(&(address(store), key.clone())) {
                delete(writer, store, uid, &held).await?;
                deleted += 1;
            }
        }
    }
    Ok(deleted)
}

/// An object that changes under our hands is looked at again; one that is not the owner's any more stays.
async fn delete(
    writer: &Writer,
    store: &Arc<Store>,
    owner: &str,
    held: &Arc<Held>,
) -> Result<(), Error> {
    let key = Key::new(held.namespace(), held.name());
    let api = writer.api(store, &key);
    let mut held = held.clone();
    let _mute = store.mute(&key);
    for look in 1..=LOOKS {
        let request = Request { verb: "delete", doing: "delete", kind: &store.kind, key: &key };
        match writer.send(request, api.delete(key.name(), &guarded(&held))).await {
            Err(error) if is(&error, 404) => store.deleted(&key, held.uid()),
            Err(error) if is(&error, 409) && look < LOOKS => {
                let request = Request { verb: "get", doing: "look at", ..request };
                let now = writer.send(request, api.get_opt(key.name())).await?;
                let same = now.filter(|now| {
                    now.uid().as_deref() == Some(held.uid())
                        && store.owner_in(now).as_deref() == Some(owner)
                        && !now.deleting()
                });
                // What else it has become, the watch tells.
                let Some(same) = same else { return Ok(()) };
                held = store.put(same, Arrival::Own);
                continue;
            }
            Err(error) => return Err(error),
            Ok(answer) => {
                match answer.left().filter(Raw::deleting) {
                    Some(going) => drop(store.put(going, Arrival::Own)),
                    None => store.deleted(&key, held.uid()),
                }
                let (kind, namespace, name) = (&store.kind.kind, key.namespace(), key.name());
                info!(kind, namespace, name, "deleted");
            }
        }
        break;
    }
    Ok(())
}

fn guarded(held: &Held) -> DeleteParams {
    let preconditions = Preconditions {
        uid: Some(held.uid().to_owned()),
        resource_version: Some(held.version().to_string()),
    };
    DeleteParams { preconditions: Some(preconditions), ..DeleteParams::background() }
}

fn is(error: &Error, code: u16) -> bool {
    error.status().is_some_and(|status| status.code == code)
}
