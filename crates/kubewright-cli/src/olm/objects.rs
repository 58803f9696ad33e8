//! OLM's kinds, and objects of any kind as JSON. Owns the requests; what objects mean is `look`'s.

use k8s_openapi::api::core::v1::Pod;
use kube::api::{DynamicObject, ListParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Api, Client, Error};
use serde_json::Value;

/// What holds and serves a catalogue of `run bundle`.
const SERVER: [(&str, &str); 3] =
    [("apps/v1", "Deployment"), ("v1", "Service"), ("v1", "ConfigMap")];

/// Kinds that OLM brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Subscription,
    CatalogSource,
    InstallPlan,
    ClusterServiceVersion,
    OperatorGroup,
    /// What OLM makes of a package and everything that belongs to it.
    Operator,
}

impl Kind {
    /// As a document names it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Subscription => "Subscription",
            Self::CatalogSource => "CatalogSource",
            Self::InstallPlan => "InstallPlan",
            Self::ClusterServiceVersion => "ClusterServiceVersion",
            Self::OperatorGroup => "OperatorGroup",
            Self::Operator => "Operator",
        }
    }

    /// With its group.
    pub(crate) fn api_version(self) -> &'static str {
        match self {
            Self::OperatorGroup | Self::Operator => "operators.coreos.com/v1",
            _ => "operators.coreos.com/v1alpha1",
        }
    }

    pub(crate) fn resource(self) -> ApiResource {
        resource(self.api_version(), self.name())
    }
}

/// A kind by its version and name, for those whose plural is the name with an `s`, `es` or `ies`.
pub(crate) fn resource(api_version: &str, kind: &str) -> ApiResource {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    let singular = kind.to_lowercase();
    let plural = match singular.strip_suffix('y') {
        Some(stem) => format!("{stem}ies"),
        None if singular.ends_with('s') => singular + "es",
        None => singular + "s",
    };
    ApiResource::from_gvk_with_plural(&GroupVersionKind::gvk(group, version, kind), &plural)
}

/// Objects in one namespace, or with none, in all and of the cluster itself.
#[derive(Clone)]
pub(crate) struct Objects {
    pub(crate) client: Client,
    pub(crate) namespace: Option<String>,
}

impl Objects {
    pub(crate) fn everywhere(client: &Client) -> Self {
        Self { client: client.clone(), namespace: None }
    }

    pub(crate) fn within(client: &Client, namespace: &str) -> Self {
        Self { client: client.clone(), namespace: Some(namespace.to_owned()) }
    }

    pub(crate) fn api(&self, kind: &ApiResource) -> Api<DynamicObject> {
        match &self.namespace {
            Some(namespace) => Api::namespaced_with(self.client.clone(), namespace, kind),
            None => Api::all_with(self.client.clone(), kind),
        }
    }

