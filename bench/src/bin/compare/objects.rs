//! The objects that are created: where they are and what they say.

use std::fmt;

use serde_json::json;

use crate::seen::{CACHES, Seen};
use crate::wire::{self, Call};

pub(crate) const NAMESPACES: usize = 10;
/// How many instances each asks for.
pub(crate) const SIZE: i32 = 3;

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Object {
    pub(crate) namespace: String,
    pub(crate) name: String,
}

impl Object {
    /// The object with this number, of those that begin with `prefix`.
    pub(crate) fn new(prefix: &str, number: usize) -> Self {
        Self { namespace: namespace(number), name: format!("{prefix}-{number:05}") }
    }

    pub(crate) fn of(seen: &Seen) -> Self {
        Self { namespace: seen.namespace.clone(), name: seen.name.clone() }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> String {
        self.below(CACHES)
    }

    /// Where an object of its name is in another collection.
    pub(crate) fn below(&self, collection: &str) -> String {
        format!("{}/{}", in_namespace(collection, &self.namespace), self.name)
    }

    pub(crate) fn create(&self) -> Call {
        let body = json!({
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
            "metadata": {"name": self.name, "namespace": self.namespace},
            "spec": {"size": SIZE},
        });
        wire::post(in_namespace(CACHES, &self.namespace), body.to_string())
    }

    pub(crate) fn resize(&self, size: i32) -> Call {
        wire::merge(self.path(), json!({"spec": {"size": size}}).to_string())
    }
}

impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.namespace, self.name)
    }
}

/// The namespace of the object with this number.
pub(crate) fn namespace(number: usize) -> String {
    format!("bench-{}", number % NAMESPACES)
}

fn in_namespace(collection: &str, namespace: &str) -> String {
    let (api, plural) = collection.rsplit_once('/').unwrap_or_default();
    format!("{api}/namespaces/{namespace}/{plural}")
}
