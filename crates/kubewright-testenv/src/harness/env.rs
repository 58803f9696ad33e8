//! What a test holds: a client, a namespace of its own, and helpers that fail the test with a
//! sentence instead of an error to unwrap.

#![expect(clippy::panic, reason = "a test fails by a panic")]

use std::fmt::Debug;
use std::process::Command;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams, Preconditions};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config, Resource, ResourceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::task::AbortHandle;

use crate::crds;
use crate::environment::Environment;
use crate::error::Error;
use crate::harness::{TestResult, eventually};

/// Ends a test that needs the local environment and has none.
pub(super) struct NotLocal;

/// The environment of one test.
#[derive(Clone)]
pub struct Env {
    namespace: String,
    client: Client,
    environment: Option<Arc<Environment>>,
    own: bool,
    beside: Arc<Mutex<Vec<AbortHandle>>>,
    failed: Arc<OnceLock<String>>,
}

impl Env {
    pub(super) async fn in_environment(
        test: &str,
        environment: Arc<Environment>,
        own: bool,
    ) -> Result<Self, Error> {
        let client = environment.client();
        let namespace = new_namespace(&client, test).await?;
        Ok(Self {
            namespace,
            client,
            environment: Some(environment),
            own,
            beside: Arc::default(),
            failed: Arc::default(),
        })
    }

    pub(super) async fn on_current_cluster(test: &str) -> Result<Self, Error> {
        let client =
            Client::try_default().await.map_err(Error::api("use the current kubeconfig"))?;
        let namespace = new_namespace(&client, test).await?;
        Ok(Self {
            namespace,
            client,
            environment: None,
            own: false,
            beside: Arc::default(),
            failed: Arc::default(),
        })
    }

    /// A client with all rights.
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// How to reach the cluster with all rights, for a program that makes its own client.
    ///
    /// # Panics
    /// If there is no usable kubeconfig; that is how a test fails.
    pub async fn config(&self) -> Config {
        let options = KubeConfigOptions::default();
        let config = match self.local().map(Environment::kubeconfig) {
            Some(path) => match Kubeconfig::read_from(path) {
                Ok(kubeconfig) => Config::from_custom_kubeconfig(kubeconfig, &options).await,
                Err(error) => Err(error),
            },
            None => Config::from_kubeconfig(&options).await,
        };
        config.unwrap_or_else(|error| panic!("the cluster's kubeconfig: {}", crate::chain(&error)))
    }

    /// The namespace that only this test uses.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The local environment, to disturb if the test has its own. On a cluster that is not ours the
    /// test ends here and counts as left out.
    pub fn environment(&self) -> &Environment {
        self.environment.as_deref().unwrap_or_else(|| std::panic::resume_unwind(Box::new(NotLocal)))
    }

    /// Installs definitions and waits until they are served.
    ///
    /// # Panics
    /// If the API server refuses them.
    pub async fn install(&self, definitions: &[CustomResourceDefinition]) {
        let installed = crds::install(&self.client, definitions).await;
        installed.unwrap_or_else(|error| panic!("{}", error.chain()));
    }

    /// `kubectl` in the test's namespace, with all rights.
    pub fn kubectl(&self) -> Command {
        let local = self.environment.as_ref().map(|environment| environment.kubectl());
        let mut command = local.unwrap_or_else(|| Command::new("kubectl"));
        command.args(["--namespace", &self.namespace]);
        command
    }

    /// The objects of a kind in the test's namespace.
    pub fn api<K>(&self) -> Api<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    {
        Api::namespaced(self.client(), &self.namespace)
    }

    /// Creates an object in the test's namespace.
    ///
    /// # Panics
    /// If the API server refuses it.
    pub async fn create<K>(&self, object: K) -> K
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + Debug + Serialize + DeserializeOwned,
    {
        let what = format!("{} {}", K::kind(&()), object.name_any());
        self.api().create(&PostParams::default(), &object).await.unwrap_or_else(|error| {
            panic!("cannot create {what}: {}", crate::chain(&error));
        })
    }

