//! Permissions are compared with a reading of the rules that shares nothing with the merging.

use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{ConfigMap, Node};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, Client};
use kubewright_testenv::{Env, Identity};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::*;

const GROUPS: [&str; 2] = ["", "apps"];
const RESOURCES: [&str; 3] = ["pods", "services", "pods/log"];
const NAMES: [&str; 2] = ["a", "b"];
const VERBS: [&str; 4] = ["get", "list", "patch", "*"];
const URLS: [&str; 2] = ["/metrics", "/healthz"];

fn typed<K: DeserializeOwned>(value: Value) -> K {
    serde_json::from_value(value).unwrap()
}

/// Rules of every shape, the same for the same seed.
fn some_rules(seed: u64) -> Vec<PolicyRule> {
    let mut state = seed;
    let mut some = |of: &[&str], least: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let bits = usize::try_from(state >> 40).unwrap();
        let mut chosen: Vec<String> = of.iter().map(ToString::to_string).collect();
        let mut at = 0;
        chosen.retain(|_| {
            at += 1;
            bits >> at & 1 == 1
        });
        if chosen.len() < least { vec![of[bits % of.len()].to_owned()] } else { chosen }
    };
    let mut rules = Vec::new();
    for at in 0..6 {
        if at == 5 {
            let non_resource_urls = Some(some(&URLS, 1));
            rules.push(PolicyRule {
                non_resource_urls,
                verbs: some(&VERBS, 1),
                ..PolicyRule::default()
            });
            continue;
        }
        rules.push(PolicyRule {
            api_groups: Some(some(&["", "apps", "core"], 1)),
            resources: Some(some(&RESOURCES, 1)),
            resource_names: (at % 2 == 0).then(|| some(&NAMES, 0)),
            verbs: some(&VERBS, 1),
            ..PolicyRule::default()
        });
    }
    rules
}

/// All single permissions that the rules give.
fn permissions(rules: &[PolicyRule]) -> Vec<String> {
    let has = |list: &Option<Vec<String>>, one: &str| list.iter().flatten().any(|item| item == one);
    let verbs =
        |rule: &PolicyRule, verb: &str| rule.verbs.iter().any(|one| one == verb || one == "*");
    let mut all = Vec::new();
    for verb in VERBS {
        for url in URLS {
            if rules.iter().any(|rule| has(&rule.non_resource_urls, url) && verbs(rule, verb)) {
                all.push(format!("{verb} {url}"));
            }
        }
        for (group, resource) in GROUPS.iter().flat_map(|group| RESOURCES.map(|one| (*group, one)))
        {
            for name in ["a", "b", "another"] {
                let allows = |rule: &PolicyRule| {
                    let names = rule.resource_names.as_deref().unwrap_or_default();
                    (has(&rule.api_groups, group)
                        || group.is_empty() && has(&rule.api_groups, "core"))
                        && has(&rule.resources, resource)
                        && (names.is_empty() || names.iter().any(|one| one == name))
                        && verbs(rule, verb)
                };
                if rules.iter().any(allows) {
                    all.push(format!("{verb} {group} {resource} {name}"));
                }
            }
        }
    }
    all
}

#[test]
fn merged_rules_permit_the_same_in_any_order_and_stay_as_they_are() {
    for seed in 0..500 {
        let rules = some_rules(seed);
        let merged = merge(rules.clone());
        assert_eq!(permissions(&merged), permissions(&rules), "{rules:?}");
        assert_eq!(merge(merged.clone()), merged);
        let mut other = rules;
        other.reverse();
        other.rotate_left(usize::try_from(seed).unwrap() % 6);
        assert_eq!(merge(other), merged);
    }
}

#[test]
fn resources_of_a_group_with_the_same_verbs_share_a_rule() {
    let merged = merge(vec![
        rule("apps", "deployments", &["watch", "get"]),
        rule("core", "services", &["get"]),
        rule("apps", "statefulsets", &["get", "watch", "get"]),
        rule("", "configmaps", &["get"]),
        rule("", "services", &["delete"]),
    ]);
    let expected = [
        json!({ "apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"] }),
        json!({ "apiGroups": [""], "resources": ["services"], "verbs": ["delete", "get"] }),
        json!({ "apiGroups": ["apps"], "resources": ["deployments", "statefulsets"], "verbs": ["get", "watch"] }),
    ];
    assert_eq!(json!(merged), json!(expected));
}

#[test]
fn a_named_resource_does_not_become_all_of_them() {
    let named =
        PolicyRule { resource_names: Some(vec!["mine".into()]), ..rule("", "secrets", &["get"]) };
    let merged = merge(vec![rule("", "secrets", &["list"]), named, rule("", "pods", &["get"])]);
    assert_eq!(merged.len(), 3);
}

#[test]
fn nothing_is_granted_without_a_rule() {
    for scope in [Scope::Cluster, Scope::Namespaces(vec!["a".into()])] {
        assert_eq!(roles(&Access::default(), "guestbook", "system", &scope), []);
    }
}

