//! An object as it comes off the wire: its text, and a peek at the metadata that the core needs.
//!
//! Guarantees: decoding never fails on a schema. An object with odd metadata is still an object, at
//! worst one without a name, an owner or labels; whether it fits its type shows when it is read.
//! Does no IO, and keeps nothing: see [`crate::held`].

mod envelope;
mod field_owner;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::ops::Range;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use kube::core::DynamicResourceScope;
use kube::discovery::ApiResource;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer};
#[cfg(test)]
use serde_json::Value;
use serde_json::value::RawValue;

use self::envelope::{Envelope, entry};
pub(crate) use self::field_owner::FieldOwner;
use crate::intent;

/// An object as text. `kube::Api` lists, watches and patches it like any typed object.
#[derive(Clone, Debug)]
pub(crate) struct Raw {
    text: Box<RawValue>,
    /// Name, namespace, uid and resourceVersion; nothing else.
    meta: ObjectMeta,
    /// As it says itself, or the list that it came in.
    api_version: Option<Box<str>>,
    owner_uid: Option<Box<str>>,
    generation: Option<i64>,
    /// The hash in our annotation.
    intent: Option<u64>,
    deleting: bool,
    labels: Option<Range<usize>>,
    managed_fields: Option<Range<usize>>,
}

#[derive(Deserialize)]
struct OwnerReference {
    #[serde(default)]
    name: Box<str>,
    uid: Box<str>,
    controller: bool,
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Box::<RawValue>::deserialize(deserializer).map(Self::new)
    }
}

impl Resource for Raw {
    type DynamicType = ApiResource;
    type Scope = DynamicResourceScope;

    fn kind(kind: &ApiResource) -> Cow<'_, str> {
        kind.kind.as_str().into()
    }

    fn group(kind: &ApiResource) -> Cow<'_, str> {
        kind.group.as_str().into()
    }

    fn version(kind: &ApiResource) -> Cow<'_, str> {
        kind.version.as_str().into()
    }

    fn api_version(kind: &ApiResource) -> Cow<'_, str> {
        kind.api_version.as_str().into()
    }

    fn plural(kind: &ApiResource) -> Cow<'_, str> {
        kind.plural.as_str().into()
    }

    fn meta(&self) -> &ObjectMeta {
        &self.meta
    }

    fn meta_mut(&mut self) -> &mut ObjectMeta {
        &mut self.meta
    }
}

impl Raw {
    fn new(text: Box<RawValue>) -> Self {
        let Envelope { api_version, metadata } = Envelope::of(&text);
        let api_version = read(api_version);
        let metadata = metadata.unwrap_or_default();
        let place = |part: &RawValue| {
            let start = part.get().as_ptr().addr() - text.get().as_ptr().addr();
            start..start + part.get().len()
        };
        let (labels, managed_fields) =
            (metadata.labels.map(place), metadata.managed_fields.map(place));
        let meta = ObjectMeta {
            name: read(metadata.name),
            namespace: read(metadata.namespace),
            uid: read(metadata.uid),
            resource_version: read(metadata.resource_version),
            ..ObjectMeta::default()
        };
        let owner = controller(metadata.owner_references);
        let generation = read(metadata.generation);
        let deleting = metadata.deletion_timestamp.is_some();
        let owner_uid = owner.map(|owner| owner.uid);
        let annotations = metadata.annotations.map(RawValue::get);
        let intent = entry(annotations, intent::ANNOTATION)
            .and_then(|hash| u64::from_str_radix(&hash, 16).ok());
        Self {
            text,
            meta,
            api_version,
            owner_uid,
            generation,
            intent,
            deleting,
            labels,
            managed_fields,
        }
    }

    /// It is an item of a list of this version: items of the built-in kinds do not say so themselves.
    pub(crate) fn is_listed_as(&mut self, api_version: &str) {
        self.api_version.get_or_insert_with(|| api_version.into());
    }

