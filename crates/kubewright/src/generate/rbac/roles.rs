//! The objects that grant access to an operator, under the names that Kubebuilder gives them.

use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{
    ClusterRole, ClusterRoleBinding, PolicyRule, Role, RoleBinding, RoleRef, Subject,
};
use kube::api::ObjectMeta;
use serde::Serialize;

use super::merge;
use crate::generate::{manager_name, metadata};

const GROUP: &str = "rbac.authorization.k8s.io";

/// What an operator may do, by where it may do it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Access {
    /// On namespaced kinds, in every namespace that is watched.
    pub rules: Vec<PolicyRule>,
    /// On kinds without a namespace, and on URLs that are no resources.
    pub cluster_rules: Vec<PolicyRule>,
    /// In the operator's own namespace: its Lease.
    pub own_namespace: Vec<PolicyRule>,
}

/// Which namespaces an operator watches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    Cluster,
    /// These.
    Namespaces(Vec<String>),
}

/// An object that grants access; serialised as the object itself.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Object {
    /// Rules for the whole cluster.
    ClusterRole(ClusterRole),
    /// Grants a [`ClusterRole`] everywhere.
    ClusterRoleBinding(ClusterRoleBinding),
    /// Rules for one namespace.
    Role(Role),
    /// Grants a [`Role`] in its namespace.
    RoleBinding(RoleBinding),
}

/// The account that the operator runs as, in its own namespace.
pub fn service_account(operator: &str, namespace: &str) -> ServiceAccount {
    let name = manager_name(operator);
    ServiceAccount {
        metadata: metadata(operator, name, Some(namespace)),
        ..ServiceAccount::default()
    }
}

/// The objects that give [`service_account`] of `operator` in `namespace` its access, none without a
/// rule.
pub fn roles(access: &Access, operator: &str, namespace: &str, scope: &Scope) -> Vec<Object> {
    let Access { rules, cluster_rules, own_namespace } = access;
    let account = Account { operator, namespace };
    let manager = format!("{operator}-manager");
    let mut objects = Vec::new();
    match scope {
        Scope::Cluster => {
            objects.extend(account.in_cluster(&manager, [&rules[..], cluster_rules].concat()));
        }
        Scope::Namespaces(namespaces) => {
            // By its namespace, so that a second installation for other namespaces does not take it over.
            let in_cluster = format!("{manager}-{namespace}");
            objects.extend(account.in_cluster(&in_cluster, cluster_rules.clone()));
            let granted = namespaces
                .iter()
                .flat_map(|namespace| account.in_namespace(&manager, namespace, rules.clone()));
            objects.extend(granted);
        }
    }
    let election = format!("{operator}-leader-election");
    objects.extend(account.in_namespace(&election, namespace, own_namespace.clone()));
    objects
}

/// Whom access is granted to.
struct Account<'a> {
    operator: &'a str,
    namespace: &'a str,
}

impl Account<'_> {
    fn in_cluster(&self, prefix: &str, rules: Vec<PolicyRule>) -> Vec<Object> {
        if rules.is_empty() {
            return Vec::new();
        }
        let role = ClusterRole {
            metadata: self.metadata(format!("{prefix}-role"), None),
            rules: Some(merge(rules)),
            ..ClusterRole::default()
        };
        let binding = ClusterRoleBinding {
            metadata: self.metadata(format!("{prefix}-rolebinding"), None),
            role_ref: role_ref("ClusterRole", prefix),
            subjects: Some(vec![self.subject()]),
        };
        vec![Object::ClusterRole(role), Object::ClusterRoleBinding(binding)]
    }

    fn in_namespace(&self, prefix: &str, namespace: &str, rules: Vec<PolicyRule>) -> Vec<Object> {
        if rules.is_empty() {
            return Vec::new();
        }
        let role = Role {
            metadata: self.metadata(format!("{prefix}-role"), Some(namespace)),
            rules: Some(merge(rules)),
        };
        let binding = RoleBinding {
            metadata: self.metadata(format!("{prefix}-rolebinding"), Some(namespace)),
            role_ref: role_ref("Role", prefix),
            subjects: Some(vec![self.subject()]),
        };
        vec![Object::Role(role), Object::RoleBinding(binding)]
    }

    fn metadata(&self, name: String, namespace: Option<&str>) -> ObjectMeta {
        metadata(self.operator, name, namespace)
    }

    fn subject(&self) -> Subject {
        Subject {
            kind: "ServiceAccount".to_owned(),
            name: manager_name(self.operator),
            namespace: Some(self.namespace.to_owned()),
            ..Subject::default()
        }
    }
}

fn role_ref(kind: &str, prefix: &str) -> RoleRef {
    let name = format!("{prefix}-role");
    RoleRef { api_group: GROUP.to_owned(), kind: kind.to_owned(), name }
}
