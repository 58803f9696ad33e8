//! Objects for the tests of pure code.

use memcached_api::v1alpha1::Memcached;
use serde_json::{Value, json};

use crate::reconcile::gather::{Instance, Observed};
use crate::reconcile::validate::{Cluster, validate};

/// An object with this spec, where what is absent has its default.
pub(crate) fn memcached(name: &str, spec: Value) -> Memcached {
    let metadata = json!({"name": name, "namespace": "caches", "uid": "u-1", "generation": 4});
    let mut object = json!({
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "metadata": metadata,
    });
    object["spec"] = spec;
    serde_json::from_value(object).unwrap()
}

/// What becomes of it.
pub(crate) fn cluster(name: &str, spec: Value) -> Cluster {
    validate(&memcached(name, spec), None).unwrap()
}

/// `total` pods, of which the first `ready` are ready.
pub(crate) fn observed(ready: usize, total: usize) -> Observed {
    let instances = (0..total).map(|number| Instance {
        name: format!("pod-{number}"),
        address: Some(format!("10.0.0.{number}")),
        ready: number < ready,
        trouble: None,
    });
    Observed { instances: instances.collect() }
}
