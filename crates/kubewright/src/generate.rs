//! Files that are derived from the types and the wiring: definitions, roles, manifests.
//!
//! Everything here is pure: values in, values or text out. Nothing reads a file, asks a cluster or
//! knows what an operator is for.

pub mod bundle;
pub mod crd;
pub mod docs;
pub mod files;
pub mod install;
pub mod manager;
pub mod rbac;
pub mod yaml;

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::ObjectMeta;

use rbac::{Access, Scope};

/// What the files to install an operator are made from: what its code says, and what whoever
/// installs it decides.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The operator's name.
    pub operator: String,
    /// The definitions of its kinds.
    pub definitions: Vec<CustomResourceDefinition>,
    /// What its objects lead to: the kinds that it reads and writes for them, by the name of the
    /// definition.
    pub related: BTreeMap<String, Vec<Related>>,
    /// What it may do.
    pub access: Access,
    /// Variables of its container, beside those that the library needs.
    pub environment: Vec<(String, String)>,
    /// The namespace that it runs in.
    pub namespace: String,
    /// Its image.
    pub image: String,
    /// Which namespaces it looks after.
    pub scope: Scope,
}

/// A kind that an operator reads or writes on behalf of one of its own.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Related {
    /// The kind, as in `Deployment`.
    pub kind: String,
    /// Its version, without the group.
    pub version: String,
}

/// The namespace that an operator has for itself unless another is asked for.
pub fn own_namespace(operator: &str) -> String {
    format!("{operator}-system")
}

/// The name of what an operator runs as: its Deployment and its `ServiceAccount`.
pub fn manager_name(operator: &str) -> String {
    format!("{operator}-controller-manager")
}

/// Name, namespace and label of an object that belongs to an operator's installation.
pub(crate) fn metadata(operator: &str, name: String, namespace: Option<&str>) -> ObjectMeta {
    let labels = BTreeMap::from([(NAME_LABEL.to_owned(), operator.to_owned())]);
    let namespace = namespace.map(str::to_owned);
    ObjectMeta { name: Some(name), namespace, labels: Some(labels), ..ObjectMeta::default() }
}

/// On everything that installs an operator. Not `managed-by`: the operator would take it for its own.
pub(crate) const NAME_LABEL: &str = "app.kubernetes.io/name";
