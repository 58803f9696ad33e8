//! Kubeconfigs: who speaks to which server, written as files that kubectl, kube and the components
//! of Kubernetes all read. Pure.

use serde_json::{Value, json};

use crate::certificates::Pair;

/// Whom to speak as, in a test or at the prompt.
#[derive(Clone, Copy, Debug)]
pub enum Identity<'a> {
    /// May do everything.
    Admin,
    /// A user with groups; may do what RBAC says, at first nothing.
    User {
        /// The user's name.
        name: &'a str,
        /// The groups that they are in.
        groups: &'a [&'a str],
    },
    /// A ServiceAccount that exists.
    ServiceAccount {
        /// Its namespace.
        namespace: &'a str,
        /// Its name.
        name: &'a str,
    },
}

impl Identity<'_> {
    /// A name for files and contexts.
    pub(crate) fn label(&self) -> String {
        match self {
            Self::Admin => "admin".to_owned(),
            Self::User { name, groups } => {
                [&[*name], *groups].concat().join("-").replace([':', '/'], "-")
            }
            Self::ServiceAccount { namespace, name } => format!("{namespace}-{name}"),
        }
    }
}

/// What proves an identity.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credentials {
    pub(crate) certificate: Option<Pair>,
    pub(crate) token: Option<String>,
    /// As this user with these groups, by the right of the certificate's owner.
    pub(crate) impersonate: Option<(String, Vec<String>)>,
}

/// A kubeconfig with one cluster, one user, one context. JSON is YAML, so every reader takes it.
pub(crate) fn kubeconfig(
    server: &str,
    authority: &str,
    user: &str,
    credentials: &Credentials,
) -> String {
    let mut entry = json!({});
    if let Some(pair) = &credentials.certificate {
        entry["client-certificate-data"] = base64(&pair.certificate);
        entry["client-key-data"] = base64(&pair.key);
    }
    if let Some(token) = &credentials.token {
        entry["token"] = json!(token);
    }
    if let Some((user, groups)) = &credentials.impersonate {
        entry["as"] = json!(user);
        entry["as-groups"] = json!(groups);
    }
    let config = json!({
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{
            "name": "kubewright",
            "cluster": { "server": server, "certificate-authority-data": base64(authority) },
        }],
        "users": [{ "name": user, "user": entry }],
        "contexts": [{
            "name": "kubewright",
            "context": { "cluster": "kubewright", "user": user, "namespace": "default" },
        }],
        "current-context": "kubewright",
    });
    format!("{config:#}\n")
}

fn base64(text: &str) -> Value {
    // `ByteString` is how Kubernetes types spell base64.
    json!(k8s_openapi::ByteString(text.as_bytes().to_vec()))
}