    /// The object of a text that is JSON.
    #[cfg(test)]
    pub(crate) fn parse(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self::new)
    }

    /// The resourceVersion as a number, 0 if it is none.
    pub(crate) fn version(&self) -> u64 {
        self.meta.resource_version.as_deref().and_then(|text| text.parse().ok()).unwrap_or(0)
    }

    /// True if it is this very object.
    pub(crate) fn has_uid(&self, uid: &str) -> bool {
        self.meta.uid.as_deref() == Some(uid)
    }

    /// The uid of the owner that is the controller.
    pub(crate) fn owner_uid(&self) -> Option<&str> {
        self.owner_uid.as_deref()
    }

    /// The name of the owner that is the controller.
    pub(crate) fn owner_name(&self) -> Option<Box<str>> {
        let metadata = Envelope::of(&self.text).metadata.unwrap_or_default();
        controller(metadata.owner_references).map(|owner| owner.name)
    }

    /// The value of a label.
    pub(crate) fn label(&self, key: &str) -> Option<String> {
        entry(self.labels.clone().map(|range| &self.text.get()[range]), key)
    }

    /// The hash of the intent last applied, from our annotation.
    pub(crate) fn intent_hash(&self) -> Option<u64> {
        self.intent
    }

    /// True once its deletion was asked for.
    pub(crate) fn deleting(&self) -> bool {
        self.deleting
    }

    /// How often its spec was changed.
    pub(crate) fn generation(&self) -> Option<i64> {
        self.generation
    }

    /// The text as it came.
    pub(crate) fn text(&self) -> &str {
        self.text.get()
    }

    /// The object as a value, `managedFields` and all.
    #[cfg(test)]
    pub(crate) fn value(&self) -> Value {
        read(Some(&self.text)).unwrap_or_default()
    }

    /// Where in the text the value of `managedFields` is, if it is there.
    pub(crate) fn managed_fields(&self) -> Option<Range<usize>> {
        self.managed_fields.clone()
    }

    /// Whom its fields belong to, in the order of `managedFields`.
    pub(crate) fn field_owners(&self) -> impl Iterator<Item = FieldOwner<'_>> {
        let managed = self.managed_fields.clone().map(|range| &self.text.get()[range]);
        managed.map(FieldOwner::read_all).unwrap_or_default().into_iter()
    }

    /// What `manager` has applied to the object, and what to its status, and is still its own.
    ///
    /// Only in the version of the object: a set in another version names other fields, and the next
    /// apply makes a set of its own beside it.
    pub(crate) fn own_field_sets(&self, manager: &str) -> [Option<&RawValue>; 2] {
        let [mut object, mut status] = [None, None];
        let is_own = |owner: &FieldOwner<'_>| {
            owner.is_apply_of(manager) && Some(&*owner.api_version) == self.api_version.as_deref()
        };
        for owner in self.field_owners().filter(is_own) {
            match owner.subresource.as_deref() {
                None => object = object.or(Some(owner.fields)),
                Some("status") => status = status.or(Some(owner.fields)),
                Some(_) => {}
            }
        }
        [object, status]
    }

    /// One of the two, as text.
    #[cfg(test)]
    pub(crate) fn own_fields(&self, manager: &str, subresource: Option<&str>) -> Option<String> {
        let [object, status] = self.own_field_sets(manager);
        let set = if subresource.is_none() { object } else { status };
        set.map(|set| set.get().to_owned())
    }
}

fn read<T: DeserializeOwned>(value: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(value?.get()).ok()
}

fn items(list: Option<&RawValue>) -> impl Iterator<Item = &RawValue> {
    let items: Option<Vec<&RawValue>> = list.and_then(|list| serde_json::from_str(list.get()).ok());
    items.unwrap_or_default().into_iter()
}

/// The owner that is the controller.
fn controller(owners: Option<&RawValue>) -> Option<OwnerReference> {
    let owners = items(owners).filter_map(|owner| read::<OwnerReference>(Some(owner)));
    owners.into_iter().find(|owner| owner.controller)
}
