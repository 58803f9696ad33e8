//! The operator in the cluster of a test, installed from its own files, under its own role.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kubewright::cluster;
use kubewright::generate::{Installation, install, manager_name};
use kubewright_testenv::Env;
use kubewright_testenv::audit::AuditRecord;
use memcached_api::v1alpha1::Memcached;
use tokio::sync::OnceCell;

use crate::image::Build;

/// The operator of an environment that tests share is installed by the first that asks.
type Installed = Arc<OnceCell<()>>;
static INSTALLED: LazyLock<Mutex<HashMap<PathBuf, Installed>>> = LazyLock::new(Mutex::default);

/// The name of the operator.
pub const OPERATOR: &str = "memcached-operator";

/// What the operator is installed from, as `generate install` prints it.
///
/// # Panics
/// If the project's file is wrong.
pub fn installation(build: Build) -> Installation {
    let installation = memcached_operator::operator().installation();
    let installation = installation.unwrap_or_else(|error| panic!("{error}"));
    Installation { image: build.name().to_owned(), ..installation }
}

/// Sees to it that the operator runs in the environment of the test.
///
/// # Panics
/// If it cannot be built, installed or started.
pub async fn deployed(env: &Env) {
    let place = env.environment().directory().to_owned();
    let cell =
        INSTALLED.lock().unwrap_or_else(PoisonError::into_inner).entry(place).or_default().clone();
    cell.get_or_init(|| async {
        let outcome = deploy(env, &installation(Build::Shipped), Build::Shipped).await;
        outcome.unwrap_or_else(|error| panic!("the operator cannot be deployed: {error:#}"));
    })
    .await;
}

/// Gives the image to the nodes, applies everything, and waits until the operator is ready.
pub async fn deploy(env: &Env, installation: &Installation, build: Build) -> anyhow::Result<()> {
    let tar = tokio::task::spawn_blocking(move || build.tar()).await??;
    for node in env.environment().nodes() {
        node.import_image(&tar).await.context("a node does not take the image")?;
    }
    let mut silent = |_| {};
    let objects = install::install(installation);
    cluster::apply(&env.client(), "e2e", &objects, &mut silent).await?;
    until_current(env, installation).await;
    Ok(())
}

/// Waits until all pods of the operator are of the newest template, and ready.
pub async fn until_current(env: &Env, installation: &Installation) {
    let api: Api<Deployment> = Api::namespaced(env.client(), &installation.namespace);
    let name = manager_name(&installation.operator);
    env.eventually("the operator runs", async || {
        let deployment = api.get(&name).await.map_err(|error| error.to_string())?;
        let wanted = deployment.metadata.generation;
        let status = deployment.status.unwrap_or_default();
        let is_current = status.observed_generation >= wanted
            && status.updated_replicas == Some(1)
            && status.ready_replicas == Some(1)
            && status.replicas == Some(1);
        if is_current { Ok(()) } else { Err(format!("{status:?}")) }
    })
    .await;
}

/// What the operator asked of the API server in this test's namespace.
///
/// # Panics
/// If there is no audit log.
pub fn requests(env: &Env) -> Vec<AuditRecord> {
    let mut records = all_requests(env, &installation(Build::Shipped));
    records.retain(|record| record.namespace == env.namespace());
    records
}

/// What the operator asked of the API server, wherever.
///
/// # Panics
/// If there is no audit log.
pub fn all_requests(env: &Env, installation: &Installation) -> Vec<AuditRecord> {
    let account = manager_name(&installation.operator);
    let user = format!("system:serviceaccount:{}:{account}", installation.namespace);
    let records = env.environment().audit();
    let mut records = records.unwrap_or_else(|error| panic!("there is no audit log: {error}"));
    records.retain(|record| record.user == user && record.is_complete);
    records
}

/// Nothing that the operator asked was refused for want of a permission.
///
/// # Panics
/// If something was.
pub fn nothing_was_forbidden(env: &Env) {
    let forbidden: Vec<_> = requests(env)
        .into_iter()
        .filter(|record| record.code == 403)
        .map(|record| record.uri)
        .collect();
    assert!(forbidden.is_empty(), "the operator may not: {forbidden:?}");
}

/// Waits until the object says that `ready` pods are ready and nothing else is under way.
pub async fn until_ready(env: &Env, name: &str, ready: i32) -> Memcached {
    let api = env.api::<Memcached>();
    env.eventually(&format!("{name} has {ready} instances ready"), async || {
        let memcached = api.get(name).await.map_err(|error| error.to_string())?;
        let status = memcached.status.clone().unwrap_or_default();
        let is = |type_: &str, holds: &str| {
            let mut conditions = status.conditions.iter();
            conditions.any(|condition| condition.type_ == type_ && condition.status == holds)
        };
        let is_settled = is("Available", "True") && is("Progressing", "False");
        let is_current = status.observed_generation == memcached.metadata.generation;
        if is_settled
            && is_current
            && status.ready_replicas == Some(ready)
            && status.replicas == Some(ready)
        {
            return Ok(memcached);
        }
        Err(format!("{status:?}"))
    })
    .await
}
