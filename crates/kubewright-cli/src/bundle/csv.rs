//! A `ClusterServiceVersion` as far as rules ask for it. What is absent is empty; what is of another type than
//! the lifecycle manager expects is refused.

use k8s_openapi::api::apps::v1::DeploymentSpec;
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde::Deserialize;

/// A release of an operator.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClusterServiceVersion {
    pub(crate) api_version: String,
    pub(crate) metadata: ObjectMeta,
    pub(crate) spec: Option<Spec>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Spec {
    pub(crate) install: Option<Install>,
    pub(crate) version: Option<String>,
    pub(crate) release: String,
    pub(crate) customresourcedefinitions: Definitions,
    pub(crate) apiservicedefinitions: Services,
    pub(crate) webhookdefinitions: Vec<Webhook>,
    pub(crate) min_kube_version: String,
    pub(crate) display_name: String,
    pub(crate) description: String,
    pub(crate) keywords: Vec<String>,
    pub(crate) maintainers: Vec<Maintainer>,
    pub(crate) provider: Link,
    pub(crate) links: Vec<Link>,
    pub(crate) icon: Option<Vec<Icon>>,
    pub(crate) install_modes: Vec<InstallMode>,
    pub(crate) replaces: String,
    pub(crate) related_images: Vec<RelatedImage>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Install {
    pub(crate) strategy: String,
    pub(crate) spec: Option<Strategy>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Strategy {
    pub(crate) deployments: Option<Vec<Deployment>>,
    pub(crate) permissions: Vec<Permission>,
    pub(crate) cluster_permissions: Vec<Permission>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Deployment {
    pub(crate) name: String,
    pub(crate) spec: DeploymentSpec,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Permission {
    pub(crate) service_account_name: String,
    pub(crate) rules: Vec<PolicyRule>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Definitions {
    pub(crate) owned: Vec<Owned>,
    pub(crate) required: Vec<Owned>,
}

/// A kind that the operator brings, or needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Owned {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) kind: String,
    pub(crate) description: String,
    pub(crate) resources: Vec<Resource>,
    pub(crate) spec_descriptors: Vec<Descriptor>,
    pub(crate) status_descriptors: Vec<Descriptor>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Resource {
    pub(crate) kind: String,
    pub(crate) version: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Descriptor {
    pub(crate) path: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Services {
    pub(crate) owned: Vec<Service>,
    pub(crate) required: Vec<Service>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Service {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Webhook {
    #[serde(rename = "generateName")]
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_: String,
    #[serde(rename = "deploymentName")]
    pub(crate) deployment: String,
    pub(crate) side_effects: String,
    #[serde(rename = "admissionReviewVersions")]
    pub(crate) review_versions: Vec<String>,
    #[serde(rename = "conversionCRDs")]
    pub(crate) conversion_definitions: Vec<String>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Maintainer {
    pub(crate) name: String,
    pub(crate) email: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Link {
    pub(crate) name: String,
    pub(crate) url: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct Icon {
    pub(crate) base64data: String,
    pub(crate) mediatype: String,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct InstallMode {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) supported: bool,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct RelatedImage {
    pub(crate) name: String,
    pub(crate) image: String,
}

impl ClusterServiceVersion {
    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        self.metadata.name.as_deref().unwrap_or_default()
    }

    /// An annotation of its own, not of the bundle.
    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        self.metadata.annotations.as_ref()?.get(key).map(String::as_str)
    }
}

impl Spec {
    /// What is to be installed.
    pub(crate) fn deployments(&self) -> &[Deployment] {
        let strategy = self.install.as_ref().and_then(|install| install.spec.as_ref());
        strategy.and_then(|strategy| strategy.deployments.as_deref()).unwrap_or_default()
    }

    /// What the operator may do, in namespaces and in the whole cluster.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &PolicyRule> {
        let strategy = self.install.as_ref().and_then(|install| install.spec.as_ref());
        let lists = strategy.map(|it| [&it.permissions, &it.cluster_permissions]);
        lists.into_iter().flatten().flatten().flat_map(|permission| &permission.rules)
    }
}

impl Owned {
    /// The group of a kind whose definition is called `plural.group`.
    pub(crate) fn group(&self) -> Option<&str> {
        self.name.split_once('.').map(|(_, group)| group)
    }
}
