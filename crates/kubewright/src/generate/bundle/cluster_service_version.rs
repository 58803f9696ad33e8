//! The `ClusterServiceVersion`: a release of an operator as the Operator Lifecycle Manager installs it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, CustomResourceDefinitionVersion,
};
use serde_json::{Value, json};

use super::descriptors::{descriptors, title};
use super::{About, Bundle, Error};
use crate::generate::rbac::{Scope, merge};
#[cfg(feature = "webhook")]
use crate::generate::webhook::Purpose;
use crate::generate::{Installation, OLDEST_KUBERNETES, is_version, manager, manager_name};

/// The lifecycle manager tells a pod here which namespaces it is to look after; empty means all.
const TARGETS: &str = "metadata.annotations['olm.targetNamespaces']";

/// The document.
pub(super) fn cluster_service_version(bundle: &Bundle<'_>) -> Result<Value, Error> {
    let about = bundle.about()?;
    let version = &bundle.release.version;
    let operator = &bundle.installation.operator;
    let name = format!("{operator}.v{version}");
    if !is_version(version) {
        return Err(Error::Version(version.clone()));
    }
    if name.len() > 63 {
        return Err(Error::Name(name));
    }
    Ok(json!({
        "apiVersion": "operators.coreos.com/v1alpha1",
        "kind": "ClusterServiceVersion",
        "metadata": {
            "name": name,
            "namespace": "placeholder",
            "annotations": annotations(bundle, &about)?,
        },
        "spec": spec(bundle, &about),
    }))
}

fn annotations(bundle: &Bundle<'_>, about: &About<'_>) -> Result<Value, Error> {
    let more = bundle.about;
    let mut annotations = json!({
        "alm-examples": examples(bundle.samples)?,
        "capabilities": more.capabilities.as_deref().unwrap_or("Basic Install"),
        "containerImage": bundle.installation.image,
        "description": about.description.lines().next(),
        "support": about.provider.name,
    });
    if !more.categories.is_empty() {
        annotations["categories"] = json!(more.categories.join(","));
    }
    if let Some(repository) = &more.repository {
        annotations["repository"] = json!(repository);
    }
    Ok(annotations)
}

/// The samples as a list in JSON, as a text.
fn examples(samples: &[&str]) -> Result<String, Error> {
    let mut examples: Vec<Value> = Vec::new();
    for sample in samples {
        let documents = serde_saphyr::from_multiple::<Value>(sample);
        examples.extend(documents.map_err(|error| Error::Sample(Box::new(error)))?);
    }
    let text = serde_json::to_string_pretty(&examples);
    Ok(text.unwrap_or_default())
}

fn spec(bundle: &Bundle<'_>, about: &About<'_>) -> Value {
    let more = bundle.about;
    let installation = bundle.installation;
    let kinds = installation.definitions.iter();
    let owned: Vec<_> = kinds.flat_map(|definition| owned(installation, definition)).collect();
    // A kind has one conversion in the whole cluster.
    #[cfg(feature = "webhook")]
    let converts = installation.webhooks.iter().any(|webhook| webhook.purpose == Purpose::Convert);
    #[cfg(not(feature = "webhook"))]
    let converts = false;
    let mode = |type_: &str, supported| json!({"type": type_, "supported": supported});
    let maintainers: Vec<_> = about
        .maintainers
        .iter()
        .map(|person| json!({"name": person.name, "email": person.email}))
        .collect();
    let links: Vec<_> =
        more.links.iter().map(|link| json!({"name": link.name, "url": link.url})).collect();
    #[cfg_attr(not(feature = "webhook"), expect(unused_mut, reason = "nothing is added"))]
    let mut spec = json!({
        "apiservicedefinitions": {},
        "customresourcedefinitions": {"owned": owned},
        "description": about.description,
        "displayName": about.display_name,
        "icon": [{"base64data": about.icon.data, "mediatype": about.icon.media_type}],
        "install": {"strategy": "deployment", "spec": install(installation)},
        "installModes": [
            mode("OwnNamespace", !converts),
            mode("SingleNamespace", !converts),
            mode("MultiNamespace", false),
            mode("AllNamespaces", true),
        ],
        "keywords": more.keywords,
        "links": links,
        "maintainers": maintainers,
        "maturity": more.maturity.as_deref().unwrap_or("alpha"),
        "minKubeVersion": OLDEST_KUBERNETES,
        "provider": {"name": about.provider.name, "url": about.provider.url},
        "relatedImages": related_images(installation),
        "version": bundle.release.version,
    });
    #[cfg(feature = "webhook")]
    if !installation.webhooks.is_empty() {
        spec["webhookdefinitions"] = json!(crate::generate::webhook::definitions(installation));
    }
    spec
}

/// A kind as a console shows it, once for each version.
fn owned(installation: &Installation, definition: &CustomResourceDefinition) -> Vec<Value> {
    let spec = &definition.spec;
    let kind = &spec.names.kind;
    let name = definition.metadata.name.as_deref().unwrap_or_default();
    let related = installation.related.get(name).into_iter().flatten();
    let resources: Vec<_> =
        related.map(|one| json!({"kind": one.kind, "name": "", "version": one.version})).collect();
    let one = |version: &CustomResourceDefinitionVersion| {
        let schema = version.schema.as_ref().and_then(|schema| schema.open_api_v3_schema.as_ref());
        let description = schema.and_then(|schema| schema.description.as_ref()).unwrap_or(kind);
        json!({
            "name": name,
            "version": version.name,
            "kind": kind,
            "displayName": title(kind),
            "description": description,
            "resources": resources,
            "specDescriptors": descriptors(version, "spec"),
            "statusDescriptors": descriptors(version, "status"),
        })
    };
    spec.versions.iter().map(one).collect()
}

/// The Deployment, and what it may do.
///
/// Rules for namespaced kinds are `permissions`: the lifecycle manager grants those in the namespaces that
/// the operator looks after, and in the whole cluster if these are all.
fn install(installation: &Installation) -> Value {
    let Installation { operator, access, .. } = installation;
    let account = manager_name(operator);
    let watched = Installation { scope: Scope::Cluster, ..installation.clone() };
    let deployment = manager::deployment(&watched);
    let mut spec = deployment["spec"].clone();
    if let Some(variables) = spec["template"]["spec"]["containers"][0]["env"].as_array_mut() {
        let targets = json!({"fieldRef": {"fieldPath": TARGETS}});
        variables.push(json!({"name": "WATCH_NAMESPACE", "valueFrom": targets}));
    }
    let granted = |rules| json!([{"serviceAccountName": account, "rules": rules}]);
    let rules = merge([&access.rules[..], &access.own_namespace].concat());
    let mut install = json!({
        "deployments": [{
            "name": account,
            "label": deployment["metadata"]["labels"],
            "spec": spec,
        }],
        "permissions": granted(rules),
    });
    if !access.cluster_rules.is_empty() {
        install["clusterPermissions"] = granted(access.cluster_rules.clone());
    }
    install
}

/// The operator's image, and those that it is told of in its environment.
fn related_images(installation: &Installation) -> Vec<Value> {
    let variables = installation.environment.iter();
    let told = variables.filter_map(|(name, image)| {
        let name = name.strip_suffix("_IMAGE")?.to_lowercase().replace('_', "-");
        Some(json!({"name": name, "image": image}))
    });
    let own = json!({"name": "manager", "image": installation.image});
    [own].into_iter().chain(told).collect()
}
