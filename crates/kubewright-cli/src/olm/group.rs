//! Which namespaces an operator is to look after, and the `OperatorGroup` that says so. Pure: what the bundle
//! supports, what was asked for and which groups there are -> what to do.

use std::str::FromStr;

use serde_json::{Value, json};

use super::objects::{Kind, name};
use super::{BUNDLE, plain};
use crate::bundle::Bundle;

/// In the order in which they are tried where none is asked for; the others need names. `SingleNamespace` does, too:
/// of its own namespace OLM says that this is `OwnNamespace`.
const PREFERRED: [&str; 2] = ["AllNamespaces", "OwnNamespace"];

/// What an operator looks after, as `--install-mode` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mode {
    kind: String,
    namespaces: Vec<String>,
}

/// Why no group can be had.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(crate) enum GroupError {
    #[error("the bundle does not support {asked}: choose with --install-mode among {supported}")]
    Unsupported { asked: String, supported: String },
    #[error(
        "namespace {namespace} has the OperatorGroup {group} already, for other namespaces ({targets}) than {mode}: use \
         another --namespace, or another --install-mode"
    )]
    Other { namespace: String, group: String, targets: String, mode: String },
    #[error(
        "namespace {namespace} has several OperatorGroups ({groups}), and OLM then installs nothing: leave one"
    )]
    Several { namespace: String, groups: String },
}

impl FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, list) = text.split_once('=').unwrap_or((text, ""));
        let namespaces: Vec<_> =
            list.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect();
        let fits = match kind {
            "AllNamespaces" | "OwnNamespace" => namespaces.is_empty(),
            "SingleNamespace" => namespaces.len() == 1,
            "MultiNamespace" => !namespaces.is_empty(),
            _ => false,
        };
        if fits {
            return Ok(Self { kind: kind.to_owned(), namespaces });
        }
        Err(format!(
            "{text:?} is none of AllNamespaces, OwnNamespace, SingleNamespace=NAME, MultiNamespace=NAME,NAME"
        ))
    }
}

impl Mode {
    /// What was asked for, or the first that the bundle supports.
    pub(crate) fn chosen(asked: Option<Self>, bundle: &Bundle) -> Result<Self, GroupError> {
        let spec = bundle.release.as_ref().and_then(|(_, csv)| csv.spec.as_ref());
        let modes = spec.map(|spec| spec.install_modes.as_slice()).unwrap_or_default();
        let supported: Vec<&str> =
            modes.iter().filter(|mode| mode.supported).map(|mode| mode.kind.as_str()).collect();
        let is_supported = |kind: &str| supported.contains(&kind);
        let refused = |asked: &str| {
            let typed = |kind: &&str| match *kind {
                "SingleNamespace" => "SingleNamespace=NAME".to_owned(),
                "MultiNamespace" => "MultiNamespace=NAME,NAME".to_owned(),
                kind => kind.to_owned(),
            };
            let list: Vec<_> = supported.iter().map(typed).collect();
            let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
            GroupError::Unsupported { asked: asked.to_owned(), supported: list }
        };
        match asked {
            Some(mode) if is_supported(&mode.kind) => Ok(mode),
            Some(mode) => Err(refused(&mode.kind)),
            None => {
                let first = PREFERRED.iter().find(|kind| is_supported(kind));
                let first = first.ok_or_else(|| refused("any mode that needs no names"))?;
                Ok(Self { kind: (*first).to_owned(), namespaces: Vec::new() })
            }
        }
    }

    /// The namespaces that are looked after by an operator in `namespace`; none for all.
    fn targets(&self, namespace: &str) -> Vec<String> {
        match self.kind.as_str() {
            "AllNamespaces" => Vec::new(),
            "OwnNamespace" => vec![namespace.to_owned()],
            _ => self.namespaces.clone(),
        }
    }
}