    /// An object, if it is there; where its kind is not known, it is not.
    pub(crate) async fn find(&self, kind: Kind, name: &str) -> Result<Option<Value>, Error> {
        match self.api(&kind.resource()).get(name).await {
            Ok(object) => Ok(Some(json(&object))),
            Err(Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// All objects of one of OLM's kinds.
    pub(crate) async fn all(&self, kind: Kind) -> Result<Vec<Value>, Error> {
        self.labelled(&kind.resource(), "").await
    }

    /// All objects of a kind that have these labels; none where the kind is not known.
    pub(crate) async fn labelled(
        &self,
        kind: &ApiResource,
        labels: &str,
    ) -> Result<Vec<Value>, Error> {
        match self.api(kind).list(&ListParams::default().labels(labels)).await {
            Ok(list) => Ok(list.items.iter().map(json).map(|one| typed(one, kind)).collect()),
            Err(Error::Api(status)) if status.code == 404 => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }

    /// What objects of a kind are called that have these labels.
    pub(crate) async fn names(
        &self,
        kind: &ApiResource,
        labels: &str,
    ) -> Result<Vec<String>, Error> {
        let list = self.api(kind).list_metadata(&ListParams::default().labels(labels)).await?;
        Ok(list.items.iter().map(kube::ResourceExt::name_any).collect())
    }

    /// What holds and serves the catalogues that have these labels.
    pub(crate) async fn servers(&self, labels: &str) -> Result<Vec<Value>, Error> {
        let mut found = Vec::new();
        for (api_version, kind) in SERVER {
            let kind = resource(api_version, kind);
            found.extend(self.labelled(&kind, labels).await?);
        }
        Ok(found)
    }

    /// The pods of the operator that a release is.
    pub(crate) async fn operator(&self, release: &Value) -> Result<Vec<Pod>, Error> {
        let mut found = Vec::new();
        for (deployment, labels) in selectors(release) {
            found.extend(
                self.pods(&labels).await?.into_iter().filter(|pod| is_of(pod, &deployment)),
            );
        }
        Ok(found)
    }

    /// The pods that have these labels.
    pub(crate) async fn pods(&self, labels: &str) -> Result<Vec<Pod>, Error> {
        let api: Api<Pod> = match &self.namespace {
            Some(namespace) => Api::namespaced(self.client.clone(), namespace),
            None => Api::all(self.client.clone()),
        };
        Ok(api.list(&ListParams::default().labels(labels)).await?.items)
    }
}

fn json(object: &DynamicObject) -> Value {
    // An object that came as JSON can be written as JSON.
    serde_json::to_value(object).unwrap_or_default()
}

/// The objects of a list do not say of what kind they are; the list does.
fn typed(mut object: Value, kind: &ApiResource) -> Value {
    object["apiVersion"] = kind.api_version.clone().into();
    object["kind"] = kind.kind.clone().into();
    object
}

/// A text of an object, by its path (`/status/phase`); empty if it is not there.
pub(crate) fn text<'a>(object: &'a Value, path: &str) -> &'a str {
    object.pointer(path).and_then(Value::as_str).unwrap_or_default()
}

/// What an object is called.
pub(crate) fn name(object: &Value) -> &str {
    text(object, "/metadata/name")
}

/// By which labels the pods of a release are found, with the name of the Deployment that has them.
fn selectors(release: &Value) -> Vec<(String, String)> {
    let deployments = release.pointer("/spec/install/spec/deployments").and_then(Value::as_array);
    let labels = deployments.into_iter().flatten().filter_map(|deployment| {
        let labels = deployment.pointer("/spec/selector/matchLabels")?.as_object()?;
        let pairs = labels.iter().map(|(key, value)| format!("{key}={}", text(value, "")));
        Some((text(deployment, "/name").to_owned(), pairs.collect::<Vec<_>>().join(",")))
    });
    labels.filter(|(_, labels)| !labels.is_empty()).collect()
}

/// True if a `ReplicaSet` of the Deployment made the pod. Labels alone do not tell: many operators have the same.
fn is_of(pod: &Pod, deployment: &str) -> bool {
    let owners = pod.metadata.owner_references.iter().flatten();
    let mut sets = owners.filter(|one| one.kind == "ReplicaSet");
    sets.any(|set| set.name.rsplit_once('-').is_some_and(|(before, _)| before == deployment))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn kinds_have_the_plurals_that_the_server_knows() {
        let plural = |kind| resource("v1", kind).plural;
        let all = ["Role", "StorageClass", "NetworkPolicy"].map(plural);
        assert_eq!(all, ["roles", "storageclasses", "networkpolicies"]);
    }

    #[test]
    fn the_pods_of_a_release_are_found_by_its_deployments() {
        let deployment = json!({ "name": "x", "spec": { "selector": { "matchLabels": { "a": "1", "b": "2" } } } });
        let release = json!({ "spec": { "install": { "spec": { "deployments": [deployment] } } } });
        assert_eq!(selectors(&release), [("x".to_owned(), "a=1,b=2".to_owned())]);
        assert!(selectors(&json!({})).is_empty());
    }

    #[test]
    fn the_neighbour_s_pods_are_not_ours_although_they_have_the_same_labels() {
        let pod = |set: &str| {
            let owner =
                json!({ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "uid": "1" });
            serde_json::from_value(json!({ "metadata": { "ownerReferences": [owner] } })).unwrap()
        };
        assert!(is_of(&pod("pots-manager-7d9f5"), "pots-manager"));
        for other in ["pans-manager-7d9f5", "pots-manager-two-7d9f5", "pots-manager"] {
            assert!(!is_of(&pod(other), "pots-manager"), "{other}");
        }
        assert!(!is_of(&Pod::default(), ""));
    }
}
