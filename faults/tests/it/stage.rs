//! A namespace with the operator in it, and what tests do there.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use http::Response;
use hyper::body::Bytes;
use k8s_openapi::api::apps::v1::Deployment;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use kubewright_testenv::Env;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};
use memcached_api::v1alpha1::Memcached;
use memcached_faults::label;
use memcached_faults::state::{is_as_desired_without_pods, objects};
use memcached_faults::world::{Subject, World};
use serde_json::{Value, json};

/// Answers writes to some resource in the API server's place while it is on.
pub(crate) struct Refusing {
    /// What a write's label has to contain.
    pub(crate) what: &'static str,
    /// With what.
    pub(crate) answer: fn() -> Response<Bytes>,
    /// Whether it does.
    pub(crate) on: AtomicBool,
    /// How many it still may refuse.
    pub(crate) left: AtomicUsize,
    noted: std::sync::Mutex<Vec<Noted>>,
}

/// A request, as it came.
#[derive(Clone, Debug)]
pub(crate) struct Noted {
    pub(crate) what: String,
    pub(crate) at: Instant,
    pub(crate) is_write: bool,
    pub(crate) refused: bool,
}

impl Refusing {
    pub(crate) fn new(what: &'static str, answer: fn() -> Response<Bytes>) -> Arc<Self> {
        let (on, left) = (AtomicBool::new(true), AtomicUsize::new(usize::MAX));
        Arc::new(Self { what, answer, on, left, noted: std::sync::Mutex::default() })
    }

    /// All requests, those that are not meant too.
    pub(crate) fn noted(&self) -> Vec<Noted> {
        self.noted.lock().unwrap().clone()
    }

    pub(crate) fn refused(&self) -> Vec<Noted> {
        self.noted().into_iter().filter(|noted| noted.refused).collect()
    }

    /// Those writes that are meant, whether it refused them or not.
    pub(crate) fn writes(&self) -> Vec<Noted> {
        let meant = |noted: &Noted| noted.is_write && noted.what.contains(self.what);
        self.noted().into_iter().filter(meant).collect()
    }
}

impl Hook for Refusing {
    fn request(&self, asked: &Asked) -> RequestFault {
        let (what, is_write) = (label::write(asked), label::is_write(asked));
        let meant = is_write && what.contains(self.what);
        let spend = |left: usize| left.checked_sub(1);
        let refuses = meant
            && self.on.load(Ordering::SeqCst)
            && self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, spend).is_ok();
        let noted = Noted { what, at: Instant::now(), is_write, refused: refuses };
        self.noted.lock().unwrap().push(noted);
        if refuses { RequestFault::Answer((self.answer)()) } else { RequestFault::Pass }
    }
}

/// Whether a test that takes a minute is to run: `make faults` asks for it, the quick part leaves it out.
#[expect(clippy::print_stderr, reason = "whoever runs the tests is to know")]
pub(crate) fn has_time(id: &str) -> bool {
    let long = std::env::var_os("KUBEWRIGHT_LONG").is_some();
    if !long {
        eprintln!("LEFT OUT: {id} needs KUBEWRIGHT_LONG=1, as `make faults` has it");
    }
    long
}

/// Lets everything pass.
pub(crate) struct Nothing;

impl Hook for Nothing {}

/// A namespace with the operator in it.
pub(crate) struct Stage<'a> {
    env: &'a Env,
    pub(crate) world: World<'a>,
    pub(crate) namespace: String,
    pub(crate) subject: Subject,
}

impl<'a> Stage<'a> {
    pub(crate) async fn new(env: &'a Env, hook: Arc<dyn Hook>, more: &[&str]) -> Self {
        let mut flags = vec!["--leader-elect=false".to_owned()];
        flags.extend(more.iter().map(ToString::to_string));
        let world = World::new(env.environment()).await.unwrap();
        let namespace = world.namespace("stage").await.unwrap();
        Self::with(env, world, namespace, hook, &flags).await
    }

    /// Where somebody has made a namespace.
    pub(crate) async fn in_namespace(env: &'a Env, name: &str, hook: Arc<dyn Hook>) -> Self {
        let world = World::new(env.environment()).await.unwrap();
        let flags = ["--leader-elect=false".to_owned()];
        Self::with(env, world, name.to_owned(), hook, &flags).await
    }

    /// With a lease, as it ships.
    pub(crate) async fn electing(env: &'a Env, hook: Arc<dyn Hook>) -> Self {
        let world = World::new(env.environment()).await.unwrap();
        let namespace = world.namespace("stage").await.unwrap();
        world.permit_lease(&namespace).await.unwrap();
        let flags =
            ["--leader-elect".to_owned(), format!("--leader-election-namespace={namespace}")];
        Self::with(env, world, namespace, hook, &flags).await
    }

    async fn with(
        env: &'a Env,
        world: World<'a>,
        namespace: String,
        hook: Arc<dyn Hook>,
        flags: &[String],
    ) -> Self {
        let subject = world.operator_behind(&namespace, flags, |_| hook).await.unwrap();
        Self { env, world, namespace, subject }
    }

    pub(crate) fn caches(&self) -> Api<Memcached> {
        Api::namespaced(self.world.client(), &self.namespace)
    }

    pub(crate) fn deployments(&self) -> Api<Deployment> {
        Api::namespaced(self.world.client(), &self.namespace)
    }

    pub(crate) async fn create(&self, name: &str, size: i32) {
        self.caches().create(&PostParams::default(), &cache(name, size)).await.unwrap();
    }

    pub(crate) async fn resize(&self, name: &str, size: i32) {
        let patch = Patch::Merge(json!({"spec": {"size": size}}));
        self.caches().patch(name, &PatchParams::default(), &patch).await.unwrap();
    }

    /// Waits until all caches have what they ask for.
    pub(crate) async fn settled(&self) -> Duration {
        self.eventually("all is as it should be", async || {
            let objects = objects(&self.world.client(), &self.namespace).await;
            is_as_desired_without_pods(&objects.map_err(|error| format!("{error:#}"))?)
        })
        .await
    }

    /// Waits until a cache says why it is not reconciled.
    pub(crate) async fn told(&self, name: &str, words: &str) -> Duration {
        self.eventually(&format!("{name} says {words}"), async || {
            let cache = self.caches().get(name).await.map_err(|error| error.to_string())?;
            let conditions: Value = json!(cache.status.map(|status| status.conditions));
            if conditions.to_string().contains(words) {
                Ok(())
            } else {
                Err(conditions.to_string())
            }
        })
        .await
    }

    /// Waits until it is so, and says how long that took.
    pub(crate) async fn eventually(
        &self,
        what: &str,
        check: impl AsyncFnMut() -> Result<(), String>,
    ) -> Duration {
        let began = Instant::now();
        self.env.eventually(what, check).await;
        began.elapsed()
    }

    /// Nothing that nobody asked for has happened to the process.
    pub(crate) fn stands(&self) {
        let failures = self.subject.running.failures();
        assert!(failures.is_empty(), "{failures:#?}");
    }
}

pub(crate) fn cache(name: &str, size: i32) -> Memcached {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
        "metadata": {"name": name}, "spec": {"size": size},
    });
    serde_json::from_value(object).unwrap()
}
