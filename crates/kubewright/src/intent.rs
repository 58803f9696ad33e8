//! What is wanted of one object: the body of a server-side apply and a hash that is the same in every
//! run and every version of the program.
//!
//! The hash travels in an annotation of the object, so a restarted program knows what it applied last.
//! Sends nothing.

use std::io;

use serde::ser::{Serialize, SerializeMap as _, Serializer};
use serde_json::{Map, Value};

/// The annotation that carries the hash of the intent last applied, as 16 hexadecimal digits.
pub(crate) const ANNOTATION: &str = "kubewright.dev/intent";

/// What the server writes. An object that was read and is applied again must not ask for it.
const SERVER_OWNED: [&str; 8] = [
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// The desired state of one object.
#[derive(Clone, Debug)]
pub(crate) struct Intent {
    hash: u64,
    body: Value,
}

impl Intent {
    /// From a desired object. Nulls count as absent; the status and what the server writes are left
    /// out, because they are no part of what can be wanted.
    pub(crate) fn new(mut body: Value) -> Self {
        drop_nulls(&mut body);
        let mut body = into_object(body);
        body.remove("status");
        let mut metadata = into_object(body.remove("metadata").unwrap_or_default());
        for field in SERVER_OWNED {
            metadata.remove(field);
        }
        let mut annotations = into_object(metadata.remove("annotations").unwrap_or_default());
        annotations.remove(ANNOTATION);
        // The annotations are always there, be it for the hash alone.
        body.insert("metadata".to_owned(), Value::Object(metadata));
        let mut body = Value::Object(body);
        body["metadata"]["annotations"] = Value::Object(annotations);
        let hash = hash(&body);
        body["metadata"]["annotations"][ANNOTATION] = Value::String(format!("{hash:016x}"));
        Self { hash, body }
    }

    /// The hash of what is wanted, without the annotation that carries it.
    pub(crate) fn hash(&self) -> u64 {
        self.hash
    }

    /// What is wanted, with the annotation.
    pub(crate) fn body(&self) -> &Value {
        &self.body
    }

    /// The body of an apply that creates: it is refused with 409 if the object exists, whose version
    /// is never 1.
    pub(crate) fn body_create(&self) -> Guarded<'_> {
        Guarded { body: &self.body, field: "resourceVersion", value: "1" }
    }

    /// The body of an apply that changes the object with this uid and no other: it is refused with
    /// 422 if another has its name, and with 409 if none has.
    pub(crate) fn body_update<'a>(&'a self, uid: &'a str) -> Guarded<'a> {
        Guarded { body: &self.body, field: "uid", value: uid }
    }
}

/// A body with one more field in its metadata, put there while it is written: a copy of a Deployment is
/// hundreds of allocations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guarded<'a> {
    body: &'a Value,
    field: &'a str,
    value: &'a str,
}

impl Serialize for Guarded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fields = self.body.as_object().into_iter().flatten();
        serializer.collect_map(fields.map(|(name, value)| match (&**name, value) {
            ("metadata", Value::Object(metadata)) => (name, Part::Metadata(metadata, *self)),
            _ => (name, Part::Other(value)),
        }))
    }
}

enum Part<'a> {
    Metadata(&'a Map<String, Value>, Guarded<'a>),
    Other(&'a Value),
}

impl Serialize for Part<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Other(value) => value.serialize(serializer),
            Self::Metadata(fields, Guarded { field, value, .. }) => {
                let mut map = serializer.serialize_map(Some(fields.len() + 1))?;
                map.serialize_entry(field, value)?;
                for (name, value) in *fields {
                    map.serialize_entry(name, value)?;
                }
                map.end()
            }
        }
    }
}

/// Takes the nulls out of all objects: a null asks for nothing.
pub(crate) fn drop_nulls(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|_, value| !value.is_null());
            map.values_mut().for_each(drop_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(drop_nulls),
        _ => {}
    }
}

/// FNV-1a of the text. Not `DefaultHasher`, whose result may change with the compiler.
pub(crate) fn digest(text: &[u8]) -> u64 {
    let mut digest = Digest::default();
    digest.add(text);
    digest.0
}

/// The value as an object; one that is none wants nothing.
fn into_object(value: Value) -> Map<String, Value> {
    if let Value::Object(map) = value { map } else { Map::new() }
}

fn hash(value: &Value) -> u64 {
    let mut digest = Digest::default();
    digest.add_canonical(value);
    digest.0
}

struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// JSON with sorted keys, whether or not some crate of the program makes `serde_json` keep their
    /// order.
    fn add_canonical(&mut self, value: &Value) {
        match value {
            Value::Object(map) => {
                self.add(b"{");
                if map.keys().is_sorted() {
                    for (key, value) in map {
                        self.add_entry(key, value);
                    }
                } else {
                    let mut entries: Vec<_> = map.iter().collect();
                    entries.sort_unstable_by_key(|(key, _)| *key);
                    for (key, value) in entries {
                        self.add_entry(key, value);
                    }
                }
                self.add(b"}");
            }
            Value::Array(items) => {
                self.add(b"[");
                for item in items {
                    self.add_canonical(item);
                    self.add(b",");
                }
                self.add(b"]");
            }
            Value::String(text) => self.add_text(text),
            scalar => self.add_scalar(scalar),
        }
    }

    /// Most texts are written as they are, between quotes.
    fn add_text(&mut self, text: &str) {
        if text.bytes().any(|byte| byte < b' ' || matches!(byte, b'"' | b'\\')) {
            return self.add_scalar(text);
        }
        self.add(b"\"");
        self.add(text.as_bytes());
        self.add(b"\"");
    }

    fn add_entry(&mut self, key: &str, value: &Value) {
        self.add_text(key);
        self.add(b":");
        self.add_canonical(value);
        self.add(b",");
    }

    fn add_scalar(&mut self, scalar: &(impl Serialize + ?Sized)) {
        // Writing a scalar to a digest cannot fail.
        let _ = serde_json::to_writer(self, scalar);
    }
}

impl io::Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_hash_is_the_same_in_every_version() {
        let intent = Intent::new(json!({"kind": "A", "spec": {"b": [1, "x"], "a": true}}));
        assert_eq!(format!("{:016x}", intent.hash()), "478a16a00b3ec8fc");
    }

    #[test]
    fn what_is_not_wanted_does_not_change_the_hash() {
        let plain = Intent::new(json!({"kind": "A", "metadata": {"name": "a"}}));
        for same in [
            json!({"metadata": {"name": "a"}, "kind": "A"}),
            json!({"kind": "A", "metadata": {"name": "a", "labels": null}, "spec": null}),
            json!({"kind": "A", "metadata": {"name": "a", "uid": "u", "resourceVersion": "7"}}),
            json!({"kind": "A", "metadata": {"name": "a", "managedFields": []}, "status": {}}),
            json!({"kind": "A", "metadata": {"name": "a", "annotations": {ANNOTATION: "00"}}}),
        ] {
            assert_eq!(Intent::new(same.clone()).hash(), plain.hash(), "{same}");
            assert_eq!(Intent::new(same).body(), plain.body());
        }
        assert_eq!(Intent::new(plain.body().clone()).hash(), plain.hash());
    }

    #[test]
    fn whatever_is_wanted_changes_the_hash() {
        let bodies = [
            json!({"metadata": {"name": "a"}}),
            json!({"metadata": {"name": "b"}}),
            json!({"metadata": {"name": "a", "labels": {}}}),
            json!({"metadata": {"name": "a"}, "spec": {"a": ["b", "c"]}}),
            json!({"metadata": {"name": "a"}, "spec": {"a": ["c", "b"]}}),
            json!({"metadata": {"name": "a"}, "spec": {"a": ["b,c"]}}),
            json!({"metadata": {"name": "a"}, "spec": {"a": 1}}),
            json!({"metadata": {"name": "a"}, "spec": {"a": "1"}}),
            json!({"metadata": {"name": "a"}, "spec": {"a": {}}}),
            json!({"metadata": {"name": "a"}, "spec": {"a": []}}),
        ];
        let hashes: std::collections::BTreeSet<_> =
            bodies.iter().map(|body| Intent::new(body.clone()).hash()).collect();
        assert_eq!(hashes.len(), bodies.len());
    }

    #[test]
    fn the_body_carries_the_hash_and_its_guard() {
        let intent = Intent::new(json!({"metadata": {"name": "a", "uid": "stale"}}));
        let hash = format!("{:016x}", intent.hash());
        assert_eq!(intent.body()["metadata"]["annotations"][ANNOTATION], json!(hash));
        assert_eq!(intent.body()["metadata"].get("uid"), None);
        let created = json!(intent.body_create());
        assert_eq!(created["metadata"]["resourceVersion"], json!("1"));
        assert_eq!(created["metadata"]["annotations"], intent.body()["metadata"]["annotations"]);
        let updated = json!(intent.body_update("u"));
        assert_eq!(updated["metadata"]["uid"], json!("u"));
        assert_eq!(updated["metadata"].get("resourceVersion"), None);
    }

    #[test]
    fn a_body_that_is_no_object_is_left_to_the_server_to_refuse() {
        assert!(Intent::new(json!("text")).body().is_object());
        assert!(Intent::new(json!({"metadata": 5})).body()["metadata"].is_object());
    }
}
