//! Lists of `metav1.Condition`: the checks that Kubernetes' own definitions have and the generated
//! schema lacks.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    JSON, JSONSchemaProps, JSONSchemaPropsOrArray,
};
use serde_json::json;

/// All required. Conditions of other kinds, as a Pod's, have an optional reason or more fields.
const REQUIRED: [&str; 5] = ["lastTransitionTime", "message", "reason", "status", "type"];
const TYPE: &str = r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$";
const REASON: &str = "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$";

/// Tightens `list` if it is a list of conditions.
pub(super) fn tighten(list: &mut JSONSchemaProps) {
    let Some(JSONSchemaPropsOrArray::Schema(item)) = &mut list.items else { return };
    if !is_condition(item) {
        return;
    }
    list.x_kubernetes_list_type = Some("map".to_owned());
    list.x_kubernetes_list_map_keys = Some(vec!["type".to_owned()]);
    for (name, property) in item.properties.iter_mut().flatten() {
        match name.as_str() {
            "lastTransitionTime" => property.format = Some("date-time".to_owned()),
            "message" => property.max_length = Some(32_768),
            "observedGeneration" => property.minimum = Some(0.0),
            "reason" => {
                property.min_length = Some(1);
                length_and_pattern(property, 1024, REASON);
            }
            "status" => property.enum_ = Some(["True", "False", "Unknown"].map(json_of).to_vec()),
            "type" => length_and_pattern(property, 316, TYPE),
            _ => {}
        }
    }
}

fn is_condition(item: &JSONSchemaProps) -> bool {
    let (Some(properties), Some(required)) = (&item.properties, &item.required) else {
        return false;
    };
    let has_all = REQUIRED
        .iter()
        .all(|name| properties.contains_key(*name) && required.iter().any(|one| one == name));
    let has_no_other = properties
        .keys()
        .all(|name| name == "observedGeneration" || REQUIRED.contains(&name.as_str()));
    has_all && has_no_other
}

fn length_and_pattern(property: &mut JSONSchemaProps, longest: i64, pattern: &str) {
    property.max_length = Some(longest);
    property.pattern = Some(pattern.to_owned());
}

fn json_of(text: &str) -> JSON {
    JSON(json!(text))
}
