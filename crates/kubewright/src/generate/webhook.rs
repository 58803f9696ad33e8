//! What webhooks take beside the operator: a Service, the configurations that call them, the conversion of the
//! definitions, and the permissions for the operator to keep its certificate (feature `webhook`).
//!
//! Everything follows from what the controllers declare; without a declaration there is nothing.

mod calls;
mod objects;

use k8s_openapi::api::rbac::v1::PolicyRule;
use serde_json::{Value, json};

use super::rbac::{Access, merge, rule};

pub(crate) use calls::{at_address, converted};
pub(super) use objects::definitions;
pub use objects::{configurations, objects};

/// Where the operator serves its webhooks unless a flag says something else.
pub(super) const PORT: u16 = 9443;
/// The name of that port.
const PORT_NAME: &str = "webhook-server";
/// Where the API server asks for them.
const SERVICE_PORT: u16 = 443;
const TIMEOUT_SECONDS: u16 = 10;
const ADMISSION: &str = "admissionregistration.k8s.io";
const KEEP: &[&str] = &["get", "patch", "watch"];

/// What a webhook is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Fills in defaults.
    Mutate,
    /// Refuses and warns.
    Validate,
    /// Converts between the versions of a kind.
    Convert,
}

impl Purpose {
    /// What names of webhooks begin with.
    fn word(self) -> &'static str {
        match self {
            Self::Mutate => "default",
            Self::Validate => "validate",
            Self::Convert => "convert",
        }
    }
}

/// A webhook that a controller has declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Webhook {
    /// What it is for.
    pub purpose: Purpose,
    /// The group of the kind.
    pub group: String,
    /// The version that it takes; the API server converts others to it.
    pub version: String,
    /// The kind.
    pub kind: String,
    /// What its objects are called in URLs.
    pub plural: String,
    /// What it is asked about, as `CREATE`; none for conversion.
    pub operations: Vec<String>,
}

/// An object that calls webhooks, and so has to know whom to trust.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) group: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) plural: &'static str,
    pub(crate) name: String,
}

impl Webhook {
    /// Where it is served: admission as Kubebuilder's programs have it, conversion at a path for each kind, where
    /// these have `/convert` for all.
    pub fn path(&self) -> String {
        let Self { group, version, kind, .. } = self;
        let (group, kind) = (group.replace('.', "-"), kind.to_lowercase());
        match self.purpose {
            Purpose::Mutate => format!("/mutate-{group}-{version}-{kind}"),
            Purpose::Validate => format!("/validate-{group}-{version}-{kind}"),
            Purpose::Convert => format!("/convert-{group}-{kind}"),
        }
    }

    /// What people read when it refuses.
    fn name(&self) -> String {
        format!("{}.{}", self.purpose.word(), self.definition())
    }

    fn definition(&self) -> String {
        format!("{}.{}", self.plural, self.group)
    }
}

/// The name of the Service in front of all replicas, leading or not.
pub fn service_name(operator: &str) -> String {
    format!("{operator}-webhook-service")
}

/// The Secret that the operator keeps its certificate in.
pub fn secret_name(operator: &str) -> String {
    format!("{operator}-webhook-server-cert")
}

/// How the API server calls the operator that runs in `namespace`.
pub(crate) fn hosts(operator: &str, namespace: &str) -> Vec<String> {
    let service = format!("{}.{namespace}.svc", service_name(operator));
    let long = format!("{service}.cluster.local");
    vec![service, long]
}

/// The objects that call `webhooks`.
pub(crate) fn called(operator: &str, webhooks: &[Webhook]) -> Vec<Called> {
    let mut called = Vec::new();
    for purpose in [Purpose::Mutate, Purpose::Validate] {
        if webhooks.iter().any(|webhook| webhook.purpose == purpose) {
            let (kind, plural) = configuration_kind(purpose);
            let name = configuration_name(operator, purpose);
            called.push(Called { group: ADMISSION, kind, plural, name });
        }
    }
    let converting = webhooks.iter().filter(|webhook| webhook.purpose == Purpose::Convert);
    called.extend(converting.map(|webhook| Called {
        group: "apiextensions.k8s.io",
        kind: "CustomResourceDefinition",
        plural: "customresourcedefinitions",
        name: webhook.definition(),
    }));
    called
}

/// What the operator needs to keep its certificate itself: one Secret, and the objects that call it, each by
/// its name. Nobody can be allowed to create by name.
pub fn access(operator: &str, webhooks: &[Webhook]) -> Access {
    if webhooks.is_empty() {
        return Access::default();
    }
    let named =
        |rule: PolicyRule, name: String| PolicyRule { resource_names: Some(vec![name]), ..rule };
    let secret = rule("", "secrets", &["get", "update", "watch"]);
    let cluster_rules = called(operator, webhooks).into_iter();
    let cluster_rules = cluster_rules
        .map(|Called { group, plural, name, .. }| named(rule(group, plural, KEEP), name));
    Access {
        rules: Vec::new(),
        cluster_rules: cluster_rules.collect(),
        own_namespace: vec![named(secret, secret_name(operator)), rule("", "secrets", &["create"])],
    }
}

/// `access`, and what the operator needs to keep its certificate itself.
pub(crate) fn with_certificate(access: &Access, operator: &str, webhooks: &[Webhook]) -> Access {
    let Access { rules, cluster_rules, own_namespace } = self::access(operator, webhooks);
    Access {
        rules: merge([access.rules.clone(), rules].concat()),
        cluster_rules: merge([access.cluster_rules.clone(), cluster_rules].concat()),
        own_namespace: merge([access.own_namespace.clone(), own_namespace].concat()),
    }
}

/// The port of the container.
pub(super) fn container_port() -> Value {
    json!({"name": PORT_NAME, "containerPort": PORT, "protocol": "TCP"})
}

/// The API server must reach it, from wherever that is.
pub(super) fn opening() -> Value {
    json!({"protocol": "TCP", "port": PORT})
}

fn configuration_kind(purpose: Purpose) -> (&'static str, &'static str) {
    match purpose {
        Purpose::Mutate => ("MutatingWebhookConfiguration", "mutatingwebhookconfigurations"),
        _ => ("ValidatingWebhookConfiguration", "validatingwebhookconfigurations"),
    }
}

fn configuration_name(operator: &str, purpose: Purpose) -> String {
    let word = if purpose == Purpose::Mutate { "mutating" } else { "validating" };
    format!("{operator}-{word}-webhook-configuration")
}

#[cfg(test)]
mod tests;
