//! What is known of a `Memcached`. Every field is optional: an object is valid before the operator has
//! seen it.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[cfg(feature = "operator")]
use crate::condition::ConditionType;

/// What is known of the cache.
#[derive(JsonSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemcachedStatus {
    /// The names of the pods that are neither terminating nor finished, sorted. Absent while there are
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<String>>,

    /// The address and port of each pod that is ready, sorted: what a client needs to know. Absent while
    /// none is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_list: Option<Vec<String>>,

    /// How many pods there are that are neither terminating nor finished.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,

    /// How many of them are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ready_replicas: Option<i32>,

    /// Selects the pods, for autoscalers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,

    /// The image that the instances run: that of the spec, else the operator's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,

    /// The generation of the spec that this status is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,

    /// What is the case, and since when: `Available`, `Progressing`, `Degraded`, `Reconciled`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
}

#[cfg(feature = "operator")]
impl kubewright::Conditions for MemcachedStatus {
    const INITIAL: &'static [&'static str] = &[
        ConditionType::Available.as_str(),
        ConditionType::Progressing.as_str(),
        ConditionType::Degraded.as_str(),
    ];

    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}
