//! The job that both operators are given: objects of every kind that the definition allows, and what is done to
//! them and to their children.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::{Duration, Instant};

use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Resource, ResourceExt as _};
use kubewright_testenv::Environment;
use kubewright_testenv::audit::AuditRecord;
use kubewright_testenv::progress::Progress;
use memcached_api::v1alpha1::Memcached;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// How many objects there are.
pub(crate) const OBJECTS: usize = 20;
pub(crate) const NAMESPACE: &str = "default";
const FINALIZER: &str = "cache.example.com/memcached-operator";
/// The label of all children; the API server has a Service of its own beside them.
const OWNED: &str = "cache.example.com/memcached";
const LIMIT: Duration = Duration::from_secs(30);

/// An environment with the definition.
pub(crate) struct Job {
    pub(crate) environment: Environment,
}

impl Job {
    pub(crate) async fn start() -> Self {
        let environment = Environment::builder().progress(Progress::Silent).start().await.unwrap();
        environment.install(&memcached_operator::operator().definitions()).await.unwrap();
        Self { environment }
    }

    fn api<K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>>(&self) -> Api<K> {
        Api::namespaced(self.environment.client(), NAMESPACE)
    }

    async fn list<K>(&self, label: &str) -> Vec<K>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + Debug + DeserializeOwned,
    {
        self.api::<K>().list(&ListParams::default().labels(label)).await.unwrap().items
    }

    pub(crate) async fn create(&self) {
        for number in 0..OBJECTS {
            let object = json!({
                "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
                "metadata": {"name": format!("cache-{number:02}")}, "spec": spec(number),
            });
            let object = serde_json::from_value(object).unwrap();
            self.api::<Memcached>().create(&PostParams::default(), &object).await.unwrap();
        }
    }

    /// Waits until every object has its finalizer, its children and a status of its generation.
    pub(crate) async fn until_converged(&self) {
        self.until("all objects are converged", async || {
            let objects = self.list::<Memcached>("").await;
            let deployments = self.list::<Deployment>(OWNED).await;
            let services = self.list::<Service>(OWNED).await;
            let waits = objects.iter().find(|object| {
                let status = object.status.as_ref();
                let observed = status.and_then(|status| status.observed_generation);
                !object.finalizers().iter().any(|one| one == FINALIZER)
                    || observed != object.metadata.generation
            });
            let children = [deployments.len(), services.len()];
            (waits.is_none() && children == [objects.len(); 2]).then_some(())
        })
        .await;
    }

    /// Labels, owner and spec of all children, as the API server has them. Ours keeps an annotation on each
    /// beside that, by which it knows its own last word.
    pub(crate) async fn made(&self) -> BTreeMap<String, String> {
        let mut made = self.made_of::<Deployment>().await;
        made.extend(self.made_of::<Service>().await);
        made
    }

    async fn made_of<K>(&self) -> BTreeMap<String, String>
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + Debug + DeserializeOwned + Serialize,
    {
        let text = |object: &K| {
            let mut object = serde_json::to_value(object).unwrap();
            let mut owners = object["metadata"]["ownerReferences"].take();
            owners[0]["uid"].take();
            let told = json!({
                "labels": object["metadata"]["labels"], "owners": owners, "spec": object["spec"],
            });
            serde_json::to_string_pretty(&told).unwrap()
        };
        let named = |object: &K| format!("{} {}", K::kind(&()), object.name_any());
        self.list(OWNED).await.iter().map(|object| (named(object), text(object))).collect()
    }

    pub(crate) async fn a_deleted_service_returns(&self) {
        let services = self.api::<Service>();
        let before = services.get("cache-01").await.unwrap().uid();
        services.delete("cache-01", &DeleteParams::default()).await.unwrap();
        self.until("the deleted Service is back", async || {
            let service = services.get_opt("cache-01").await.unwrap()?;
            (service.uid() != before).then_some(())
        })
        .await;
    }

    pub(crate) async fn another_size_is_undone(&self) {
        let deployments = self.api::<Deployment>();
        let scaled = Patch::Merge(json!({"spec": {"replicas": 9}}));
        deployments.patch("cache-02", &PatchParams::default(), &scaled).await.unwrap();
        self.until("the replicas are as before", async || {
            let replicas = deployments.get("cache-02").await.unwrap().spec?.replicas?;
            (replicas == 2).then_some(())
        })
        .await;
    }

    pub(crate) async fn a_changed_object_is_followed(&self) {
        let change = Patch::Merge(json!({"spec": {"size": 7, "image": "example.com/other:1"}}));
        let objects = self.api::<Memcached>();
        objects.patch("cache-03", &PatchParams::default(), &change).await.unwrap();
        self.until("the Deployment is as the object now says", async || {
            let spec = self.api::<Deployment>().get("cache-03").await.unwrap().spec?;
            let image = spec.template.spec?.containers[0].image.clone()?;
            (spec.replicas == Some(7) && image == "example.com/other:1").then_some(())
        })
        .await;
        self.until_converged().await;
    }

    /// Its children stay: there is no garbage collector here.
    pub(crate) async fn an_object_goes(&self) {
        let objects = self.api::<Memcached>();
        objects.delete("cache-04", &DeleteParams::default()).await.unwrap();
        self.until("the object is gone", async || {
            objects.get_opt("cache-04").await.unwrap().is_none().then_some(())
        })
        .await;
        // An event is written beside the rest.
        tokio::time::sleep(Duration::from_secs(1)).await;
    }

    async fn until(&self, what: &str, mut check: impl AsyncFnMut() -> Option<()>) {
        let started = Instant::now();
        while check().await.is_none() {
            if started.elapsed() > LIMIT {
                let log =
                    std::fs::read_to_string(self.environment.directory().join("operator.log"));
                panic!("{what}: not after {LIMIT:?}\n{}", log.unwrap_or_default());
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }
}

/// A few that set every field there is, and many that do not.
fn spec(number: usize) -> Value {
    match number {
        5 => json!({"containerPort": 12345}),
        6 => json!({"containerPort": 80}),
        7 => json!({"image": "example.com/memcached:1"}),
        8 => json!({"resources": {"limits": {"cpu": 1, "memory": "1Gi"}}}),
        _ => json!({"size": number % 4}),
    }
}

/// Requests counted by what they were.
pub(crate) fn by_verb(records: &[AuditRecord]) -> String {
    let mut verbs = BTreeMap::<_, usize>::new();
    for AuditRecord { verb, resource, subresource, code, .. } in records {
        *verbs.entry(format!("{verb} {resource}/{subresource} {code}")).or_default() += 1;
    }
    let words = verbs.iter().map(|(verb, count)| format!("{count} × {verb}"));
    words.collect::<Vec<_>>().join(", ")
}
