//! Takes an operator's finalizer off its objects, whether the operator runs or not. Nobody else's is
//! touched.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DynamicObject, ListParams, PartialObjectMeta, Patch, PatchParams};
use kube::core::GroupVersionKind;
use kube::discovery::ApiResource;
use kube::{Api, Client, ResourceExt as _};
use serde_json::{Value, json};

use super::ClusterError;
use crate::finalizer::finalizer;

/// So many are changed at the same time.
pub(super) const AT_ONCE: usize = 16;
const PAGE: u32 = 500;
/// How often a list of finalizers that changes under our hands is read again.
const LOOKS: usize = 5;

/// An object without its spec.
pub(super) type Meta = PartialObjectMeta<DynamicObject>;

/// Takes the finalizer of `operator` off all objects of the defined kinds, and says how many had it.
pub async fn remove_finalizers(
    client: &Client,
    operator: &str,
    definitions: &[CustomResourceDefinition],
) -> Result<usize, ClusterError> {
    let mut removed = 0;
    for definition in definitions {
        let Some(found) = installed(client, &definition.name_any()).await? else { continue };
        let kind = found.kind;
        let objects = objects(client, &kind).await?;
        removed += remove_from(client, &kind, operator, &objects).await?;
    }
    Ok(removed)
}

/// As [`remove_finalizers`], with no more rights than the operator itself has: it may not look at
/// definitions, and perhaps only into these namespaces (empty: all).
pub(crate) async fn release(
    client: &Client,
    operator: &str,
    definitions: &[CustomResourceDefinition],
    namespaces: &[String],
) -> Result<usize, ClusterError> {
    let mut removed = 0;
    for definition in definitions {
        let Some(kind) = served(definition) else { continue };
        let is_namespaced = definition.spec.scope == "Namespaced";
        let apis: Vec<Api<DynamicObject>> = match namespaces {
            [_, ..] if is_namespaced => {
                let of = |name: &String| Api::namespaced_with(client.clone(), name, &kind);
                namespaces.iter().map(of).collect()
            }
            _ => vec![Api::all_with(client.clone(), &kind)],
        };
        for api in apis {
            let objects = listed(&api, &kind.plural).await?;
            removed += remove_from(client, &kind, operator, &objects).await?;
        }
    }
    Ok(removed)
}

/// A definition that the cluster has.
pub(super) struct Installed {
    /// The kind as it is served, which may be another version's than ours.
    pub(super) kind: ApiResource,
    /// True if an operator is asked to convert its objects.
    pub(super) converts: bool,
}

pub(super) async fn installed(
    client: &Client,
    name: &str,
) -> Result<Option<Installed>, ClusterError> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let found = api.get_opt(name).await.map_err(|source| failed("look at", name, source))?;
    Ok(found.and_then(|definition| {
        let conversion = definition.spec.conversion.as_ref();
        let converts = conversion.is_some_and(|conversion| conversion.strategy == "Webhook");
        served(&definition).map(|kind| Installed { kind, converts })
    }))
}

/// The kind of a definition in the version that is stored, or in another one if that is not served; none if no
/// version is. To read what is stored nobody has to convert anything, also where the operator that would is gone.
pub fn served(definition: &CustomResourceDefinition) -> Option<ApiResource> {
    let spec = &definition.spec;
    let served = || spec.versions.iter().filter(|version| version.served);
    let version = served().find(|version| version.storage).or_else(|| served().next())?;
    let kind = GroupVersionKind::gvk(&spec.group, &version.name, &spec.names.kind);
    Some(ApiResource::from_gvk_with_plural(&kind, &spec.names.plural))
}

/// All objects of a kind; none if it is not served.
pub(super) async fn objects(
    client: &Client,
    kind: &ApiResource,
) -> Result<Vec<Meta>, ClusterError> {
    listed(&Api::all_with(client.clone(), kind), &kind.plural).await
}

async fn listed(api: &Api<DynamicObject>, plural: &str) -> Result<Vec<Meta>, ClusterError> {
    let mut parameters = ListParams::default().limit(PAGE);
    let mut objects = Vec::new();
    loop {
        let page = match api.list_metadata(&parameters).await {
            Ok(page) => page,
            Err(kube::Error::Api(status)) if status.code == 404 => return Ok(Vec::new()),
            Err(source) => return Err(failed("list", plural, source)),
        };
        objects.extend(page.items);
        parameters.continue_token = page.metadata.continue_.filter(|token| !token.is_empty());
        if parameters.continue_token.is_none() {
            return Ok(objects);
        }
    }
}

