//! Releases of a chart on a real API server: installed, upgraded, two side by side, and removed.

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::Namespace;
use kubewright::k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright::kube::Api;
use kubewright::kube::api::{DynamicObject, ListParams, PostParams};
use kubewright::kube::core::{ApiResource, GroupVersionKind};
use kubewright::prelude::*;
use kubewright_testenv::{Env, Helm};
use serde_json::json;

use crate::books::{Book, book};
use crate::chart::{Written, written};

const DEFINITION: &str = "books.test.kubewright.dev";

/// Helm on the cluster of a test, with a chart to install.
struct Releases {
    helm: Helm,
    chart: Written,
}

impl Releases {
    async fn new(env: &Env) -> Self {
        let helm = tokio::task::spawn_blocking(Helm::find).await.unwrap().unwrap();
        Self { helm: helm.on(env.environment()), chart: written() }
    }

    /// `helm VERB RELEASE CHART …`; without nodes there is no pod to wait for, and no hook can run.
    fn run(&self, verb: &str, release: &str, more: &str) -> Result<String, String> {
        let chart = if verb == "uninstall" { "" } else { &self.chart.path };
        self.helm.run(&format!("{verb} {release} {chart} --no-hooks {more}"))
    }
}

async fn definition(env: &Env) -> Option<CustomResourceDefinition> {
    Api::all(env.client()).get_opt(DEFINITION).await.unwrap()
}

/// The names of the objects of `kind` that are a part of `release`, wherever they are.
async fn parts(env: &Env, kind: (&str, &str, &str), release: &str) -> Vec<String> {
    let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(kind.0, kind.1, kind.2));
    let api: Api<DynamicObject> = Api::all_with(env.client(), &resource);
    let label = format!("app.kubernetes.io/instance={release}");
    let list = api.list(&ListParams::default().labels(&label)).await.unwrap();
    list.items.iter().map(ResourceExt::name_any).collect()
}

async fn namespace(env: &Env, name: &str) {
    let namespace: Namespace = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
    Api::all(env.client()).create(&PostParams::default(), &namespace).await.unwrap();
}

const CLUSTER_ROLE: (&str, &str, &str) = ("rbac.authorization.k8s.io", "v1", "ClusterRole");
const ROLE: (&str, &str, &str) = ("rbac.authorization.k8s.io", "v1", "Role");

#[kubewright_testenv::test(own)]
async fn a_release_is_installed_upgraded_and_removed_and_the_objects_stay(env: Env) {
    let releases = Releases::new(&env).await;
    let place = "--namespace all-operator-system --create-namespace";
    releases.run("install", "first", place).unwrap();
    let deployments: Api<Deployment> = Api::namespaced(env.client(), "all-operator-system");
    let name = "all-operator-controller-manager";
    let before = deployments.get(name).await.unwrap();
    env.create(book("kept")).await;

    let changed = "--set replicas=2,environment.BOOK_IMAGE=own/book,metrics.enabled=true";
    releases.run("upgrade", "first", &format!("{place} {changed}")).unwrap();
    let after = deployments.get(name).await.unwrap();
    assert_eq!(after.spec.unwrap().replicas, Some(2));
    assert!(after.metadata.generation > before.metadata.generation);
    assert_eq!(parts(&env, ("", "v1", "Service"), "first").await.len(), 1);

    let refused = releases.run("upgrade", "first", &format!("{place} --set replica=3"));
    assert!(refused.unwrap_err().contains("'replica' not allowed"));

    releases.run("uninstall", "first", "--namespace all-operator-system").unwrap();
    assert!(deployments.get_opt(name).await.unwrap().is_none());
    assert!(parts(&env, CLUSTER_ROLE, "first").await.is_empty());
    assert!(definition(&env).await.unwrap().metadata.deletion_timestamp.is_none());
    env.api::<Book>().get("kept").await.unwrap();

    // The next of the same name takes the definition over; one that does not keep it takes it along.
    releases.run("install", "first", &format!("{place} --set crds.keep=false")).unwrap();
    releases.run("uninstall", "first", "--namespace all-operator-system").unwrap();
    env.eventually("the definition is gone", async || match definition(&env).await {
        None => Ok(()),
        Some(found) => Err(format!("{:?}", found.status)),
    })
    .await;
}

#[kubewright_testenv::test(own)]
async fn each_namespace_can_have_a_release_for_namespaces_of_its_own(env: Env) {
    let releases = Releases::new(&env).await;
    for name in ["a", "b", "c"] {
        namespace(&env, name).await;
    }
    let place = "--create-namespace --namespace one --set watchNamespaces={a,b}";
    releases.run("install", "one", &format!("{place},peopleRoles.install=false")).unwrap();
    let place = "--create-namespace --namespace two --set watchNamespaces={c},crds.install=false";
    releases.run("install", "two", place).unwrap();

    // Of what is watched, nothing is granted in the whole cluster; classes are nowhere else.
    assert_eq!(parts(&env, CLUSTER_ROLE, "one").await, ["all-operator-manager-one-role"]);
    let mut roles = parts(&env, ROLE, "one").await;
    roles.sort();
    let (election, manager) = ("all-operator-leader-election-role", "all-operator-manager-role");
    assert_eq!(roles, [election, manager, manager]);
    assert_eq!(parts(&env, ROLE, "two").await.len(), 2);

    // Both for one namespace would fight over its objects.
    let fight = releases.run("upgrade", "two", &place.replace("{c}", "{b}"));
    let said = fight.unwrap_err();
    assert!(said.contains("all-operator-manager-role") && said.contains("\"one\""), "{said}");

    releases.run("uninstall", "two", "--namespace two").unwrap();
    assert_eq!(parts(&env, ROLE, "one").await.len(), 3);
    assert!(definition(&env).await.is_some());
}
