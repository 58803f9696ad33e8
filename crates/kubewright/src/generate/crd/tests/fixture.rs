//! Kinds with a field of each sort, as authors write them.

use std::collections::BTreeMap;
use std::net::IpAddr;

use k8s_openapi::api::core::v1::{PodTemplateSpec, ResourceRequirements, ServiceSpec};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use kube::{CustomResource, KubeSchema};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One field of each sort.
#[derive(CustomResource, KubeSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[kube(group = "example.com", version = "v1", kind = "Everything", namespaced)]
#[kube(status = "EverythingStatus", derive = "PartialEq")]
#[serde(rename_all = "camelCase")]
pub(in crate::generate) struct EverythingSpec {
    pub(super) uint8: u8,
    pub(super) uint16: u16,
    pub(super) uint32: u32,
    pub(super) uint64: u64,
    pub(super) uint: usize,
    pub(super) int8: i8,
    pub(super) int16: i16,
    pub(super) int32: i32,
    pub(super) int64: i64,
    pub(super) int: isize,
    pub(super) float: f32,
    pub(super) double: f64,
    #[schemars(range(min = 1, max = 10))]
    pub(super) ranged: u16,
    pub(super) text: String,
    pub(super) letter: char,
    pub(super) address: IpAddr,
    /// How loud it is.   
    ///
    ///
    /// - Quiet: not.
    ///   - Loud: very. More of the author's own words.
    pub(super) level: Level,
    pub(super) levels: Vec<Level>,
    pub(super) either: Either,
    pub(super) any: Any,
    #[serde(default)]
    pub(super) resources: ResourceRequirements,
    #[serde(default = "three")]
    pub(super) defaulted: i32,
    pub(super) quantity: Quantity,
    pub(super) gaps: BTreeMap<String, Option<u16>>,
    pub(super) optional: Optional,
}

/// One optional field of each sort; `None` is written as `null`.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::generate) struct Optional {
    pub(super) any: Option<Any>,
    pub(super) boolean: Option<bool>,
    /// Has a text of its own.
    pub(super) described: Option<Inner>,
    /// Has a text of its own too.
    pub(super) described_level: Option<Level>,
    pub(super) either: Option<Either>,
    pub(super) level: Option<Level>,
    pub(super) list: Option<Vec<String>>,
    pub(super) map: Option<BTreeMap<String, String>>,
    pub(super) number: Option<u32>,
    pub(super) object: Option<Inner>,
    pub(super) quantity: Option<Quantity>,
    pub(super) target: Option<IntOrString>,
    #[serde(default)]
    pub(super) text: Option<String>,
    pub(super) time: Option<Time>,
    pub(super) resources: Option<ResourceRequirements>,
}

fn three() -> i32 {
    3
}

/// Loudness.
#[derive(JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::generate) enum Level {
    /// Not at all.
    Quiet,
    /// Very.
    Loud,
}

#[derive(JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::generate) struct Inner {
    pub(super) name: String,
    pub(super) port: Option<u16>,
}

#[derive(JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::generate) enum Either {
    Left(Inner),
    Right { value: u16 },
}

#[derive(JsonSchema, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(in crate::generate) enum Any {
    One { one: u16 },
    Two { two: String },
}

#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(in crate::generate) struct EverythingStatus {
    #[serde(default)]
    pub(super) conditions: Vec<Condition>,
    pub(super) observed_generation: Option<i64>,
}

/// A whole pod, and a Service.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(group = "example.com", version = "v1", kind = "Podded", plural = "poddeds", namespaced)]
#[kube(doc = "Runs a pod.")]
pub(super) struct PoddedSpec {
    pub(super) template: PodTemplateSpec,
    pub(super) service: Option<ServiceSpec>,
}

/// A value for each field; the optional ones have none.
pub(super) fn everything() -> EverythingSpec {
    EverythingSpec {
        uint8: u8::MAX,
        uint16: u16::MAX,
        uint32: u32::MAX,
        uint64: u64::MAX / 2,
        uint: usize::MAX / 2,
        int8: i8::MIN,
        int16: i16::MIN,
        int32: i32::MIN,
        int64: i64::MIN,
        int: isize::MAX,
        float: 0.5,
        double: 1e-9,
        ranged: 10,
        text: "text".to_owned(),
        letter: 'ü',
        address: IpAddr::from([10, 0, 0, 1]),
        level: Level::Loud,
        levels: vec![Level::Quiet, Level::Loud],
        either: Either::Right { value: 1 },
        any: Any::Two { two: "2".to_owned() },
        resources: ResourceRequirements::default(),
        defaulted: 4,
        quantity: Quantity("1500m".to_owned()),
        gaps: BTreeMap::from([("a".to_owned(), None), ("b".to_owned(), Some(1))]),
        optional: Optional::default(),
    }
}
