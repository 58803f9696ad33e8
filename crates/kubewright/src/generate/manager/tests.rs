//! What the manifests say, by what matters to whoever reads them.

use super::*;
use crate::generate::Installation;
use crate::generate::rbac::{Access, Scope};

fn installation() -> Installation {
    Installation {
        operator: "guestbook-operator".to_owned(),
        definitions: Vec::new(),
        related: std::collections::BTreeMap::new(),
        access: Access::default(),
        finalizes: true,
        environment: vec![("GUESTBOOK_IMAGE".to_owned(), "example.com/guestbook:1".to_owned())],
        namespace: "guestbook-operator-system".to_owned(),
        image: "example.com/guestbook-operator:v1".to_owned(),
        scope: Scope::Cluster,
        webhooks: Vec::new(),
    }
}

fn namespaced(namespaces: &[&str]) -> Installation {
    let namespaces = namespaces.iter().map(ToString::to_string).collect();
    let scope = Scope::Namespaces(namespaces);
    Installation { namespace: "team".to_owned(), scope, ..installation() }
}

fn container(installation: &Installation) -> Value {
    deployment(installation)["spec"]["template"]["spec"]["containers"][0].clone()
}

fn kinds(objects: &[Value]) -> Vec<&str> {
    objects.iter().filter_map(|object| object["kind"].as_str()).collect()
}

#[test]
fn the_deployment_runs_the_image_as_the_account_under_its_name() {
    let deployment = deployment(&installation());
    let name = "guestbook-operator-controller-manager";
    assert_eq!(deployment["metadata"]["name"], name);
    assert_eq!(deployment["metadata"]["namespace"], "guestbook-operator-system");
    let pod = &deployment["spec"]["template"];
    assert_eq!(pod["spec"]["serviceAccountName"], name);
    assert_eq!(pod["spec"]["containers"][0]["image"], "example.com/guestbook-operator:v1");
    assert_eq!(pod["metadata"]["labels"], deployment["spec"]["selector"]["matchLabels"]);
}

#[test]
fn the_operator_is_told_its_deployment_and_what_the_author_says() {
    let own = json!({"name": "OWN_DEPLOYMENT", "value": "guestbook-operator-controller-manager"});
    let image = json!({"name": "GUESTBOOK_IMAGE", "value": "example.com/guestbook:1"});
    assert_eq!(container(&installation())["env"], json!([own, image]));
}

#[test]
fn for_one_namespace_it_watches_the_one_that_it_runs_in() {
    let watch = container(&namespaced(&["team"]))["env"][1].clone();
    let field = json!({"fieldRef": {"fieldPath": "metadata.namespace"}});
    assert_eq!(watch, json!({"name": "WATCH_NAMESPACE", "valueFrom": field}));
    let watch = container(&namespaced(&["a", "b"]))["env"][1].clone();
    assert_eq!(watch, json!({"name": "WATCH_NAMESPACE", "value": "a,b"}));
}

#[test]
fn only_a_namespace_of_its_own_is_made_and_restricted() {
    let own = manager(&installation());
    assert_eq!(kinds(&own), ["Namespace", "NetworkPolicy", "PodDisruptionBudget", "Deployment"]);
    assert_eq!(own[0]["metadata"]["labels"]["pod-security.kubernetes.io/enforce"], "restricted");
    let of_others = manager(&namespaced(&["team"]));
    assert_eq!(kinds(&of_others), ["NetworkPolicy", "PodDisruptionBudget", "Deployment"]);
}

#[test]
fn policy_and_budget_select_the_pods_of_the_deployment() {
    let installation = installation();
    let labels = &deployment(&installation)["spec"]["template"]["metadata"]["labels"];
    let policy = network_policy(&installation);
    assert_eq!(policy["spec"]["podSelector"]["matchLabels"], *labels);
    let budget = disruption_budget(&installation);
    assert_eq!(budget["spec"]["selector"]["matchLabels"], *labels);
    let port = &policy["spec"]["ingress"][0]["ports"][0]["port"];
    assert_eq!(container(&installation)["ports"][0]["containerPort"], *port);
}

#[test]
fn an_operator_that_objects_wait_for_leaves_by_a_job_of_its_own_pod() {
    let installation = installation();
    let running = deployment(&installation);
    let objects = leaving(&installation, &running);
    assert_eq!(kinds(&objects), ["Role", "RoleBinding", "Job"]);
    let pod = &objects[2]["spec"]["template"]["spec"];
    let container = &pod["containers"][0];
    assert_eq!(container["args"][0], "leave");
    assert!(container.get("readinessProbe").is_none(), "{container}");
    let other = &running["spec"]["template"]["spec"];
    assert_eq!(container["securityContext"], other["containers"][0]["securityContext"]);
    assert_eq!(pod["serviceAccountName"], other["serviceAccountName"]);
    // Nothing that looks for the operator's pods may find this one.
    let labels = &objects[2]["spec"]["template"]["metadata"]["labels"];
    assert!(labels.get("control-plane").is_none(), "{labels}");
}

#[test]
fn nothing_leaves_where_no_object_waits() {
    let installation = Installation { finalizes: false, ..installation() };
    assert!(leaving(&installation, &deployment(&installation)).is_empty());
}
