//! One run of `reconcile` for one object: who it is for, and what it leaves behind.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, OwnerReference};
use kube::ResourceExt as _;
use serde_json::Value;

use crate::apply::OneAtATime;
use crate::conditions::Conditions as _;
use crate::events::{Event, EventType, reference};
use crate::key::Key;
use crate::kind::Primary;
use crate::store::Store;

/// One run of [`crate::Controller::reconcile`]. Shared by reference, so that children can be applied at
/// the same time.
pub struct Pass<P: Primary> {
    key: Key,
    uid: String,
    owner: OwnerReference,
    notes: Mutex<Notes<P>>,
    one_at_a_time: Option<OneAtATime>,
}

struct Notes<P: Primary> {
    status: Option<P::Status>,
    wanted: Wanted,
    events: Vec<Event>,
}

/// The children that a pass applied: the address of their cache, and their key.
pub(crate) type Wanted = HashSet<(usize, Key)>;

/// The status that a pass asked for: everything but the conditions, and the conditions.
pub(crate) struct Asked {
    pub(crate) rest: Value,
    pub(crate) conditions: Vec<Condition>,
}

/// How a cache is named in [`Wanted`].
pub(crate) fn address(store: &Arc<Store>) -> usize {
    Arc::as_ptr(store).addr()
}

impl<P: Primary> Pass<P> {
    /// `is_new` if no pass has written a status of this object yet.
    pub(crate) fn new(object: &P, key: Key, is_new: bool) -> Self {
        let uid = object.uid().unwrap_or_default();
        let owner = OwnerReference {
            api_version: P::api_version(&()).into_owned(),
            kind: P::kind(&()).into_owned(),
            name: key.name().to_owned(),
            uid: uid.clone(),
            controller: Some(true),
            block_owner_deletion: Some(true),
        };
        let notes = Mutex::new(Notes { status: None, wanted: Wanted::new(), events: Vec::new() });
        let one_at_a_time = (!is_new).then(OneAtATime::default);
        Self { key, uid, owner, notes, one_at_a_time }
    }

    /// Sets the status. It is written once, at the end of the pass, also of a failed one, and only if it
    /// differs from what is there. Transition times and `observedGeneration` of conditions are filled in,
    /// and the condition `Reconciled` is the library's.
    pub fn status(&self, status: P::Status) {
        self.notes().status = Some(status);
    }

    /// Publishes a normal event on the object at the end of the pass, with its status: a pass that is
    /// repeated because its status could not be written yet says nothing. Never waits; repetitions are
    /// counted up.
    pub fn event(&self, reason: &'static str, note: impl Into<String>) {
        self.record(EventType::Normal, reason, note.into());
    }

    /// Publishes a warning on the object; as [`Self::event`].
    pub fn warn(&self, reason: &'static str, note: impl Into<String>) {
        self.record(EventType::Warning, reason, note.into());
    }

    /// Namespace and name of the object.
    pub fn key(&self) -> &Key {
        &self.key
    }

    pub(crate) fn uid(&self) -> &str {
        &self.uid
    }

    /// Children of an object that is not new are created one at a time. They were there already, so their
    /// namespace may be going: the first that is refused for that keeps the others from being tried.
    pub(crate) fn one_at_a_time(&self) -> Option<OneAtATime> {
        self.one_at_a_time.clone()
    }

    pub(crate) fn owner_reference(&self) -> OwnerReference {
        self.owner.clone()
    }

    pub(crate) fn want(&self, store: &Arc<Store>, key: &Key) {
        self.notes().wanted.insert((address(store), key.clone()));
    }

    /// What the pass leaves behind.
    pub(crate) fn into_notes(self) -> (Option<Asked>, Wanted, Vec<Event>) {
        let notes = self.notes.into_inner().unwrap_or_else(PoisonError::into_inner);
        let asked = notes.status.map(|mut status| {
            let conditions = std::mem::take(status.conditions());
            Asked { rest: serde_json::to_value(&status).unwrap_or_default(), conditions }
        });
        (asked, notes.wanted, notes.events)
    }

    fn record(&self, type_: EventType, reason: &'static str, note: String) {
        let regarding = reference(
            &self.owner.api_version,
            &self.owner.kind,
            Some(self.key.namespace()).filter(|namespace| !namespace.is_empty()),
            self.key.name(),
            &self.uid,
        );
        let (reason, action) = (reason.into(), "Reconcile".into());
        self.notes().events.push(Event { type_, reason, action, note, regarding });
    }

    fn notes(&self) -> std::sync::MutexGuard<'_, Notes<P>> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
