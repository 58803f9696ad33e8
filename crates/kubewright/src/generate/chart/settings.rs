//! What whoever installs a chart can set: each value once, with its default, its schema and what it is for.
//! `values.yaml`, `values.schema.json` and the table for people follow from it.

use serde_json::{Value, json};

use super::Chart;
use crate::generate::manager;

/// A value of the chart.
pub(super) struct Setting {
    /// Where it is, as in `image.tag`.
    pub(super) path: String,
    /// What it is for, in one line.
    pub(super) about: String,
    pub(super) default: Value,
    /// What it may be.
    pub(super) schema: Value,
}

/// The image of an operator, as charts have it.
pub(super) struct Image<'a> {
    pub(super) repository: &'a str,
    /// Empty for that of the chart's version.
    pub(super) tag: &'a str,
    pub(super) digest: &'a str,
}

impl<'a> Image<'a> {
    /// The parts of `image`; a colon before the last slash belongs to a port.
    pub(super) fn of(image: &'a str) -> Self {
        let (name, digest) = image.split_once('@').unwrap_or((image, ""));
        match name.rsplit_once(':') {
            Some((repository, tag)) if !tag.contains('/') => Self { repository, tag, digest },
            _ => Self { repository: name, tag: "", digest },
        }
    }
}

/// All of them, in the order in which people read them.
pub(super) fn settings(chart: &Chart<'_>) -> Vec<Setting> {
    let mut settings = image(chart);
    settings.extend(environment(chart));
    settings.extend(installed());
    settings.extend(pod(chart));
    settings.extend(metrics());
    settings
}

fn image(chart: &Chart<'_>) -> Vec<Setting> {
    let Image { repository, tag, digest } = Image::of(&chart.image);
    let container = container(chart);
    vec![
        setting("image.repository", "Where the operator's image is", repository, name()),
        setting("image.tag", "Its tag; empty for `v` and the version of the chart", tag, text()),
        setting(
            "image.digest",
            "Its digest, as in `sha256:…`; then the tag does not count",
            digest,
            json!({"type": "string", "pattern": "^(sha256:[0-9a-f]{64})?$"}),
        ),
        setting(
            "image.pullPolicy",
            "When a node asks the registry",
            &container["imagePullPolicy"],
            json!({"enum": ["Always", "IfNotPresent", "Never"]}),
        ),
        setting(
            "imagePullSecrets",
            "Secrets for the registry, as in `[{name: registry}]`",
            json!([]),
            json!({"type": "array", "items": object(&json!({"name": name()}))}),
        ),
    ]
}

/// The variables of the operator's own, and those that it gets in addition.
fn environment(chart: &Chart<'_>) -> Vec<Setting> {
    let own = chart.installation.environment.iter().map(|(variable, default)| {
        let about = format!("The operator's variable {variable}");
        setting(&format!("environment.{variable}"), &about, default, text())
    });
    let mut settings: Vec<_> = own.collect();
    settings.extend([
        setting(
            "extraEnv",
            "More variables of the operator's container, as in a pod",
            json!([]),
            list("object"),
        ),
        setting(
            "extraArgs",
            "More flags of the operator, as in `[--log-level=debug]`",
            json!([]),
            list("string"),
        ),
    ]);
    settings
}

/// What is installed, and for which namespaces.
fn installed() -> Vec<Setting> {
    let namespace =
        json!({"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", "maxLength": 63});
    vec![
        setting(
            "watchNamespaces",
            "The namespaces that the operator looks after, by a Role in each; empty for all, by a ClusterRole",
            json!([]),
            json!({"type": "array", "items": namespace, "uniqueItems": true}),
        ),
        setting(
            "crds.install",
            "Whether the definitions are a part of the release: of several in one cluster, of one only",
            true,
            boolean(),
        ),
        setting(
            "crds.keep",
            "Whether they, and with them all objects, outlive `helm uninstall`",
            true,
            boolean(),
        ),
        setting(
            "peopleRoles.install",
            "Roles for people (admin, editor, viewer), parts of the cluster's own admin, edit and view",
            true,
            boolean(),
        ),
        setting(
            "serviceAccount.annotations",
            "Annotations of the operator's account",
            json!({}),
            texts(),
        ),
    ]
}

/// How the operator's pods are placed and what they have.
fn pod(chart: &Chart<'_>) -> Vec<Setting> {
    let deployment = manager::deployment(chart.installation);
    let quantities =
        json!({"type": "object", "additionalProperties": {"type": ["string", "number"]}});
    let resources = object(&json!({
        "requests": quantities, "limits": quantities, "claims": list("object"),
    }));
    let free = json!({"type": "object"});
    let affinity =
        object(&json!({"nodeAffinity": free, "podAffinity": free, "podAntiAffinity": free}));
    vec![
        setting(
            "replicas",
            "How many pods; one works, the others stand by",
            &deployment["spec"]["replicas"],
            json!({"type": "integer", "minimum": 0}),
        ),
        setting("resources", "What a pod may use", &container(chart)["resources"], resources),
        setting("podAnnotations", "Annotations of the pods", json!({}), texts()),
        setting("podLabels", "Labels of the pods", json!({}), texts()),
        setting("nodeSelector", "Labels of the nodes that they run on", json!({}), texts()),
        setting("tolerations", "Taints that they tolerate", json!([]), list("object")),
        setting("affinity", "Where they would rather run", json!({}), affinity),
        setting("priorityClassName", "Their priority", "", text()),
    ]
}

fn metrics() -> Vec<Setting> {
    vec![
        setting(
            "metrics.enabled",
            "Metrics at /metrics over plain HTTP, with a Service, open to whoever reaches the pod",
            false,
            boolean(),
        ),
        setting(
            "metrics.serviceMonitor.enabled",
            "A ServiceMonitor for the Prometheus Operator",
            false,
            boolean(),
        ),
        setting(
            "metrics.serviceMonitor.interval",
            "How often Prometheus asks; empty for its own default",
            "",
            text(),
        ),
        setting(
            "metrics.serviceMonitor.labels",
            "Labels that your Prometheus looks for",
            json!({}),
            texts(),
        ),
    ]
}

/// The container as it is without the chart.
fn container(chart: &Chart<'_>) -> Value {
    manager::deployment(chart.installation)["spec"]["template"]["spec"]["containers"][0].clone()
}

fn setting(path: &str, about: &str, default: impl serde::Serialize, schema: Value) -> Setting {
    Setting { path: path.to_owned(), about: about.to_owned(), default: json!(default), schema }
}

/// An object with these fields and no others.
pub(super) fn object(properties: &Value) -> Value {
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn text() -> Value {
    json!({"type": "string"})
}

fn name() -> Value {
    json!({"type": "string", "minLength": 1})
}

fn boolean() -> Value {
    json!({"type": "boolean"})
}

fn list(items: &str) -> Value {
    json!({"type": "array", "items": {"type": items}})
}

/// Annotations and labels.
fn texts() -> Value {
    json!({"type": "object", "additionalProperties": {"type": "string"}})
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_has_three_parts_and_a_registry_may_have_a_port() {
        for (image, expected) in [
            ("registry:5000/a", ("registry:5000/a", "", "")),
            ("registry:5000/a:v1", ("registry:5000/a", "v1", "")),
            ("a@sha256:00", ("a", "", "sha256:00")),
            ("a:v1@sha256:00", ("a", "v1", "sha256:00")),
        ] {
            let Image { repository, tag, digest } = Image::of(image);
            assert_eq!((repository, tag, digest), expected, "{image}");
        }
    }
}
