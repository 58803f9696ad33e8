//! The kind `{{Kind}}`: what people write, and what they are told.
{{modules}}
use kubewright::prelude::*;
use serde::{Deserialize, Serialize};

/// Describe {{a}} {{Kind}} here. What is said here and at the fields is what `kubectl explain` prints.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Serialize, Deserialize)]
#[kube(group = "{{group}}", version = "{{version}}")]
#[kube(kind = "{{Kind}}"{{plural}}{{scope}}, status = "{{Kind}}Status")]
#[serde(rename_all = "camelCase")]
pub struct {{Kind}}Spec {
    /// An example of a field: put your own in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foo: Option<String>,
}

/// What is known of {{a}} {{Kind}}.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct {{Kind}}Status {
    /// What is the case, and since when.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Conditions for {{Kind}}Status {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}
