//! A catalogue of one package on a cluster: a ConfigMap that holds it, opm that serves it, and the
//! `CatalogSource` that names it to OLM. Pure.
//!
//! What holds and serves it is called by the digest of its content: another content is another address, at
//! which OLM looks again.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use kubewright_testenv::cache::hex;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::objects::{Kind, text};
use super::{BUNDLE, plain};
use crate::bundle::{self, Bundle, catalog};

/// Where opm listens.
const PORT: u16 = 50051;
/// The key in the ConfigMap, and the name of the file.
const FILE: &str = "catalog.json";
/// Of a ConfigMap, with room for what it has beside the file.
const LARGEST: usize = 1_000_000;

/// Why there can be no catalogue.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CatalogueError {
    #[error("the bundle cannot be put into a catalogue")]
    Bundle(#[from] catalog::Error),
    #[error(
        "the bundle is too large to be handed over ({0} bytes, a ConfigMap holds 1 MB): push its image, then \
         `kubewright run bundle IMAGE`"
    )]
    TooLarge(usize),
    #[error(
        "the catalogue that is on the cluster cannot be read: `kubewright cleanup` and run the bundle anew"
    )]
    Unreadable,
}

/// A catalogue, and where it is to be.
#[derive(Debug)]
pub(crate) struct Catalogue {
    pub(crate) package: String,
    pub(crate) namespace: String,
    content: String,
}

impl Catalogue {
    /// With the bundle in it beside the releases that are in `before`. Without an image, the objects of the
    /// bundle are in the catalogue itself.
    pub(crate) fn with(
        bundle: &Bundle,
        image: Option<&str>,
        before: &[Value],
        namespace: &str,
    ) -> Result<Self, CatalogueError> {
        let package = catalog::package(bundle)?.to_owned();
        let mut documents = catalog::with(bundle, image.unwrap_or_default(), before)?;
        if image.is_none() {
            for document in &mut documents {
                inline(document, bundle);
            }
        }
        let lines: Vec<_> = documents.iter().map(Value::to_string).collect();
        let content = lines.join("\n") + "\n";
        if content.len() > LARGEST {
            return Err(CatalogueError::TooLarge(content.len()));
        }
        Ok(Self { package, namespace: namespace.to_owned(), content })
    }

    /// The documents in a ConfigMap that was made here.
    pub(crate) fn documents(held: &Value) -> Result<Vec<Value>, CatalogueError> {
        let content = held["data"][FILE].as_str().ok_or(CatalogueError::Unreadable)?;
        parsed(content)
    }

    /// Its own documents.
    pub(crate) fn all(&self) -> Result<Vec<Value>, CatalogueError> {
        parsed(&self.content)
    }

    /// What the `CatalogSource` is called; the same for every content.
    pub(crate) fn source_name(package: &str) -> String {
        format!("{}-catalog", plain(package, 50))
    }

    /// What holds and serves it is called.
    pub(crate) fn name(&self) -> String {
        let digest = hex(&Sha256::digest(&self.content));
        format!("{}-catalog-{}", plain(&self.package, 40), &digest[..8])
    }

    /// Where OLM finds it.
    pub(crate) fn address(&self) -> String {
        format!("{}.{}.svc:{PORT}", self.name(), self.namespace)
    }

    /// Everything but the `CatalogSource`; `opm` is the image that serves it.
    pub(crate) fn server(&self, opm: &str) -> Vec<Value> {
        vec![self.held(), self.deployment(opm), self.service()]
    }

    /// What tells OLM where to look.
    pub(crate) fn source(&self) -> Value {
        json!({
            "apiVersion": Kind::CatalogSource.api_version(),
            "kind": Kind::CatalogSource.name(),
            "metadata": self.metadata(&Self::source_name(&self.package)),
            "spec": {
                "sourceType": "grpc",
                "address": self.address(),
                "displayName": format!("{} by `kubewright run bundle`", self.package),
                "publisher": "kubewright",
            },
        })
    }

    fn metadata(&self, name: &str) -> Value {
        json!({
            "name": name,
            "namespace": self.namespace,
            "labels": { BUNDLE: plain(&self.package, 63), "app.kubernetes.io/managed-by": "kubewright" },
        })
    }

    fn held(&self) -> Value {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": self.metadata(&self.name()),
            "data": { FILE: self.content },
        })
    }

    fn service(&self) -> Value {
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": self.metadata(&self.name()),
            "spec": {
                "selector": { "app.kubernetes.io/name": self.name() },
                "ports": [{ "name": "grpc", "port": PORT, "targetPort": "grpc" }],
            },
        })
    }

    fn deployment(&self, opm: &str) -> Value {
        let labels = json!({ "app.kubernetes.io/name": self.name() });
        let container = json!({
            "name": "opm",
            "image": opm,
            "imagePullPolicy": "IfNotPresent",
            "command": ["opm"],
            "args": ["serve", "/configs", "--port", PORT.to_string()],
            "ports": [{ "name": "grpc", "containerPort": PORT }],
            "readinessProbe": { "tcpSocket": { "port": "grpc" }, "periodSeconds": 1 },
            "resources": { "requests": { "cpu": "10m", "memory": "50Mi" } },
            "securityContext": {
                "allowPrivilegeEscalation": false, "capabilities": { "drop": ["ALL"] },
                "readOnlyRootFilesystem": true, "runAsNonRoot": true,
                "seccompProfile": { "type": "RuntimeDefault" },
            },
            // By `subPath`: in the folder of a ConfigMap each file is twice, and opm would read both.
            "volumeMounts": [
                { "name": "catalog", "mountPath": format!("/configs/{FILE}"), "subPath": FILE },
                { "name": "tmp", "mountPath": "/tmp" },
            ],
        });
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": self.metadata(&self.name()),
            "spec": {
                "replicas": 1,
                "selector": { "matchLabels": labels },
                "template": {
                    "metadata": { "labels": labels },
                    "spec": {
                        "automountServiceAccountToken": false,
                        "containers": [container],
                        "volumes": [
                            { "name": "catalog", "configMap": { "name": self.name() } },
                            { "name": "tmp", "emptyDir": {} },
                        ],
                    },
                },
            },
        })
    }
}

/// One document on each line.
fn parsed(content: &str) -> Result<Vec<Value>, CatalogueError> {
    let lines = content.lines().map(serde_json::from_str);
    lines.collect::<Result<_, _>>().map_err(|_| CatalogueError::Unreadable)
}

/// Puts the objects of the bundle into its release's document, in the place of an image.
fn inline(document: &mut Value, bundle: &Bundle) {
    let release = bundle.release.as_ref().map(|(_, csv)| csv.name()).unwrap_or_default();
    if document["schema"] != "olm.bundle" || text(document, "/name") != release {
        return;
    }
    let Some(fields) = document.as_object_mut() else { return };
    fields.remove("image");
    if let Some(related) = fields.get_mut("relatedImages").and_then(Value::as_array_mut) {
        related.retain(|image| image["name"] != "");
    }
    if let Some(properties) = fields.get_mut("properties").and_then(Value::as_array_mut) {
        // What is shown of a release comes from the release itself then.
        properties.retain(|property| property["type"] != "olm.csv.metadata");
        properties.extend(bundle.manifests.iter().map(object));
    }
}

fn object(manifest: &bundle::Manifest) -> Value {
    let data = STANDARD.encode(manifest.object.to_string());
    json!({ "type": "olm.bundle.object", "value": { "data": data } })
}

#[cfg(test)]
mod tests;
