//! The entries of `managedFields`: who set which fields of an object, and how.

use serde::Deserialize;
use serde_json::value::RawValue;

/// Somebody who owns fields of an object.
#[derive(Debug)]
pub(crate) struct FieldOwner {
    /// The name that the writer gave itself.
    pub(crate) manager: String,
    /// By server-side apply, not by an update.
    pub(crate) applied: bool,
    /// Through which subresource, if any.
    pub(crate) subresource: Option<String>,
    /// The version of the kind in which the fields are named.
    pub(crate) api_version: String,
    /// The set of fields, as `fieldsV1`.
    pub(crate) fields: Box<RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    #[serde(default)]
    manager: String,
    #[serde(default)]
    operation: String,
    #[serde(default)]
    api_version: String,
    #[serde(default)]
    subresource: Option<String>,
    #[serde(rename = "fieldsV1")]
    fields: Box<RawValue>,
}

impl FieldOwner {
    /// All entries. One that cannot be read is somebody who owns nothing: it keeps its place, because
    /// entries are addressed by it.
    pub(super) fn read_all(managed_fields: &str) -> Vec<Self> {
        if let Ok(entries) = serde_json::from_str::<Vec<Entry>>(managed_fields) {
            return entries.into_iter().map(Self::from).collect();
        }
        let entries: Vec<&RawValue> = serde_json::from_str(managed_fields).unwrap_or_default();
        let read = |entry: &RawValue| serde_json::from_str(entry.get()).unwrap_or_default();
        entries.into_iter().map(read).map(<Self as From<Entry>>::from).collect()
    }

    /// True if it is what `manager` applied.
    pub(super) fn is_apply_of(&self, manager: &str) -> bool {
        self.applied && self.manager == manager
    }
}

impl From<Entry> for FieldOwner {
    fn from(entry: Entry) -> Self {
        Self {
            manager: entry.manager,
            applied: entry.operation == "Apply",
            subresource: entry.subresource.filter(|name| !name.is_empty()),
            api_version: entry.api_version,
            fields: entry.fields,
        }
    }
}
