//! The roles that an administrator gives to people: admin, editor and viewer of each kind, under the
//! names that Kubebuilder gives them.
//!
//! Nobody is bound to them here. Those of namespaced kinds are part of the cluster's own `admin`, `edit`
//! and `view` as well, so that who may work in a namespace may use the operator there without being
//! granted anything more.

#[cfg(test)]
mod tests;

use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::rule;
use crate::generate::metadata;

const EDIT: &[&str] = &["create", "delete", "get", "list", "patch", "update", "watch"];
const VIEW: &[&str] = &["get", "list", "watch"];

/// A role for people.
struct Person {
    /// Kubebuilder's word for the role.
    name: &'static str,
    /// The cluster's own role that it becomes a part of.
    part_of: &'static str,
    verbs: &'static [&'static str],
    scale: &'static [&'static str],
}

const PEOPLE: [Person; 3] = [
    Person { name: "admin", part_of: "admin", verbs: &["*"], scale: &["*"] },
    Person { name: "editor", part_of: "edit", verbs: EDIT, scale: &["get", "patch", "update"] },
    Person { name: "viewer", part_of: "view", verbs: VIEW, scale: &["get"] },
];

/// The three roles of each kind that `definitions` define.
pub fn people(operator: &str, definitions: &[CustomResourceDefinition]) -> Vec<ClusterRole> {
    let roles = definitions.iter().flat_map(|definition| {
        let kind = kind(definition, definitions);
        PEOPLE.iter().map(move |person| role(person, operator, &kind, definition))
    });
    roles.collect()
}

/// What the roles call the kind: by its name, and where groups share that, with its group.
fn kind(definition: &CustomResourceDefinition, all: &[CustomResourceDefinition]) -> String {
    let (group, kind) = (&definition.spec.group, &definition.spec.names.kind);
    let is_shared = all.iter().filter(|other| other.spec.names.kind == *kind).count() > 1;
    let kind = kind.to_lowercase();
    if is_shared { format!("{}-{kind}", group.replace('.', "-")) } else { kind }
}

fn role(
    person: &Person,
    operator: &str,
    kind: &str,
    definition: &CustomResourceDefinition,
) -> ClusterRole {
    let spec = &definition.spec;
    let mut metadata = metadata(operator, format!("{operator}-{kind}-{}-role", person.name), None);
    if spec.scope == "Namespaced" {
        let label = format!("rbac.authorization.k8s.io/aggregate-to-{}", person.part_of);
        metadata.labels.get_or_insert_default().insert(label, "true".to_owned());
    }
    ClusterRole { metadata, rules: Some(rules(person, definition)), ..ClusterRole::default() }
}

fn rules(person: &Person, definition: &CustomResourceDefinition) -> Vec<PolicyRule> {
    let spec = &definition.spec;
    let has_scale = spec.versions.iter().any(|version| {
        version.subresources.as_ref().is_some_and(|subresources| subresources.scale.is_some())
    });
    let (group, plural) = (&spec.group, &spec.names.plural);
    let mut rules =
        vec![rule(group, plural, person.verbs), rule(group, &format!("{plural}/status"), &["get"])];
    // Else `kubectl scale` would be refused to who may set the very same field by `kubectl edit`.
    if has_scale {
        rules.push(rule(group, &format!("{plural}/scale"), person.scale));
    }
    rules
}
