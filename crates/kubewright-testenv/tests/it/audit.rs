//! The audit log as records.

use kubewright_testenv::{Env, Identity};

use crate::fixtures::config_map;

#[kubewright_testenv::test]
async fn the_audit_log_tells_who_did_what_and_what_came_of_it(env: Env) {
    env.create(config_map("seen")).await;
    let identity = Identity::User { name: "curious", groups: &["readers", "others"] };
    let curious = env.environment().client_as(identity).await.unwrap();
    let api: kube::Api<k8s_openapi::api::core::v1::ConfigMap> =
        kube::Api::namespaced(curious, env.namespace());
    api.get("seen").await.unwrap_err();

    let records = env.environment().audit().unwrap();
    let of_this_test = |user: &str| {
        let mut found =
            records.iter().filter(|one| one.namespace == env.namespace() && one.user == user);
        found.next().cloned().unwrap()
    };
    let created = of_this_test("kubewright-admin");
    assert_eq!(
        (created.verb.as_str(), created.resource.as_str(), created.code),
        ("create", "configmaps", 201)
    );
    let refused = of_this_test("curious");
    assert_eq!((refused.verb.as_str(), refused.name.as_str(), refused.code), ("get", "seen", 403));
    assert!(refused.groups.iter().any(|group| group == "others"), "{:?}", refused.groups);
    assert!(refused.is_complete && !refused.user_agent.is_empty());
}
