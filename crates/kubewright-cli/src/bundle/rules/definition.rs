//! `crd/…`: what the API server refuses of a definition, but for its schema: that, it says best itself.

use std::collections::BTreeSet;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceConversion, CustomResourceDefinition, CustomResourceDefinitionNames,
    CustomResourceDefinitionSpec, CustomResourceDefinitionVersion,
};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

use super::super::Findings;
use super::super::names::{is_key, is_label, is_label_value, is_subdomain};

const TYPES: [&str; 5] = ["integer", "number", "string", "boolean", "date"];
const APPROVED: &str = "api-approved.kubernetes.io";

/// Collects under one id what is wrong with one definition.
struct Refusals<'a> {
    file: &'a str,
    findings: &'a mut Findings,
}

impl Refusals<'_> {
    fn add(&mut self, id: &'static str, wrong: String) {
        let remedy =
            "The API server would refuse the definition: correct it in the code and generate anew.";
        self.findings.error(id, self.file, wrong, remedy);
    }
}

pub(super) fn check(file: &str, definition: &CustomResourceDefinition, findings: &mut Findings) {
    let mut refusals = Refusals { file, findings };
    let CustomResourceDefinitionSpec { group, names: all, versions, .. } = &definition.spec;
    if !is_subdomain(group) || !group.contains('.') {
        refusals.add("crd/group", format!("spec.group `{group}` is no domain with a dot in it"));
    }
    let name = definition.metadata.name.as_deref().unwrap_or_default();
    let expected = format!("{}.{group}", all.plural);
    if name != expected {
        refusals.add("crd/name", format!("metadata.name is `{name}` and must be `{expected}`"));
    }
    let scope = definition.spec.scope.as_str();
    if !["Namespaced", "Cluster"].contains(&scope) {
        refusals
            .add("crd/scope", format!("spec.scope `{scope}` is neither Namespaced nor Cluster"));
    }
    if definition.spec.preserve_unknown_fields == Some(true) {
        refusals.add("crd/preserve", "spec.preserveUnknownFields must be false".to_owned());
    }
    metadata(&definition.metadata, &mut refusals);
    approval(definition, &mut refusals);
    names(all, &mut refusals);
    self::versions(versions, &mut refusals);
    for version in versions {
        self::version(version, &mut refusals);
    }
    if let Some(conversion) = &definition.spec.conversion {
        self::conversion(conversion, &mut refusals);
    }
}

fn metadata(metadata: &ObjectMeta, refusals: &mut Refusals<'_>) {
    if let Some(namespace) = metadata.namespace.as_deref().filter(|text| !text.is_empty()) {
        let wrong = format!("metadata.namespace is `{namespace}`, and a definition is in none");
        refusals.add("crd/metadata", wrong);
    }
    for (key, value) in metadata.labels.iter().flatten() {
        if !is_key(key) || !is_label_value(value) {
            refusals.add("crd/metadata", format!("`{key}: {value}` cannot be a label"));
        }
    }
    for key in metadata.annotations.iter().flatten().map(|(key, _)| key) {
        if !is_key(&key.to_lowercase()) {
            refusals.add("crd/metadata", format!("`{key}` cannot be the key of an annotation"));
        }
    }
}

/// Groups of Kubernetes itself need its consent.
fn approval(definition: &CustomResourceDefinition, refusals: &mut Refusals<'_>) {
    let group = &definition.spec.group;
    let is_protected = ["k8s.io", "kubernetes.io"]
        .iter()
        .any(|domain| group == domain || group.ends_with(&format!(".{domain}")));
    let said = definition.metadata.annotations.as_ref().and_then(|all| all.get(APPROVED));
    let is_approved =
        said.is_some_and(|it| it.starts_with("https://") || it.starts_with("unapproved"));
    if is_protected && !is_approved {
        let wrong = format!("the group {group} is of Kubernetes itself, without `{APPROVED}`");
        refusals.add("crd/group-approval", wrong);
    }
}

