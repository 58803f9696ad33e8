//! A converged object costs nothing, and a change costs what it must.

use std::time::Duration;

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::Api;
use kubewright::kube::api::{DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kubewright::kube::core::GroupVersionKind;
use kubewright::kube::discovery::ApiResource;
use kubewright::prelude::*;
use kubewright_testenv::{Env, Identity};
use serde_json::{Value, json};

use crate::books::{Book, Books, book, passes_of};
use crate::running::{self, Running, settled};
use crate::world::{converged, merge, reconciled, writes_since};

fn operator() -> Operator {
    Operator::new("book-operator").controller::<Books>()
}

fn key(env: &Env, name: &str) -> String {
    format!("{}/{name}", env.namespace())
}

/// Waits for a pass beyond the first `before`.
async fn pass(env: &Env, name: &str, before: usize) {
    env.eventually("another pass", async || match passes_of(&key(env, name)) {
        now if now > before => Ok(()),
        now => Err(format!("{now} passes")),
    })
    .await;
}

/// How often each kind was listed.
fn lists(env: &Env, operator: &Running) -> Vec<(String, usize)> {
    let requests = operator.requests(env);
    let lists: Vec<_> = requests.iter().filter(|request| request.verb == "list").collect();
    let count = |kind: &str| lists.iter().filter(|request| request.resource == kind).count();
    ["books", "configmaps", "deployments"].map(|kind| (kind.to_owned(), count(kind))).to_vec()
}

fn each(count: usize) -> Vec<(String, usize)> {
    ["books", "configmaps", "deployments"].map(|kind| (kind.to_owned(), count)).to_vec()
}

#[kubewright_testenv::test]
async fn a_book_costs_three_writes_and_a_changed_text_three_more(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let mut writes = settled(|| operator.writes(&env)).await;
    writes[..2].sort();
    let expected =
        ["patch configmaps/ a 201", "patch deployments/ a 201", "patch books/status a 200"];
    assert_eq!(writes, expected);
    merge::<Book>(&env, "a", json!({"spec": {"text": "twice"}})).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let mut writes = writes_since(&env, &operator, 3).await;
    writes[..2].sort();
    let expected =
        ["patch configmaps/ a 200", "patch deployments/ a 200", "patch books/status a 200"];
    assert_eq!(writes, expected);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_converged_book_is_left_alone_whatever_is_touched(env: Env) {
    let operator = running::books(&env).await;
    converged(&env, &operator, book("a")).await;
    let before = operator.requests(&env).len();
    let touched = json!({"metadata": {"annotations": {"touched": "yes"}}});
    let passes = passes_of(&key(&env, "a"));
    merge::<Book>(&env, "a", touched.clone()).await;
    pass(&env, "a", passes).await;
    let passes = passes_of(&key(&env, "a"));
    merge::<ConfigMap>(&env, "a", touched).await;
    pass(&env, "a", passes).await;
    let passes = passes_of(&key(&env, "a"));
    let status = Patch::Merge(json!({"status": {"replicas": 2, "observedGeneration": 1}}));
    let deployments = env.api::<Deployment>();
    deployments.patch_status("a", &PatchParams::default(), &status).await.unwrap();
    pass(&env, "a", passes).await;
    let requests = settled(|| operator.requests(&env)).await.split_off(before);
    assert!(requests.is_empty(), "{requests:#?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_resync_sends_nothing(env: Env) {
    let mut flags = running::flags(&env);
    flags.resync = Duration::from_millis(200);
    let operator = running::start::<Books>(&env, flags).await;
    converged(&env, &operator, book("a")).await;
    let (requests, passes) = (operator.requests(&env).len(), passes_of(&key(&env, "a")));
    pass(&env, "a", passes + 5).await;
    assert_eq!(operator.requests(&env).len(), requests);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_relist_is_one_list_per_kind_and_nothing_else(env: Env) {
    env.install(&operator().definitions()).await;
    let user = format!("disturbed-{}", env.namespace());
    let identity = Identity::User { name: &user, groups: &["system:masters"] };
    let disturbed = env.environment().disturbed(identity).await.unwrap();
    let config = running::config(&disturbed.kubeconfig).await;
    let operator = running::run(operator(), config, running::flags(&env), user);
    converged(&env, &operator, book("a")).await;
    assert_eq!(lists(&env, &operator), each(1));
    let writes = operator.writes(&env).len();
    assert_eq!(disturbed.proxy.expire_watches(), 3);
    env.eventually("every kind is listed again", async || {
        let lists = lists(&env, &operator);
        if lists == each(2) { Ok(()) } else { Err(format!("{lists:?}")) }
    })
    .await;
    assert_eq!(writes_since(&env, &operator, writes).await, Vec::<String>::new());
    assert_eq!(lists(&env, &operator), each(2));
    // And the watches work again.
    merge::<ConfigMap>(&env, "a", json!({"data": {"text": "drifted"}})).await;
    env.eventually("the drift is seen", async || match operator.writes(&env).len() - writes {
        1 => Ok(()),
        count => Err(format!("{count} writes")),
    })
    .await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_restarted_operator_lists_once_and_writes_nothing(env: Env) {
    let first = running::books(&env).await;
    for name in ["a", "b", "c"] {
        converged(&env, &first, book(name)).await;
    }
    first.stop().await;
    let passes = passes_of(&key(&env, "c"));
    let second = running::start_as(&env, operator(), running::flags(&env), "second").await;
    pass(&env, "c", passes).await;
    assert_eq!(writes_since(&env, &second, 0).await, Vec::<String>::new());
    assert_eq!(lists(&env, &second), each(1));
    second.stop().await;
}

/// A cluster-wide kind of `admissionregistration.k8s.io/v1` that the typed client does not know yet.
fn admission(env: &Env, kind: &str) -> (Api<DynamicObject>, ApiResource) {
    let kind = GroupVersionKind::gvk("admissionregistration.k8s.io", "v1", kind);
    let mut resource = ApiResource::from_gvk(&kind);
    resource.plural = resource.plural.replace("policys", "policies");
    (Api::all_with(env.client(), &resource), resource)
}

async fn install_policy(env: &Env) {
    let name = format!("rewrite-{}", env.namespace());
    let selector = json!({"matchLabels": {"kubernetes.io/metadata.name": env.namespace()}});
    let resources = json!([{"apiGroups": ["apps"], "apiVersions": ["v1"],
        "operations": ["CREATE", "UPDATE"], "resources": ["deployments"]}]);
    let rewrite = "[JSONPatch{op: 'replace', \
        path: '/spec/template/spec/containers/0/image', value: 'mirror/' + \
        object.spec.template.spec.containers[0].image.replace('mirror/', '')}]";
    let policy = json!({
        "metadata": {"name": name},
        "spec": {
            "matchConstraints": {"namespaceSelector": selector, "resourceRules": resources},
            "failurePolicy": "Fail",
            "reinvocationPolicy": "Never",
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": rewrite}}],
        },
    });
    let binding = json!({"metadata": {"name": name}, "spec": {"policyName": name}});
    create(admission(env, "MutatingAdmissionPolicy"), policy).await;
    create(admission(env, "MutatingAdmissionPolicyBinding"), binding).await;
}

async fn create((api, resource): (Api<DynamicObject>, ApiResource), mut object: Value) {
    object["apiVersion"] = resource.api_version.into();
    object["kind"] = resource.kind.into();
    let object = serde_json::from_value(object).unwrap();
    api.create(&PostParams::default(), &object).await.unwrap();
}

#[kubewright_testenv::test]
async fn a_policy_that_rewrites_a_field_is_not_fought(env: Env) {
    // Served by default since Kubernetes 1.36.
    let (policies, _) = admission(&env, "MutatingAdmissionPolicy");
    if policies.list(&ListParams::default()).await.is_err() {
        return;
    }
    install_policy(&env).await;
    let image = |deployment: Deployment| {
        let pod = deployment.spec.unwrap().template.spec.unwrap();
        pod.containers[0].image.clone().unwrap()
    };
    let probe = crate::books::deployment(&book("probe"));
    env.eventually("the policy works", async || {
        let parameters = PostParams { dry_run: true, ..PostParams::default() };
        let answer = env.api().create(&parameters, &probe).await;
        match answer.map(image) {
            Ok(image) if image == "mirror/press:1" => Ok(()),
            other => Err(format!("{other:?}")),
        }
    })
    .await;
    let first = running::books(&env).await;
    converged(&env, &first, book("a")).await;
    let passes = passes_of(&key(&env, "a"));
    let touched = json!({"metadata": {"annotations": {"touched": "yes"}}});
    merge::<Deployment>(&env, "a", touched).await;
    pass(&env, "a", passes).await;
    assert_eq!(writes_since(&env, &first, 3).await, Vec::<String>::new());
    assert_eq!(image(env.api().get("a").await.unwrap()), "mirror/press:1");
    first.stop().await;
    let passes = passes_of(&key(&env, "a"));
    let second = running::start_as(&env, operator(), running::flags(&env), "second").await;
    pass(&env, "a", passes).await;
    assert_eq!(writes_since(&env, &second, 0).await, Vec::<String>::new());
    second.stop().await;
}
