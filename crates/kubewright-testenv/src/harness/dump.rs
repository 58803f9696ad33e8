//! What there was when a test failed: objects and events of its namespace, the logs of all
//! components, the audit log. Written beside the test binary, because the environment is about to go.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use k8s_openapi::api::core::v1::Event;
use kube::api::{ApiResource, DynamicObject, ListParams, TypeMeta};
use kube::{Api, Client, Resource as _};

use crate::control_plane::apiserver::AUDIT_LOG;
use crate::harness::Env;
use crate::workspace::copy_directory;

/// Kinds that are worth seeing in any namespace, with their API group and version.
const KINDS: [(&str, &str, &str); 9] = [
    ("", "v1", "Pod"),
    ("", "v1", "Service"),
    ("", "v1", "ConfigMap"),
    ("", "v1", "ServiceAccount"),
    ("apps", "v1", "Deployment"),
    ("apps", "v1", "ReplicaSet"),
    ("apps", "v1", "StatefulSet"),
    ("coordination.k8s.io", "v1", "Lease"),
    ("policy", "v1", "PodDisruptionBudget"),
];

/// Writes the dump and says where it is; a dump that fails must not hide why the test failed.
pub(super) async fn write(test: &str, env: &Env) {
    let directory = directory(test);
    if let Some(environment) = env.local() {
        environment.apiserver().resume(); // a test that failed while it was paused
    }
    let result = async {
        fs::create_dir_all(&directory)?;
        fs::write(directory.join("objects.json"), objects(env).await)?;
        let events = events(env).await;
        fs::write(directory.join("events.txt"), &events)?;
        if let Some(environment) = env.local() {
            copy_directory(&environment.directory().join("logs"), &directory.join("logs"))?;
            fs::copy(environment.directory().join(AUDIT_LOG), directory.join(AUDIT_LOG))?;
        }
        Ok::<_, io::Error>(events)
    };
    let mut out = io::stderr();
    let _ = match result.await {
        Ok(events) => writeln!(
            out,
            "{test} failed; objects, events and logs of namespace {} are in {}\n{events}",
            env.namespace(),
            directory.display()
        ),
        Err(error) => writeln!(out, "{test} failed, and its state could not be written: {error}"),
    };
}

/// `target/kubewright-dumps/TEST`, found from where the test binary is.
fn directory(test: &str) -> PathBuf {
    let binary = std::env::current_exe().unwrap_or_default();
    let target =
        binary.ancestors().find(|path| path.file_name().is_some_and(|name| name == "target"));
    let base = target.map_or_else(std::env::temp_dir, Path::to_path_buf);
    base.join("kubewright-dumps").join(test.replace("::", "-"))
}

async fn objects(env: &Env) -> String {
    let client = env.client();
    let mut kinds: Vec<_> =
        KINDS.iter().map(|(group, version, kind)| resource(group, version, kind)).collect();
    kinds.extend(custom(&client).await);
    let mut text = String::new();
    for kind in kinds {
        let api: Api<DynamicObject> = Api::namespaced_with(client.clone(), env.namespace(), &kind);
        let Ok(list) = api.list(&ListParams::default()).await else {
            continue;
        };
        for mut object in list.items {
            // A list does not say it of each of its items.
            object.types =
                Some(TypeMeta { api_version: kind.api_version.clone(), kind: kind.kind.clone() });
            object.metadata.managed_fields = None;
            text.push_str(&serde_json::to_string_pretty(&object).unwrap_or_default());
            text.push('\n');
        }
    }
    text
}

/// The kinds that custom resource definitions add.
async fn custom(client: &Client) -> Vec<ApiResource> {
    use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let definitions =
        api.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default();
    let kinds = definitions.iter().filter_map(|definition| {
        let version = definition.spec.versions.iter().find(|version| version.served)?;
        let names = &definition.spec.names;
        let mut kind = resource(&definition.spec.group, &version.name, &names.kind);
        kind.plural.clone_from(&names.plural);
        Some(kind)
    });
    kinds.collect()
}

fn resource(group: &str, version: &str, kind: &str) -> ApiResource {
    ApiResource::from_gvk(&kube::api::GroupVersionKind::gvk(group, version, kind))
}

async fn events(env: &Env) -> String {
    let api: Api<Event> = Api::namespaced(env.client(), env.namespace());
    let events = api.list(&ListParams::default()).await.map(|list| list.items).unwrap_or_default();
    let line = |event: &Event| {
        let object = &event.involved_object;
        format!(
            "  {} {} {}/{}: {}\n",
            event.type_.as_deref().unwrap_or_default(),
            event.reason.as_deref().unwrap_or_default(),
            object.kind.as_deref().unwrap_or_else(|| event
                .meta()
                .name
                .as_deref()
                .unwrap_or_default()),
            object.name.as_deref().unwrap_or_default(),
            event.message.as_deref().unwrap_or_default()
        )
    };
    events.iter().map(line).collect()
}
