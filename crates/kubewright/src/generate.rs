//! Files that are derived from the types and the wiring: definitions, roles, manifests.
//!
//! Everything here is pure: values in, values or text out. Nothing reads a file, asks a cluster or
//! knows what an operator is for.

pub mod bundle;
pub mod chart;
pub mod crd;
pub mod dashboard;
pub mod docs;
pub mod files;
pub mod install;
pub mod manager;
pub mod rbac;
#[cfg(feature = "webhook")]
pub mod webhook;
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
    /// What it may do, without what its certificate takes where it makes that itself.
    pub access: Access,
    /// Whether its objects carry its finalizer, so that they wait for it.
    pub finalizes: bool,
    /// Variables of its container, beside those that the library needs.
    pub environment: Vec<(String, String)>,
    /// The namespace that it runs in.
    pub namespace: String,
    /// Its image.
    pub image: String,
    /// Which namespaces it looks after.
    pub scope: Scope,
    /// The webhooks that its controllers have declared.
    #[cfg(feature = "webhook")]
    pub webhooks: Vec<webhook::Webhook>,
}

#[cfg(feature = "webhook")]
impl Installation {
    /// Lets the definitions convert through the operator in the namespace that it runs in.
    pub(crate) fn converts_at_home(&mut self) {
        let Self { operator, namespace, webhooks, definitions, .. } = self;
        webhook::converted(definitions, operator, namespace, webhooks);
    }
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

/// The oldest Kubernetes that the library supports.
const OLDEST_KUBERNETES: &str = "1.33.0";

/// On everything that installs an operator. Not `managed-by`: the operator would take it for its own.
pub(crate) const NAME_LABEL: &str = "app.kubernetes.io/name";

/// Three numbers, and perhaps a `-` and more; a `+` is for names of releases no letter.
fn is_version(text: &str) -> bool {
    let (numbers, rest) =
        text.split_once('-').map_or((text, None), |(numbers, rest)| (numbers, Some(rest)));
    let parts: Vec<_> = numbers.split('.').collect();
    let is_number = |part: &&str| {
        let is_short = *part == "0" || !part.starts_with('0');
        !part.is_empty() && is_short && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let is_word = |word: &str| {
        let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !word.is_empty() && word.bytes().all(allowed)
    };
    let is_rest = rest.is_none_or(|rest| rest.split('.').all(is_word) && !rest.ends_with('-'));
    parts.len() == 3 && parts.iter().all(is_number) && is_rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_the_oldest_that_is_tested() {
        let list = include_str!("../../../supported-kubernetes.txt");
        let minor = |line: &str| line.trim().split('.').nth(1).and_then(|part| part.parse().ok());
        let oldest: Option<u32> = list.lines().filter_map(minor).min();
        assert_eq!(oldest, minor(OLDEST_KUBERNETES), "{list}");
    }

    #[test]
    fn a_version_is_three_numbers_and_perhaps_more() {
        for good in ["0.0.1", "10.20.30", "1.0.0-rc.1", "1.0.0-alpha-2"] {
            assert!(is_version(good), "{good}");
        }
        for bad in
            ["", "v0.0.1", "1.0", "1.0.0.0", "01.0.0", "1.0.0-", "1.0.0-A", "1.0.0+1", "1..0"]
        {
            assert!(!is_version(bad), "{bad}");
        }
    }
}
