//! Conditions that a new object has before an operator has seen it.
//!
//! A default of the schema, which the API server fills in: it costs no write, and it is there while no
//! operator runs.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON,
};
use serde_json::json;

/// The reason of a condition that nobody has looked into yet.
const REASON: &str = "Pending";
const MESSAGE: &str = "waiting for the operator";
/// A default knows no clock. No condition is older, and anybody sees that it is no time.
const NEVER: &str = "1970-01-01T00:00:00Z";

/// Gives new objects a condition of each of `types`, `Unknown`.
#[must_use]
pub fn initial(
    mut definition: CustomResourceDefinition,
    types: &[&str],
) -> CustomResourceDefinition {
    if types.is_empty() {
        return definition;
    }
    let conditions: Vec<_> = types.iter().map(|type_| condition(type_)).collect();
    for version in &mut definition.spec.versions {
        let schema = version.schema.as_mut().and_then(|schema| schema.open_api_v3_schema.as_mut());
        let properties = schema.and_then(|schema| schema.properties.as_mut());
        if let Some(status) = properties.and_then(|properties| properties.get_mut("status")) {
            status.default = Some(JSON(json!({ "conditions": conditions })));
        }
    }
    definition
}

fn condition(type_: &str) -> serde_json::Value {
    json!({
        "type": type_,
        "status": "Unknown",
        "reason": REASON,
        "message": MESSAGE,
        "lastTransitionTime": NEVER,
    })
}
