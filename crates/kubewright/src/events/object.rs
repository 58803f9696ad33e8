//! Makes objects that the API server accepts from events as they come: text that is too long is cut,
//! and what must not be empty is not. Pure.

use std::borrow::Cow;
use std::hash::{BuildHasher as _, RandomState};

use jiff::Timestamp;
use k8s_openapi::api::events::v1::Event as EventObject;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};

use super::Event;
use super::aggregate::Place;
use crate::conditions::text::truncate;
use crate::names;

/// Limits of `events.k8s.io/v1`, in bytes.
const MAX_NOTE: usize = 1024;
const MAX_WORD: usize = 128;
/// The longest name of an object, less a dot and 16 digits.
const MAX_PREFIX: usize = 253 - 17;
/// Where events about cluster-scoped objects are.
const DEFAULT_NAMESPACE: &str = "default";

/// Makes an event fit the limits, before events are compared: what differs only beyond them is equal.
pub(super) fn fit(event: &mut Event) {
    truncate(&mut event.note, MAX_NOTE);
    fit_word(&mut event.reason, "Unknown");
    fit_word(&mut event.action, "Reconcile");
}

fn fit_word(word: &mut Cow<'static, str>, if_empty: &'static str) {
    if word.is_empty() {
        *word = Cow::Borrowed(if_empty);
    } else if word.len() > MAX_WORD {
        truncate(word.to_mut(), MAX_WORD);
    }
}

/// Who reports.
pub(super) struct Reporter {
    controller: String,
    instance: String,
}

impl Reporter {
    pub(super) fn new(controller: String, instance: String) -> Self {
        let qualified = qualified(&controller);
        let given = [instance, controller].into_iter().find(|name| !name.is_empty());
        let mut instance = given.unwrap_or_else(|| qualified.clone());
        truncate(&mut instance, MAX_WORD);
        Self { controller: qualified, instance }
    }

    /// The object of an event, to be created at `place`.
    pub(super) fn object(&self, event: Event, time: Timestamp, place: &Place) -> EventObject {
        EventObject {
            metadata: ObjectMeta {
                namespace: Some(place.namespace.clone()),
                name: Some(place.name.clone()),
                ..ObjectMeta::default()
            },
            type_: Some(event.type_.as_str().to_owned()),
            reason: Some(event.reason.into_owned()),
            action: Some(event.action.into_owned()),
            note: Some(event.note),
            regarding: Some(event.regarding),
            event_time: Some(MicroTime(time)),
            reporting_controller: Some(self.controller.clone()),
            reporting_instance: Some(self.instance.clone()),
            ..EventObject::default()
        }
    }
}

/// Gives names to events. They begin at random, because two programs may report about one object.
pub(super) struct Names(u64);

impl Names {
    pub(super) fn new() -> Self {
        Self(RandomState::new().hash_one(()))
    }

    /// Where the next event goes: beside the object it regards.
    pub(super) fn place(&mut self, event: &Event) -> Place {
        self.0 = self.0.wrapping_add(1);
        let regarding = &event.regarding;
        let prefix = subdomain(regarding.name.as_deref().unwrap_or_default());
        let prefix = if prefix.is_empty() { "event" } else { &prefix };
        let namespace = regarding.namespace.as_deref().unwrap_or(DEFAULT_NAMESPACE).to_owned();
        Place { namespace, name: format!("{prefix}.{:016x}", self.0) }
    }
}

/// A legal beginning for the name of an event. The name itself need not be one: that of a
/// `ClusterRole` may have colons.
fn subdomain(name: &str) -> String {
    let is_legal = |one: char| matches!(one, 'a'..='z' | '0'..='9' | '-' | '.');
    let lower = name.chars().map(|one| one.to_ascii_lowercase());
    let legal = lower.map(|one| if is_legal(one) { one } else { '-' });
    let cut: String = legal.take(MAX_PREFIX).collect();
    let labels = cut.split('.').map(|label| label.trim_matches('-'));
    labels.filter(|label| !label.is_empty()).collect::<Vec<_>>().join(".")
}

/// The API server takes only a qualified name for the controller.
fn qualified(controller: &str) -> String {
    let (prefix, name) = controller.rsplit_once('/').unwrap_or(("", controller));
    let (prefix, name) = (subdomain(prefix), names::label_value(name));
    match (prefix.is_empty(), name.is_empty()) {
        (_, true) => "kubewright".to_owned(),
        (true, false) => name,
        (false, false) => format!("{prefix}/{name}"),
    }
}