/// Takes the finalizer of `operator` off these, and says how many had it.
pub(super) async fn remove_from(
    client: &Client,
    kind: &ApiResource,
    operator: &str,
    objects: &[Meta],
) -> Result<usize, ClusterError> {
    remove_named(client, kind, &finalizer(&kind.group, operator), objects).await
}

/// Takes the finalizer called `name` off these, and says how many had it.
pub(super) async fn remove_named(
    client: &Client,
    kind: &ApiResource,
    name: &str,
    objects: &[Meta],
) -> Result<usize, ClusterError> {
    let having = objects.iter().filter(|object| position(object, name).is_some());
    stream::iter(having.map(|object| remove_one(client, kind, name, object)))
        .buffer_unordered(AT_ONCE)
        .try_fold(0, |removed, ()| async move { Ok(removed + 1) })
        .await
}

/// The objects of a kind where this one is.
pub(super) fn api(client: &Client, kind: &ApiResource, object: &Meta) -> Api<DynamicObject> {
    match object.namespace() {
        Some(namespace) => Api::namespaced_with(client.clone(), &namespace, kind),
        None => Api::all_with(client.clone(), kind),
    }
}

async fn remove_one(
    client: &Client,
    kind: &ApiResource,
    finalizer: &str,
    object: &Meta,
) -> Result<(), ClusterError> {
    let api = api(client, kind, object);
    let name = object.name_any();
    let action = |source| failed("take the finalizer off", &shown(object), source);
    let mut current = None;
    for look in 1..=LOOKS {
        let object = current.as_ref().unwrap_or(object);
        let Some(at) = position(object, finalizer) else { break };
        let path = format!("/metadata/finalizers/{at}");
        let operations = json!([
            {"op": "test", "path": "/metadata/uid", "value": object.uid()},
            {"op": "test", "path": path, "value": finalizer},
            {"op": "remove", "path": path},
        ]);
        let patch = json_patch(operations, &name)?;
        match api.patch_metadata(&name, &PatchParams::default(), &patch).await {
            Ok(_) => break,
            Err(kube::Error::Api(status)) if status.code == 404 => break,
            Err(kube::Error::Api(status)) if matches!(status.code, 409 | 422) && look < LOOKS => {
                current = api.get_metadata_opt(&name).await.map_err(action)?;
                if current.is_none() {
                    break;
                }
            }
            Err(source) => return Err(action(source)),
        }
    }
    Ok(())
}

fn json_patch(operations: Value, name: &str) -> Result<Patch<()>, ClusterError> {
    let patch = serde_json::from_value(operations).map(Patch::Json);
    patch.map_err(|source| failed("write a patch of", name, kube::Error::SerdeError(source)))
}

fn position(object: &Meta, finalizer: &str) -> Option<usize> {
    object.finalizers().iter().position(|name| name == finalizer)
}

/// Namespace and name.
pub(super) fn shown(object: &Meta) -> String {
    let slash = object.namespace().map(|namespace| format!("{namespace}/")).unwrap_or_default();
    slash + &object.name_any()
}

pub(super) fn failed(doing: &str, what: &str, source: kube::Error) -> ClusterError {
    ClusterError::Api { action: format!("{doing} {what}"), source: Box::new(source) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_read_as_they_are_stored_where_that_is_served() {
        let version = |versions: &[(&str, bool, bool)]| {
            let versions: Vec<_> = versions
                .iter()
                .map(|(name, served, storage)| json!({"name": name, "served": served, "storage": storage}))
                .collect();
            let names = json!({"kind": "Pot", "plural": "pots"});
            let spec = json!({"group": "a.dev", "scope": "Namespaced", "names": names, "versions": versions});
            let definition = json!({"metadata": {}, "spec": spec});
            served(&serde_json::from_value(definition).unwrap()).map(|kind| kind.version)
        };
        let found = version(&[("v1alpha1", true, false), ("v1", true, true)]);
        assert_eq!(found.as_deref(), Some("v1"));
        let found = version(&[("v1", false, true), ("v1alpha1", true, false)]);
        assert_eq!(found.as_deref(), Some("v1alpha1"));
        assert_eq!(version(&[("v1", false, true)]), None);
    }
}
