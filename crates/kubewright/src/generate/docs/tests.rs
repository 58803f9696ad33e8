//! The reference of a kind that has a bit of everything.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, CustomResourceExt as _, KubeSchema};
use serde::{Deserialize, Serialize};

use super::*;
use crate::generate::crd::{initial, tidy};

/// A pot for plants.
#[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
#[kube(group = "example.com", version = "v1", kind = "Pot", namespaced, status = "PotStatus")]
#[kube(shortname = "pt", category = "garden")]
#[kube(scale(
    spec_replicas_path = ".spec.plants",
    status_replicas_path = ".status.plants",
    label_selector_path = ".status.selector"
))]
#[kube(printcolumn(name = "Plants", type_ = "integer", json_path = ".spec.plants"))]
#[kube(printcolumn(name = "Soil", type_ = "string", json_path = ".spec.soil", priority = 1))]
#[x_kube(validation = Rule::new("self.soil != 'none' || self.plants == 0").message("plants | need soil"))]
struct PotSpec {
    /// How many plants are in it.
    ///
    /// More of them need more water.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 10))]
    plants: i32,
    /// What they grow in.
    #[schemars(length(min = 1, max = 20))]
    soil: String,
    /// Who waters them.
    #[serde(default)]
    gardeners: Vec<Gardener>,
}

/// Somebody with a can.
#[derive(KubeSchema, Clone, Debug, Serialize, Deserialize)]
struct Gardener {
    /// How often.
    often: Option<Often>,
}

#[derive(schemars::JsonSchema, Clone, Debug, Serialize, Deserialize)]
enum Often {
    Daily,
    Weekly,
}

#[derive(KubeSchema, Clone, Debug, Default, Serialize, Deserialize)]
struct PotStatus {
    /// How many plants live.
    plants: Option<i32>,
    /// What is the case.
    #[serde(default)]
    conditions: Vec<Condition>,
}

fn one() -> i32 {
    1
}

const EXPECTED: &str = include_str!("tests/pot.md");

#[test]
fn the_reference_says_all_that_the_definition_says() {
    let definition = initial(tidy(Pot::crd()), &["Available"]);
    assert_eq!(docs(&[definition]), EXPECTED);
}
