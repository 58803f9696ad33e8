//! Whom the API server calls: a Service in the cluster, or an operator at an address beside it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, ServiceReference, WebhookClientConfig,
    WebhookConversion,
};
use serde_json::{Value, json};

use super::{Purpose, SERVICE_PORT, Webhook, service_name};

/// Lets the definitions convert through the operator in `namespace`.
pub(crate) fn converted(
    definitions: &mut [CustomResourceDefinition],
    operator: &str,
    namespace: &str,
    webhooks: &[Webhook],
) {
    for webhook in webhooks.iter().filter(|webhook| webhook.purpose == Purpose::Convert) {
        let name = webhook.definition();
        let is_meant = |definition: &&mut CustomResourceDefinition| {
            definition.metadata.name.as_deref() == Some(&name)
        };
        if let Some(definition) = definitions.iter_mut().find(is_meant) {
            let service = ServiceReference {
                name: service_name(operator),
                namespace: namespace.to_owned(),
                path: Some(webhook.path()),
                port: Some(SERVICE_PORT.into()),
            };
            let client_config =
                WebhookClientConfig { service: Some(service), ..WebhookClientConfig::default() };
            definition.spec.conversion = Some(CustomResourceConversion {
                strategy: "Webhook".to_owned(),
                webhook: Some(WebhookConversion {
                    client_config: Some(client_config),
                    conversion_review_versions: vec!["v1".to_owned()],
                }),
            });
        }
    }
}

/// The same objects, calling an operator at `address` (`127.0.0.1:9443`) instead of a Service: for an operator
/// beside the API server, as in tests.
#[must_use]
pub(crate) fn at_address(objects: Vec<Value>, address: &str) -> Vec<Value> {
    let mut objects = objects;
    for object in &mut objects {
        if let Some(config) = object.pointer_mut("/spec/conversion/webhook/clientConfig") {
            call(config, address);
        }
        for webhook in
            object.get_mut("webhooks").and_then(Value::as_array_mut).into_iter().flatten()
        {
            call(&mut webhook["clientConfig"], address);
        }
    }
    objects
}

fn call(config: &mut Value, address: &str) {
    if let Some(path) = config["service"]["path"].as_str() {
        *config = json!({"url": format!("https://{address}{path}")});
    }
}
