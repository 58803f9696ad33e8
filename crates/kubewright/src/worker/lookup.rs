//! Looks for what an object began to name: the watch had no reason to keep it before.

use crate::error::Error;
use crate::held::Held;
use crate::store::Arrival;
use crate::worker::{Worker, key_of};
use crate::write::Request;

impl Worker {
    /// One request for each name that nobody has looked for yet; none in the common case.
    pub(super) async fn look_for_references(&self, held: &Held) -> Result<(), Error> {
        for store in self.sources.iter().map(|source| &source.store) {
            for key in store.unknown_references(&self.primary, &key_of(held)) {
                let api = self.writer.api(store, &key);
                let request =
                    Request { verb: "get", doing: "look at", kind: &store.kind, key: &key };
                let _mute = store.mute(&key);
                if let Some(raw) = self.writer.send(request, api.get_opt(key.name())).await? {
                    store.put(raw, Arrival::Own);
                }
                store.looked_for(&key);
            }
        }
        Ok(())
    }
}
