//! The parts of an object that was taken out of its block. Reads them; changes nothing.

use serde::de::DeserializeOwned;
use serde_json::Value;

/// How long the parts of the block are when it is decompressed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lengths {
    pub(super) text: u32,
    pub(super) fields: u32,
    pub(super) status_fields: u32,
}

impl Lengths {
    pub(super) fn whole(self) -> usize {
        (self.text + self.fields + self.status_fields) as usize
    }
}

/// An object as it was before it was compressed.
pub(crate) struct Opened {
    pub(super) content: Vec<u8>,
    pub(super) lengths: Lengths,
}

impl Opened {
    pub(super) fn decode<K: DeserializeOwned>(&self) -> Result<K, serde_json::Error> {
        serde_json::from_slice(self.text())
    }

    pub(super) fn value(&self) -> Value {
        self.decode().unwrap_or_default()
    }

    /// Its status as a value.
    pub(crate) fn status(&self) -> Value {
        #[derive(serde::Deserialize)]
        struct WithStatus {
            #[serde(default)]
            status: Value,
        }
        self.decode::<WithStatus>().map(|object| object.status).unwrap_or_default()
    }

    pub(super) fn own_fields(&self) -> Option<Value> {
        let start = self.lengths.text as usize;
        let end = start + self.lengths.fields as usize;
        serde_json::from_slice(self.content.get(start..end)?).ok()
    }

    /// The set of the fields of the status that are ours.
    pub(crate) fn own_status_fields(&self) -> Option<Value> {
        let start = self.lengths.text as usize + self.lengths.fields as usize;
        serde_json::from_slice(self.content.get(start..)?).ok()
    }

    pub(super) fn text(&self) -> &[u8] {
        self.content.get(..self.lengths.text as usize).unwrap_or_default()
    }
}