    /// Deletes this very object, not another of the same name.
    ///
    /// # Panics
    /// If the API server refuses it.
    pub async fn delete<K>(&self, object: &K)
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + Debug + DeserializeOwned,
    {
        let preconditions = Preconditions { uid: object.uid(), resource_version: None };
        let parameters =
            DeleteParams { preconditions: Some(preconditions), ..DeleteParams::default() };
        let name = object.name_any();
        self.api::<K>().delete(&name, &parameters).await.unwrap_or_else(|error| {
            panic!("cannot delete {} {name}: {}", K::kind(&()), crate::chain(&error));
        });
    }

    /// Waits until `check` gives a value, and returns it. What `check` says otherwise is the last state
    /// seen, printed when the time is up.
    ///
    /// # Panics
    /// If it does not come, or what [`Self::spawn`] runs has failed; that is how a test fails.
    pub async fn eventually<T>(
        &self,
        what: &str,
        mut check: impl AsyncFnMut() -> Result<T, String>,
    ) -> T {
        let check = async || match self.failed.get() {
            None => check().await,
            Some(failure) => panic!("{what}: what runs beside the test failed: {failure}"),
        };
        eventually::eventually(what, eventually::LIMIT, check).await
    }

    /// Waits for a living object of kind `K` that `owner` owns, and returns it.
    pub async fn eventually_owned<K>(&self, owner: &impl Resource<DynamicType = ()>) -> K
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + Debug + DeserializeOwned,
    {
        let uid = owner.meta().uid.clone().unwrap_or_default();
        let what = format!(
            "a {} owned by {}",
            K::kind(&()),
            owner.meta().name.as_deref().unwrap_or_default()
        );
        let api = self.api::<K>();
        self.eventually(&what, async || {
            let list =
                api.list(&ListParams::default()).await.map_err(|error| crate::chain(&error))?;
            let names: Vec<_> = list.items.iter().map(ResourceExt::name_any).collect();
            let mut living =
                list.items.into_iter().filter(|object| object.meta().deletion_timestamp.is_none());
            let owned = living
                .find(|object| object.owner_references().iter().any(|owner| owner.uid == uid));
            owned.ok_or_else(|| format!("there are {names:?}"))
        })
        .await
    }

    /// Runs `work`, such as the operator under test, beside the test until that is over. If it fails, so
    /// does whatever the test waits for.
    pub fn spawn<R: TestResult>(&self, work: impl Future<Output = R> + Send + 'static) {
        let failed = self.failed.clone();
        let task = tokio::spawn(async move {
            if let Some(failure) = work.await.failure() {
                failed.get_or_init(|| failure);
            }
        });
        self.beside.lock().unwrap_or_else(PoisonError::into_inner).push(task.abort_handle());
    }

    /// Ends what is only this test's. A failed test's namespace on somebody else's cluster stays, to be
    /// looked at.
    pub(super) async fn finish(self, passed: bool) {
        for work in self.beside.lock().unwrap_or_else(PoisonError::into_inner).drain(..) {
            work.abort();
        }
        if self.own {
            let environment = self.environment.map(Arc::try_unwrap);
            if let Some(Ok(environment)) = environment {
                let _ = environment.stop().await;
            }
        } else if passed {
            let api: Api<Namespace> = Api::all(self.client);
            let _ = api.delete(&self.namespace, &DeleteParams::background()).await;
        }
    }

    pub(super) fn local(&self) -> Option<&Environment> {
        self.environment.as_deref()
    }
}

async fn new_namespace(client: &Client, test: &str) -> Result<String, Error> {
    let metadata = ObjectMeta { generate_name: Some(prefix(test)), ..ObjectMeta::default() };
    let namespace = Namespace { metadata, ..Namespace::default() };
    let created = Api::all(client.clone()).create(&PostParams::default(), &namespace).await;
    created
        .map(|namespace| namespace.name_any())
        .map_err(Error::api("create a namespace for the test"))
}

/// The test's own name as a legal prefix: `it::scaling::it_scales_up` gives `it-scales-up-`.
fn prefix(test: &str) -> String {
    let name = test.rsplit("::").next().unwrap_or(test).to_ascii_lowercase();
    let name: String = name
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect();
    let name: String = name.trim_matches('-').chars().take(50).collect();
    format!("{}-", name.trim_end_matches('-'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_is_named_after_its_test() {
        assert_eq!(prefix("it::scaling::it_scales_up"), "it-scales-up-");
        assert!(prefix(&"a_".repeat(60)).len() <= 52);
    }
}
