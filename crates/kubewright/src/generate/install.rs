//! Everything that installing an operator takes, in an order in which each document finds what it needs.

use serde_json::{Value, json};

use super::{Installation, manager, rbac};

/// The whole installation.
pub fn install(installation: &Installation) -> Vec<Value> {
    let mut documents: Vec<_> = manager::namespace(installation).into_iter().collect();
    documents.extend(installation.definitions.iter().map(|definition| json!(definition)));
    documents.extend(access(installation));
    documents.push(manager::network_policy(installation));
    documents.push(manager::disruption_budget(installation));
    #[cfg(feature = "webhook")]
    documents.extend(super::webhook::objects(installation));
    documents.push(manager::deployment(installation));
    documents
}

/// The operator's account, its roles, their bindings, and the roles for people.
pub fn access(installation: &Installation) -> Vec<Value> {
    let Installation { operator, definitions, access, namespace, scope, .. } = installation;
    #[cfg(feature = "webhook")]
    let access = &super::webhook::with_certificate(access, operator, &installation.webhooks);
    let mut documents = vec![json!(rbac::service_account(operator, namespace))];
    let objects = rbac::roles(access, operator, namespace, scope);
    let (roles, bindings): (Vec<_>, Vec<_>) = objects
        .iter()
        .partition(|object| matches!(object, rbac::Object::ClusterRole(_) | rbac::Object::Role(_)));
    documents.extend(roles.into_iter().chain(bindings).map(|object| json!(object)));
    documents.extend(rbac::people(operator, definitions).iter().map(|role| json!(role)));
    documents
}
