//! The entries of `managedFields`: who set which fields of an object, and how. Read where they are; nothing
//! is copied.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

/// Somebody who owns fields of an object.
#[derive(Debug)]
pub(crate) struct FieldOwner<'a> {
    /// The name that the writer gave itself.
    pub(crate) manager: Cow<'a, str>,
    /// By server-side apply, not by an update.
    pub(crate) applied: bool,
    /// Through which subresource, if any.
    pub(crate) subresource: Option<Cow<'a, str>>,
    /// The version of the kind in which the fields are named.
    pub(crate) api_version: Cow<'a, str>,
    /// The set of fields, as `fieldsV1`.
    pub(crate) fields: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry<'a> {
    #[serde(borrow, default)]
    manager: Cow<'a, str>,
    #[serde(borrow, default)]
    operation: Cow<'a, str>,
    #[serde(borrow, default)]
    api_version: Cow<'a, str>,
    #[serde(borrow, default)]
    subresource: Cow<'a, str>,
    #[serde(borrow, rename = "fieldsV1")]
    fields: &'a RawValue,
}

const NOBODY: Entry<'static> = Entry {
    manager: Cow::Borrowed(""),
    operation: Cow::Borrowed(""),
    api_version: Cow::Borrowed(""),
    subresource: Cow::Borrowed(""),
    fields: RawValue::NULL,
};

impl<'a> FieldOwner<'a> {
    /// All entries. One that cannot be read is somebody who owns nothing: it keeps its place, because
    /// entries are addressed by it.
    pub(super) fn read_all(managed_fields: &'a str) -> Vec<Self> {
        if let Ok(entries) = serde_json::from_str::<Vec<Entry>>(managed_fields) {
            return entries.into_iter().map(Self::from).collect();
        }
        let entries: Vec<&RawValue> = serde_json::from_str(managed_fields).unwrap_or_default();
        let read = |entry: &'a RawValue| serde_json::from_str(entry.get()).unwrap_or(NOBODY);
        entries.into_iter().map(read).map(<Self as From<Entry>>::from).collect()
    }

    /// True if it is what `manager` applied.
    pub(super) fn is_apply_of(&self, manager: &str) -> bool {
        self.applied && self.manager == manager
    }
}

impl<'a> From<Entry<'a>> for FieldOwner<'a> {
    fn from(entry: Entry<'a>) -> Self {
        Self {
            manager: entry.manager,
            applied: entry.operation == "Apply",
            subresource: Some(entry.subresource).filter(|name| !name.is_empty()),
            api_version: entry.api_version,
            fields: entry.fields,
        }
    }
}
