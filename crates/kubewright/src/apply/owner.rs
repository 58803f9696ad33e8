//! Whose child it is, and whether the owner is still there.

use super::Apply;
use crate::error::Error;
use crate::key::Key;
use crate::store::Arrival;
use crate::write::Request;

impl Apply {
    /// Asks the API server for the owner of a child that was deleted a moment ago, or names no owner any more:
    /// if the owner goes, the garbage collector takes its children or lets them go, and the two are told by
    /// different watches. What was done by hand is put right as soon as the owner is known to stay.
    pub(super) async fn ask_for_owner(&self) -> Result<(), Error> {
        let gone = || Error::OwnerGone { action: self.request("patch", "apply").to_string() };
        let held = self.primary.indexed(&self.owner).pop().ok_or_else(gone)?;
        let key = Key::new(held.namespace(), held.name());
        let api = self.writer.api(&self.primary, &key);
        let request =
            Request { verb: "get", doing: "look at", kind: &self.primary.kind, key: &key };
        let owner = self.writer.send(request, api.get_opt(key.name())).await?;
        match owner.filter(|owner| owner.has_uid(&self.owner)) {
            Some(owner) if owner.deleting() => {
                self.primary.put(owner, Arrival::Live);
                Err(gone())
            }
            Some(_) => Ok(()),
            None => {
                self.primary.deleted(&key, &self.owner);
                Err(gone())
            }
        }
    }

    /// One that names no owner is ours if we have applied to it what we would apply now, which names the
    /// owner by its uid: somebody has only taken that off.
    pub(super) fn check_owner(
        &self,
        owner: Option<&str>,
        is_applied: impl FnOnce() -> bool,
    ) -> Result<(), Error> {
        if owner.map_or_else(is_applied, |owner| owner == self.owner) {
            return Ok(());
        }
        let owner = owner.map_or("nobody".to_owned(), |uid| format!("the owner with uid {uid}"));
        Err(Error::Taken { kind: self.kind().to_owned(), name: self.key.to_string(), owner })
    }
}
