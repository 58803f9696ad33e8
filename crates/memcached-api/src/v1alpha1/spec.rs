//! What people write: the spec of a `Memcached`, with its defaults and rules.

#![expect(unreachable_pub, reason = "the derive of rules writes types inside of functions")]

use std::collections::BTreeMap;

use kube::{CustomResource, KubeSchema};
use serde::{Deserialize, Serialize};

use super::MemcachedStatus;
use crate::Quantity;

/// How many instances there are where the spec does not say.
pub const DEFAULT_SIZE: i32 = 1;
/// The most instances that a spec may ask for.
pub const MAX_SIZE: i32 = 1000;

/// The most characters of an image's name.
pub const MAX_IMAGE: usize = 512;
/// The port where the spec does not say.
pub const DEFAULT_PORT: i32 = 11211;

/// A reference to an image: registry and port, path in lower case, tag, digest.
pub const IMAGE_PATTERN: &str = concat!(
    r"^(([a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*|\[[0-9a-fA-F:]+\])(:[0-9]+)?/)?",
    r"[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*(/[a-z0-9]+((\.|__?|-+)[a-z0-9]+)*)*",
    r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[A-Za-z][A-Za-z0-9]*([+._-][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$",
);

/// A memcached cache: a number of instances, each with an address of its own.
#[expect(clippy::duplicated_attributes, reason = "two columns may be of one type")]
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "cache.example.com",
    version = "v1alpha1",
    kind = "Memcached",
    namespaced,
    status = "MemcachedStatus",
    derive = "PartialEq",
    shortname = "mc",
    category = "all",
    scale(
        spec_replicas_path = ".spec.size",
        status_replicas_path = ".status.replicas",
        label_selector_path = ".status.selector"
    )
)]
#[kube(printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"))]
#[kube(printcolumn(name = "Ready", type_ = "integer", json_path = ".status.readyReplicas"))]
#[kube(printcolumn(name = "Image", type_ = "string", json_path = ".status.image"))]
#[kube(printcolumn(name = "Age", type_ = "date", json_path = ".metadata.creationTimestamp"))]
#[kube(printcolumn(
    name = "Addresses",
    type_ = "string",
    json_path = ".status.serverList",
    priority = 1
))]
#[serde(rename_all = "camelCase")]
pub struct MemcachedSpec {
    /// The number of memcached instances.
    #[serde(default = "default_size")]
    #[schemars(range(min = 0, max = 1000))]
    pub size: i32,

    /// The port that memcached serves on. A port below 1024 works too.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub container_port: i32,

    /// The image of the instances. Where it is absent, the operator's default is used (its environment
    /// variable `MEMCACHED_IMAGE`). It must have a `memcached` in its path, version 1.6 or newer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 512))]
    #[x_kube(validation = Rule::new(format!("self.matches(r\"{IMAGE_PATTERN}\")"))
        .message("spec.image must name an image, for example docker.io/library/memcached:1.6.45"))]
    pub image: Option<String>,

    /// What each instance may use. Where it is absent, an instance asks for 128Mi of memory and 50m of
    /// processor, and may use 160Mi. Memcached keeps items in 64 MiB, and needs up to 80 MiB beside them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resources: Option<Resources>,
}

/// The most resources that can be named: with 8, Kubernetes 1.33 finds the rule that compares them too dear.
const MAX_RESOURCES: u32 = 6;

/// What a container asks for, and what it may use at most.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[x_kube(validation = Rule::new("!has(self.requests) || !has(self.limits) || self.requests.all(name, !(name in self.limits) || quantity(string(self.requests[name])).compareTo(quantity(string(self.limits[name]))) <= 0)")
    .message("spec.resources.requests must not be larger than spec.resources.limits"))]
pub struct Resources {
    /// The most that an instance may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxProperties" = MAX_RESOURCES))]
    pub limits: Option<BTreeMap<String, Quantity>>,

    /// What is set aside for an instance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("maxProperties" = MAX_RESOURCES))]
    pub requests: Option<BTreeMap<String, Quantity>>,
}

fn default_size() -> i32 {
    DEFAULT_SIZE
}

fn default_port() -> i32 {
    DEFAULT_PORT
}