/// The group to be made for `package` in `namespace`; none if there is one that says the same.
pub(crate) fn needed(
    mode: &Mode,
    package: &str,
    namespace: &str,
    present: &[Value],
) -> Result<Option<Value>, GroupError> {
    let targets = mode.targets(namespace);
    match present {
        [] => Ok(Some(group(package, namespace, &targets))),
        [one] => {
            let found = one["spec"]["targetNamespaces"].as_array().into_iter().flatten();
            let mut found: Vec<String> =
                found.filter_map(Value::as_str).map(str::to_owned).collect();
            let mut wanted = targets;
            found.sort_unstable();
            wanted.sort_unstable();
            if found == wanted {
                return Ok(None);
            }
            let targets = if found.is_empty() { "all".to_owned() } else { found.join(", ") };
            let (namespace, mode) = (namespace.to_owned(), mode.kind.clone());
            Err(GroupError::Other { namespace, group: name(one).to_owned(), targets, mode })
        }
        several => {
            let groups = several.iter().map(name).collect::<Vec<_>>().join(", ");
            Err(GroupError::Several { namespace: namespace.to_owned(), groups })
        }
    }
}

fn group(package: &str, namespace: &str, targets: &[String]) -> Value {
    let spec = if targets.is_empty() { json!({}) } else { json!({ "targetNamespaces": targets }) };
    json!({
        "apiVersion": Kind::OperatorGroup.api_version(),
        "kind": Kind::OperatorGroup.name(),
        "metadata": {
            "name": "kubewright",
            "namespace": namespace,
            "labels": { BUNDLE: plain(package, 63), "app.kubernetes.io/managed-by": "kubewright" },
        },
        "spec": spec,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn bundle(modes: &[&str]) -> Bundle {
        let modes: Vec<_> =
            modes.iter().map(|mode| json!({ "type": mode, "supported": true })).collect();
        let csv = json!({
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": { "name": "a.v1.0.0" }, "spec": { "installModes": modes },
        });
        let files = [("manifests/csv.yaml".to_owned(), csv.to_string().into_bytes())];
        Bundle::of(BTreeMap::from(files))
    }

    fn mode(text: &str) -> Mode {
        text.parse().unwrap()
    }

    #[test]
    fn the_widest_mode_that_the_bundle_supports_is_the_default() {
        let chosen = Mode::chosen(None, &bundle(&["OwnNamespace", "AllNamespaces"])).unwrap();
        assert_eq!(chosen, mode("AllNamespaces"));
        let chosen = Mode::chosen(None, &bundle(&["SingleNamespace", "OwnNamespace"])).unwrap();
        assert_eq!(chosen.targets("here"), ["here"]);
        let error = Mode::chosen(None, &bundle(&["SingleNamespace"])).unwrap_err();
        assert!(error.to_string().ends_with("among SingleNamespace=NAME"), "{error}");
    }

    #[test]
    fn a_mode_that_the_bundle_does_not_support_is_refused_with_those_that_it_does() {
        let asked = Some(mode("OwnNamespace"));
        let error = Mode::chosen(asked, &bundle(&["AllNamespaces"])).unwrap_err();
        assert!(error.to_string().ends_with("among AllNamespaces"), "{error}");
        assert!(Mode::chosen(None, &bundle(&[])).is_err());
    }

    #[test]
    fn a_group_that_says_the_same_is_used_and_another_is_named() {
        let present = [json!({
            "metadata": { "name": "theirs" }, "spec": { "targetNamespaces": ["here"] },
        })];
        assert_eq!(needed(&mode("OwnNamespace"), "a", "here", &present), Ok(None));
        let error = needed(&mode("AllNamespaces"), "a", "here", &present).unwrap_err();
        assert!(error.to_string().contains("the OperatorGroup theirs"), "{error}");
        let made = needed(&mode("SingleNamespace=there"), "a", "here", &[]).unwrap().unwrap();
        assert_eq!(made["spec"]["targetNamespaces"], json!(["there"]));
    }

    #[test]
    fn modes_are_typed_as_operator_sdk_has_them() {
        assert_eq!(mode("MultiNamespace=a,b").targets("here"), ["a", "b"]);
        for text in ["", "All", "SingleNamespace", "SingleNamespace=a,b", "OwnNamespace=a"] {
            assert!(text.parse::<Mode>().is_err(), "{text}");
        }
    }
}
