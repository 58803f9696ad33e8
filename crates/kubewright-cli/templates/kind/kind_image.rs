//! The kind `{{Kind}}`: what people write, and what they are told.
{{modules}}
use kubewright::prelude::*;
use serde::{Deserialize, Serialize};

/// Instances of `{{image}}`.
#[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
#[kube(group = "{{group}}", version = "{{version}}")]
#[kube(kind = "{{Kind}}"{{plural}}{{scope}}, status = "{{Kind}}Status")]
#[kube(printcolumn(name = "Size", type_ = "integer", json_path = ".spec.size"))]
#[serde(rename_all = "camelCase")]
pub struct {{Kind}}Spec {
    /// How many instances there should be.
    #[serde(default = "default_size")]
    #[schemars(range(min = 0))]
    pub size: i32,{{port_field}}
}

fn default_size() -> i32 {
    1
}
{{port_default}}
/// What is known of {{a}} {{Kind}}.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct {{Kind}}Status {
    /// What is the case, and since when: `Available`, `Progressing`, `Degraded`.
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Conditions for {{Kind}}Status {
    const INITIAL: &[&str] = &["Available", "Progressing", "Degraded"];

    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}