#[test]
fn objects_have_the_names_that_kubebuilder_gives_them() {
    let scope = Scope::Namespaces(vec!["a".into(), "b".into()]);
    let objects = json!(roles(&access(), "guestbook", "system", &scope));
    let names: Vec<_> = objects.as_array().unwrap().iter().map(describe).collect();
    let expected = [
        "ClusterRole guestbook-manager-system-role",
        "ClusterRoleBinding guestbook-manager-system-rolebinding",
        "Role a/guestbook-manager-role",
        "RoleBinding a/guestbook-manager-rolebinding",
        "Role b/guestbook-manager-role",
        "RoleBinding b/guestbook-manager-rolebinding",
        "Role system/guestbook-leader-election-role",
        "RoleBinding system/guestbook-leader-election-rolebinding",
    ];
    assert_eq!(names, expected);
    let account = json!(service_account("guestbook", "system"));
    assert_eq!(describe(&account), "ServiceAccount system/guestbook-controller-manager");
}

fn describe(object: &Value) -> String {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let namespace = text(&object["metadata"]["namespace"]);
    let slash = if namespace.is_empty() { "" } else { "/" };
    format!("{} {namespace}{slash}{}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

fn access() -> Access {
    let own = PolicyRule {
        resource_names: Some(vec!["mine".to_owned()]),
        ..rule("coordination.k8s.io", "leases", &["get", "update"])
    };
    Access {
        rules: vec![rule("", "configmaps", &["create"]), rule("core", "configmaps", &["get"])],
        cluster_rules: vec![rule("", "nodes", &["list"])],
        own_namespace: vec![rule("coordination.k8s.io", "leases", &["create"]), own],
    }
}

/// A client with exactly this access, in effect.
async fn client_with(env: &Env, scope: &Scope) -> Client {
    // Roles of the cluster need a name that no other test uses.
    let (operator, namespace) = (env.namespace(), env.namespace());
    env.create(service_account(operator, namespace)).await;
    for object in roles(&access(), operator, namespace, scope) {
        match object {
            Object::Role(role) => drop(env.create(role).await),
            Object::RoleBinding(binding) => drop(env.create(binding).await),
            Object::ClusterRole(role) => create_in_cluster(env, &role).await,
            Object::ClusterRoleBinding(binding) => create_in_cluster(env, &binding).await,
        }
    }
    let name = format!("{operator}-controller-manager");
    let identity = Identity::ServiceAccount { namespace, name: &name };
    let client = env.environment().client_as(identity).await.unwrap();
    // RBAC is read from a cache; the last of the objects counts last.
    let leases: Api<Lease> = Api::namespaced(client.clone(), namespace);
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
    env.eventually("the roles count", async || {
        let all = [
            code(leases.get("mine").await),
            code(maps.get("absent").await),
            code(Api::<Node>::all(client.clone()).list(&ListParams::default()).await),
        ];
        if all == [404, 404, 200] { Ok(()) } else { Err(format!("{all:?}")) }
    })
    .await;
    client
}

async fn create_in_cluster<K>(env: &Env, object: &K)
where
    K: kube::Resource<DynamicType = ()> + Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    Api::<K>::all(env.client()).create(&PostParams::default(), object).await.unwrap();
}

fn code<T>(answer: Result<T, kube::Error>) -> u16 {
    match answer {
        Ok(_) => 200,
        Err(kube::Error::Api(status)) => status.code,
        Err(error) => panic!("{error}"),
    }
}

async fn created<K>(client: &Client, namespace: &str, name: &str) -> u16
where
    K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>,
    K: Clone + std::fmt::Debug + Serialize + DeserializeOwned,
{
    let api: Api<K> = Api::namespaced(client.clone(), namespace);
    code(api.create(&PostParams::default(), &typed(json!({ "metadata": { "name": name } }))).await)
}

#[kubewright_testenv::test]
async fn the_account_may_do_what_the_rules_say_and_no_more(env: Env) {
    let client = client_with(&env, &Scope::Cluster).await;
    let here = env.namespace();
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), here);
    assert_eq!(created::<ConfigMap>(&client, here, "a").await, 200);
    assert_eq!(code(maps.get("a").await), 200);
    assert_eq!(code(maps.list(&ListParams::default()).await), 403);
    assert_eq!(code(maps.delete("a", &DeleteParams::default()).await), 403);
    assert_eq!(code(Api::<ConfigMap>::namespaced(client, "default").get("absent").await), 404);
}

#[kubewright_testenv::test]
async fn only_its_own_lease_is_open_to_it(env: Env) {
    let client = client_with(&env, &Scope::Cluster).await;
    let here = env.namespace();
    let leases: Api<Lease> = Api::namespaced(client.clone(), here);
    assert_eq!(created::<Lease>(&client, here, "mine").await, 200);
    assert_eq!(created::<Lease>(&client, here, "other").await, 200);
    assert_eq!(code(leases.get("mine").await), 200);
    assert_eq!(code(leases.get("other").await), 403);
    assert_eq!(created::<Lease>(&client, "default", "mine").await, 403);
}

#[kubewright_testenv::test]
async fn in_some_namespaces_means_in_no_other(env: Env) {
    let scope = Scope::Namespaces(vec![env.namespace().to_owned()]);
    let client = client_with(&env, &scope).await;
    assert_eq!(created::<ConfigMap>(&client, env.namespace(), "a").await, 200);
    assert_eq!(created::<ConfigMap>(&client, "default", "a").await, 403);
}
