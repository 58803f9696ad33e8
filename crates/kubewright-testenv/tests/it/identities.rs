//! Clients that speak as somebody: RBAC is on and means it.

use k8s_openapi::api::core::v1::{ConfigMap, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::Api;
use kube::api::ListParams;
use kubewright_testenv::{Env, Identity};
use serde_json::{Value, json};

use crate::fixtures::typed;

/// Lets `subject` list config maps in the test's namespace.
async fn allow(env: &Env, subject: Value) {
    let role: Role = typed(json!({
        "metadata": { "name": "lister" },
        "rules": [{ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"] }],
    }));
    env.create(role).await;
    let binding: RoleBinding = typed(json!({
        "metadata": { "name": "lister" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "lister" },
        "subjects": [subject],
    }));
    env.create(binding).await;
}

async fn listing(env: &Env, identity: Identity<'_>) -> Result<usize, u16> {
    let client = env.environment().client_as(identity).await.unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client, env.namespace());
    match api.list(&ListParams::default()).await {
        Ok(list) => Ok(list.items.len()),
        Err(kube::Error::Api(status)) => Err(status.code),
        Err(error) => panic!("{error}"),
    }
}

/// RBAC is read from a cache, so a new right counts a moment later.
async fn until_allowed(env: &Env, identity: Identity<'_>) {
    env.eventually("the right counts", async || {
        listing(env, identity).await.map_err(|code| code.to_string())
    })
    .await;
}

#[kubewright_testenv::test]
async fn a_user_may_do_nothing_until_a_role_allows_it(env: Env) {
    let jane = Identity::User { name: "jane", groups: &[] };
    assert_eq!(listing(&env, jane).await, Err(403));
    allow(&env, json!({ "kind": "User", "name": "jane", "apiGroup": "rbac.authorization.k8s.io" }))
        .await;
    until_allowed(&env, jane).await;
}

#[kubewright_testenv::test]
async fn each_of_a_users_groups_counts(env: Env) {
    let name = "joe";
    assert_eq!(
        listing(&env, Identity::User { name, groups: &["one", "two", "three"] }).await,
        Err(403)
    );
    allow(
        &env,
        json!({ "kind": "Group", "name": "three", "apiGroup": "rbac.authorization.k8s.io" }),
    )
    .await;
    until_allowed(&env, Identity::User { name, groups: &["one", "two", "three"] }).await;
    until_allowed(&env, Identity::User { name, groups: &["three"] }).await;
    assert_eq!(listing(&env, Identity::User { name, groups: &["one", "two"] }).await, Err(403));
}

#[kubewright_testenv::test]
async fn a_service_account_speaks_with_its_own_token(env: Env) {
    let account: ServiceAccount = typed(json!({ "metadata": { "name": "robot" } }));
    env.create(account).await;
    let robot = Identity::ServiceAccount { namespace: env.namespace(), name: "robot" };
    assert_eq!(listing(&env, robot).await, Err(403));
    allow(&env, json!({ "kind": "ServiceAccount", "name": "robot", "namespace": env.namespace() }))
        .await;
    until_allowed(&env, robot).await;
}
