//! The objects that an installation gets for its webhooks, and the same as a bundle describes it.

use serde_json::{Value, json};

use super::{
    ADMISSION, PORT, PORT_NAME, Purpose, SERVICE_PORT, TIMEOUT_SECONDS, Webhook,
    configuration_kind, configuration_name, service_name,
};
use crate::generate::manager::pod_labels;
use crate::generate::{Installation, manager_name, metadata};
use crate::names::{dns_label, label_value};

/// The Service and the configurations; none without a webhook.
pub fn objects(installation: &Installation) -> Vec<Value> {
    let Installation { webhooks, .. } = installation;
    if webhooks.is_empty() {
        return Vec::new();
    }
    let mut objects = vec![service(installation)];
    objects.extend(configurations(installation));
    objects
}

/// The Service in front of the webhooks.
fn service(installation: &Installation) -> Value {
    let Installation { operator, namespace, .. } = installation;
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata(operator, service_name(operator), Some(namespace)),
        "spec": {
            "ports": [{
                "name": PORT_NAME, "port": SERVICE_PORT, "protocol": "TCP", "targetPort": PORT_NAME,
            }],
            "selector": pod_labels(operator),
        },
    })
}

/// What calls the admission webhooks. The operator itself writes into them whom to trust.
pub fn configurations(installation: &Installation) -> Vec<Value> {
    let Installation { operator, webhooks, .. } = installation;
    let one = |purpose| {
        let of_it = webhooks.iter().filter(|webhook| webhook.purpose == purpose);
        let list: Vec<_> = of_it.map(|webhook| entry(installation, webhook)).collect();
        let name = configuration_name(operator, purpose);
        (!list.is_empty()).then(|| {
            json!({
                "apiVersion": format!("{ADMISSION}/v1"),
                "kind": configuration_kind(purpose).0,
                "metadata": metadata(operator, name, None),
                "webhooks": list,
            })
        })
    };
    [Purpose::Mutate, Purpose::Validate].into_iter().filter_map(one).collect()
}

fn entry(installation: &Installation, webhook: &Webhook) -> Value {
    let Installation { operator, namespace, .. } = installation;
    let account = format!("system:serviceaccount:{namespace}:{}", manager_name(operator));
    json!({
        "name": webhook.name(),
        "admissionReviewVersions": ["v1"],
        "clientConfig": {"service": {
            "name": service_name(operator), "namespace": namespace,
            "path": webhook.path(), "port": SERVICE_PORT,
        }},
        "failurePolicy": "Fail",
        "matchConditions": [
            // What is being deleted only loses finalizers, and nothing may hold that up.
            {
                "name": "not-going",
                "expression": "request.operation == 'DELETE' || !has(object.metadata.deletionTimestamp)",
            },
            // The operator never waits for itself: when it leaves, nobody answers.
            {
                "name": "not-the-operator",
                "expression": format!("request.userInfo.username != '{account}'"),
            },
        ],
        "matchPolicy": "Equivalent",
        "rules": rules(webhook),
        "sideEffects": "None",
        "timeoutSeconds": TIMEOUT_SECONDS,
    })
}

/// What a webhook is asked about.
fn rules(webhook: &Webhook) -> Value {
    let Webhook { group, version, plural, operations, .. } = webhook;
    json!([{
        "apiGroups": [group], "apiVersions": [version], "operations": operations,
        "resources": [plural],
    }])
}

/// The webhooks as a `ClusterServiceVersion` describes them. The lifecycle manager makes configurations,
/// Services and certificates from that itself.
pub(crate) fn definitions(installation: &Installation) -> Vec<Value> {
    let deployment = manager_name(&installation.operator);
    let one = |webhook: &Webhook| {
        let mut definition = json!({
            "admissionReviewVersions": ["v1"],
            "containerPort": SERVICE_PORT,
            "deploymentName": deployment,
            "generateName": called(webhook),
            "sideEffects": "None",
            "targetPort": PORT,
            "webhookPath": webhook.path(),
        });
        let type_ = match webhook.purpose {
            Purpose::Mutate => "MutatingAdmissionWebhook",
            Purpose::Validate => "ValidatingAdmissionWebhook",
            Purpose::Convert => "ConversionWebhook",
        };
        let more = match webhook.purpose {
            Purpose::Convert => json!({
                "type": type_,
                "conversionCRDs": [webhook.definition()],
            }),
            Purpose::Mutate | Purpose::Validate => json!({
                "type": type_,
                "failurePolicy": "Fail",
                "matchPolicy": "Equivalent",
                "rules": rules(webhook),
                "timeoutSeconds": TIMEOUT_SECONDS,
            }),
        };
        if let (Value::Object(definition), Value::Object(more)) = (&mut definition, more) {
            definition.extend(more);
        }
        definition
    };
    installation.webhooks.iter().map(one).collect()
}

/// What the lifecycle manager calls a webhook. It makes a label of that, and is silent where it cannot.
fn called(webhook: &Webhook) -> String {
    let (word, definition) = (webhook.purpose.word(), webhook.definition());
    let name = format!("{word}.{definition}");
    if label_value(&name) == name {
        return name;
    }
    let hashed = dns_label(&definition); // a beginning, a dash and 16 digits: it has a dot in it
    let (_, hash) = hashed.rsplit_once('-').unwrap_or_default();
    format!("{word}.{:.20}-{hash}.kubewright.dev", webhook.plural)
}