fn names(names: &CustomResourceDefinitionNames, refusals: &mut Refusals<'_>) {
    let CustomResourceDefinitionNames {
        categories,
        kind,
        list_kind,
        plural,
        short_names,
        singular,
    } = names;
    let mut label = |field: &str, text: &str| {
        if !is_label(&text.to_lowercase()) {
            refusals.add("crd/names", format!("spec.names.{field} `{text}` cannot be a name"));
        }
    };
    label("kind", kind);
    label("plural", plural);
    let optional = [("singular", singular), ("listKind", list_kind)];
    for (field, text) in optional {
        if let Some(text) = text.as_deref().filter(|text| !text.is_empty()) {
            label(field, text);
        }
    }
    for text in short_names.iter().flatten().chain(categories.iter().flatten()) {
        label("shortNames or categories", text);
    }
    let lower = [Some(plural), singular.as_ref()].into_iter().flatten();
    let lower = lower.chain(short_names.iter().flatten()).chain(categories.iter().flatten());
    for text in lower.filter(|text| text.chars().any(char::is_uppercase)) {
        refusals.add("crd/names", format!("`{text}` in spec.names must be in lower case"));
    }
    if list_kind.as_ref() == Some(kind) {
        refusals.add("crd/names", format!("kind and listKind are both `{kind}`"));
    }
}

fn versions(versions: &[CustomResourceDefinitionVersion], refusals: &mut Refusals<'_>) {
    let names: BTreeSet<_> = versions.iter().map(|version| &version.name).collect();
    if names.len() != versions.len() {
        refusals.add("crd/versions", "two versions have the same name".to_owned());
    }
    let stored = versions.iter().filter(|version| version.storage).count();
    if stored != 1 {
        let wrong = format!("{stored} versions are stored, and it must be exactly one");
        refusals.add("crd/storage", wrong);
    }
}

fn version(version: &CustomResourceDefinitionVersion, refusals: &mut Refusals<'_>) {
    let name = &version.name;
    if !is_label(name) {
        refusals.add("crd/versions", format!("`{name}` cannot be the name of a version"));
    }
    if let Some(warning) = &version.deprecation_warning
        && (version.deprecated != Some(true) || warning.is_empty() || warning.len() > 256)
    {
        let wrong = format!(
            "deprecationWarning of {name} needs `deprecated: true` and 1 to 256 characters"
        );
        refusals.add("crd/deprecation", wrong);
    }
    for column in version.additional_printer_columns.iter().flatten() {
        let is_known = TYPES.contains(&column.type_.as_str());
        if column.name.is_empty() || !is_known || !column.json_path.starts_with('.') {
            let wrong = format!(
                "the printed column `{}` of {name} needs a name, a type of {} and a jsonPath that begins with a dot",
                column.name,
                TYPES.join(", ")
            );
            refusals.add("crd/column", wrong);
        }
    }
    let scale = version.subresources.as_ref().and_then(|it| it.scale.as_ref());
    let Some(scale) = scale else { return };
    let selector = scale.label_selector_path.as_deref().filter(|path| !path.is_empty());
    if !scale.spec_replicas_path.starts_with(".spec.")
        || !scale.status_replicas_path.starts_with(".status.")
        || selector.is_some_and(|it| !it.starts_with(".spec.") && !it.starts_with(".status."))
    {
        let wrong =
            format!("the paths of the scale subresource of {name} are not in spec and status");
        refusals.add("crd/scale", wrong);
    }
}

fn conversion(conversion: &CustomResourceConversion, refusals: &mut Refusals<'_>) {
    let webhook = conversion.webhook.as_ref();
    let wrong = match conversion.strategy.as_str() {
        "None" if webhook.is_none() => return,
        "None" => "strategy None has no webhook",
        "Webhook" => {
            let client = webhook.and_then(|webhook| webhook.client_config.as_ref());
            let is_one = client.is_some_and(|it| it.url.is_some() != it.service.is_some());
            let speaks = webhook.is_some_and(|webhook| {
                let versions = &webhook.conversion_review_versions;
                versions.iter().any(|version| version == "v1" || version == "v1beta1")
            });
            if is_one && speaks {
                return;
            }
            "strategy Webhook needs a url or a service, and conversionReviewVersions with v1"
        }
        _ => "strategy is neither None nor Webhook",
    };
    refusals.add("crd/conversion", format!("spec.conversion: {wrong}"));
}
