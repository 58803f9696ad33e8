//! What is generated for webhooks, and that nothing is without them.

use super::*;
use crate::generate::files::tests::installation as plain;
use crate::generate::{Installation, install, manager};

fn webhook(purpose: Purpose) -> Webhook {
    let operations = match purpose {
        Purpose::Convert => Vec::new(),
        _ => vec!["CREATE".to_owned(), "UPDATE".to_owned()],
    };
    Webhook {
        purpose,
        group: "example.com".to_owned(),
        version: "v1".to_owned(),
        kind: "Everything".to_owned(),
        plural: "everythings".to_owned(),
        operations,
    }
}

fn installation() -> Installation {
    let webhooks = [Purpose::Mutate, Purpose::Validate, Purpose::Convert].map(webhook).to_vec();
    let mut installation = Installation { webhooks, namespace: "there".to_owned(), ..plain() };
    installation.converts_at_home();
    installation
}

fn kinds(objects: &[Value]) -> Vec<&str> {
    objects.iter().filter_map(|object| object["kind"].as_str()).collect()
}

#[test]
fn without_a_webhook_there_is_nothing_of_it() {
    assert!(objects(&plain()).is_empty());
    assert_eq!(access("a-operator", &[]), Access::default());
    let text = json!(install::install(&plain())).to_string();
    for word in ["webhook", "9443", "secrets"] {
        assert!(!text.contains(word), "{word}");
    }
}

#[test]
fn a_service_and_configurations_lead_to_the_paths_that_are_served() {
    let installation = installation();
    let objects = objects(&installation);
    assert_eq!(
        kinds(&objects),
        ["Service", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"]
    );
    let service = &objects[2]["webhooks"][0]["clientConfig"]["service"];
    assert_eq!(service["path"], "/validate-example-com-v1-everything");
    assert_eq!(service["namespace"], "there");
    assert_eq!(service["name"], objects[0]["metadata"]["name"]);
    let ports =
        &manager::deployment(&installation)["spec"]["template"]["spec"]["containers"][0]["ports"];
    assert_eq!(ports[1]["name"], objects[0]["spec"]["ports"][0]["targetPort"]);
    let open = &manager::network_policy(&installation)["spec"]["ingress"][0]["ports"][1]["port"];
    assert_eq!(*open, ports[1]["containerPort"]);
}

#[test]
fn a_definition_converts_where_the_operator_runs() {
    let definition = json!(installation().definitions[0]);
    let conversion = &definition["spec"]["conversion"];
    assert_eq!(conversion["strategy"], "Webhook");
    let service = &conversion["webhook"]["clientConfig"]["service"];
    assert_eq!(service["namespace"], "there");
    assert_eq!(service["path"], "/convert-example-com-everything");
}

#[test]
fn every_permission_but_one_is_for_one_object() {
    let access = access("a-operator", &installation().webhooks);
    assert!(access.rules.is_empty());
    let names = |rule: &PolicyRule| rule.resource_names.clone().unwrap_or_default();
    assert_eq!(
        access.cluster_rules.iter().flat_map(names).collect::<Vec<_>>(),
        [
            "a-operator-mutating-webhook-configuration",
            "a-operator-validating-webhook-configuration",
            "everythings.example.com",
        ]
    );
    let unnamed: Vec<_> =
        access.own_namespace.iter().filter(|rule| rule.resource_names.is_none()).collect();
    assert_eq!(unnamed.len(), 1);
    assert_eq!(unnamed[0].verbs, ["create"]);
}

#[test]
fn beside_an_api_server_everything_calls_an_address() {
    let installation = installation();
    let mut documents = objects(&installation);
    documents.push(json!(installation.definitions[0]));
    let text = json!(at_address(documents, "127.0.0.1:1")).to_string();
    assert!(!text.contains("clientConfig\":{\"service"), "{text}");
    for path in ["mutate-example-com-v1-", "validate-example-com-v1-", "convert-example-com-"] {
        assert!(text.contains(&format!("https://127.0.0.1:1/{path}everything")), "{path}");
    }
}

#[test]
fn the_lifecycle_manager_is_told_of_each() {
    let definitions = definitions(&installation());
    let types: Vec<_> = definitions.iter().map(|one| one["type"].as_str().unwrap()).collect();
    assert_eq!(
        types,
        ["MutatingAdmissionWebhook", "ValidatingAdmissionWebhook", "ConversionWebhook"]
    );
    assert_eq!(definitions[2]["conversionCRDs"], json!(["everythings.example.com"]));
    assert_eq!(definitions[0]["targetPort"], 9443);
    assert!(definitions[2].get("rules").is_none());
}

#[test]
fn the_lifecycle_manager_can_make_a_label_of_every_name() {
    let mut installation = installation();
    let names = |installation: &Installation| -> Vec<String> {
        let definitions = definitions(installation);
        definitions.iter().map(|one| one["generateName"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&installation)[1], "validate.everythings.example.com");
    for webhook in &mut installation.webhooks {
        webhook.plural = "verylongnamesofthings".repeat(3);
        webhook.group = "a.group.that.has.many.words.example.com".to_owned();
    }
    let shortened = names(&installation);
    for name in &shortened {
        assert!(name.len() <= 63 && name.split('.').count() >= 3, "{name}");
    }
    let mut others = installation.clone();
    others.webhooks.iter_mut().for_each(|webhook| webhook.group.insert(0, 'b'));
    assert!(names(&others).iter().all(|name| !shortened.contains(name)));
}
