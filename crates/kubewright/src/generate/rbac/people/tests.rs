//! Who may do what, by role.

use kube::{CustomResource, CustomResourceExt as _, KubeSchema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;

/// Can be scaled.
#[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
#[kube(group = "example.com", version = "v1", kind = "Pot", namespaced, status = "PotStatus")]
#[kube(scale(spec_replicas_path = ".spec.size", status_replicas_path = ".status.size"))]
struct PotSpec {}

#[derive(KubeSchema, Clone, Debug, Serialize, Deserialize)]
struct PotStatus {}

/// Cannot be scaled, and is in no namespace.
#[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
#[kube(group = "example.com", version = "v1", kind = "Shelf", plural = "shelves")]
struct ShelfSpec {}

/// Name, labels, and verbs by resource.
fn told(role: &ClusterRole) -> (String, Value, Vec<(String, String)>) {
    let rules = role.rules.iter().flatten();
    let rules = rules
        .map(|rule| (rule.resources.iter().flatten().cloned().collect(), rule.verbs.join(",")));
    (role.metadata.name.clone().unwrap(), json!(role.metadata.labels), rules.collect())
}

fn rule_of(resource: &str, verbs: &str) -> (String, String) {
    (resource.to_owned(), verbs.to_owned())
}

#[test]
fn each_kind_has_an_admin_an_editor_and_a_viewer() {
    let roles = people("garden-operator", &[Pot::crd()]);
    let [admin, editor, viewer] = &roles[..] else { panic!("{roles:?}") };
    let (name, labels, rules) = told(admin);
    assert_eq!(name, "garden-operator-pot-admin-role");
    let label = "rbac.authorization.k8s.io/aggregate-to-admin";
    assert_eq!(labels, json!({"app.kubernetes.io/name": "garden-operator", label: "true"}));
    let expected =
        [rule_of("pots", "*"), rule_of("pots/status", "get"), rule_of("pots/scale", "*")];
    assert_eq!(rules, expected);
    let (name, labels, rules) = told(editor);
    assert_eq!(name, "garden-operator-pot-editor-role");
    assert_eq!(labels["rbac.authorization.k8s.io/aggregate-to-edit"], "true");
    let expected = [
        rule_of("pots", "create,delete,get,list,patch,update,watch"),
        rule_of("pots/status", "get"),
        rule_of("pots/scale", "get,patch,update"),
    ];
    assert_eq!(rules, expected);
    let (name, labels, rules) = told(viewer);
    assert_eq!(name, "garden-operator-pot-viewer-role");
    assert_eq!(labels["rbac.authorization.k8s.io/aggregate-to-view"], "true");
    let expected = [
        rule_of("pots", "get,list,watch"),
        rule_of("pots/status", "get"),
        rule_of("pots/scale", "get"),
    ];
    assert_eq!(rules, expected);
}

#[test]
fn a_kind_without_a_namespace_is_nobodys_who_works_in_one() {
    for role in people("garden-operator", &[Shelf::crd()]) {
        let (name, labels, rules) = told(&role);
        assert_eq!(labels, json!({"app.kubernetes.io/name": "garden-operator"}), "{name}");
        assert_eq!(rules.len(), 2, "{name}");
    }
}

#[test]
fn kinds_of_one_name_have_roles_of_their_own() {
    let mut other = Pot::crd();
    other.spec.group = "other.example.org".to_owned();
    let roles = people("garden-operator", &[Pot::crd(), other, Shelf::crd()]);
    let names: Vec<_> = roles.iter().step_by(3).map(|role| told(role).0).collect();
    let expected = [
        "garden-operator-example-com-pot-admin-role",
        "garden-operator-other-example-org-pot-admin-role",
        "garden-operator-shelf-admin-role",
    ];
    assert_eq!(names, expected);
}
