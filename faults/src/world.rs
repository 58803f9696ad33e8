//! What all runs share: the API server with the built-in controllers, the operator's program and its rights,
//! the watcher; and what each gets for itself: a namespace, a proxy, a process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::Context as _;
use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::api::{DeleteParams, ObjectMeta, PostParams};
use kube::{Api, Client, ResourceExt as _};
use kubewright::cluster;
use kubewright::generate::{Installation, install, manager_name};
use kubewright_testenv::proxy::hook::Hook;
use kubewright_testenv::{Disturbed, Environment, Identity};
use memcached_api::v1alpha1::Memcached;
use memcached_e2e::programs::{permit, program};
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

use crate::history::History;
use crate::process::{Running, Start, Victim};
use crate::script::{Script, Way};

/// What all runs share.
pub struct World<'a> {
    /// The API server and what is beside it.
    pub environment: &'a Environment,
    /// Every version of every object.
    pub history: History,
    installation: Installation,
    program: PathBuf,
    logs: PathBuf,
}

/// Asked of cargo once by all: it waits for whoever else builds.
static BUILT: OnceCell<PathBuf> = OnceCell::const_new();

/// All worlds of this process count together: they may share an environment.
static NEXT: AtomicUsize = AtomicUsize::new(0);

/// A process of the operator behind a proxy of its own; both end when this is dropped.
pub struct Subject {
    /// The process.
    pub running: Running,
    /// Its way to the API server.
    pub way: Disturbed,
}

impl<'a> World<'a> {
    /// Installs the operator, all but its Deployment, and builds its program.
    pub async fn new(environment: &'a Environment) -> anyhow::Result<Self> {
        let world = Self::unwatched(environment).await?;
        Ok(Self { history: History::start(&world.client()), ..world })
    }

    /// The same without the watcher, who would keep every version of ten thousand objects.
    pub async fn unwatched(environment: &'a Environment) -> anyhow::Result<Self> {
        let client = environment.client();
        let installation = memcached_operator::operator().installation();
        let installation = installation.map_err(|error| anyhow::anyhow!("{error}"))?;
        permit(&client, &installation).await?;
        let program = kept(environment).await?;
        let logs = environment.directory().join("operators");
        std::fs::create_dir_all(&logs)?;
        if environment.controller_manager().is_some() {
            until_collected(&client).await?;
        }
        Ok(Self { environment, history: History::default(), installation, program, logs })
    }

    /// With all rights.
    pub fn client(&self) -> Client {
        self.environment.client()
    }

    /// The user that the operator is to the API server.
    pub fn account(&self) -> String {
        format!("system:serviceaccount:{}:{}", self.installation.namespace, self.account_name())
    }

    /// Where the operators' logs are.
    pub fn logs(&self) -> &Path {
        &self.logs
    }

    /// Makes a namespace that nobody else has.
    pub async fn namespace(&self, label: &str) -> anyhow::Result<String> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("{label}-{number}");
        let metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        let api: Api<Namespace> = Api::all(self.client());
        api.create(&PostParams::default(), &namespace).await?;
        Ok(name)
    }

    /// Starts the operator for `namespace` on the way of `script`, with `more` arguments.
    pub async fn operator(
        &self,
        namespace: &str,
        script: &Arc<Script>,
        more: &[String],
    ) -> anyhow::Result<Subject> {
        let script = script.clone();
        self.operator_behind(namespace, more, |victim| Arc::new(Way { script, victim })).await
    }

    /// Starts it behind any hook, which is told whom it may kill.
    pub async fn operator_behind(
        &self,
        namespace: &str,
        more: &[String],
        hook: impl FnOnce(Arc<Victim>) -> Arc<dyn Hook>,
    ) -> anyhow::Result<Subject> {
        let way = self.way().await?;
        let victim = Arc::new(Victim::default());
        way.proxy.set_hook(Some(hook(victim.clone())));
        self.operator_on(way, &[], namespace, more, victim)
    }

    /// A way to the API server, for a process that is yet to be started.
    pub async fn way(&self) -> anyhow::Result<Disturbed> {
        let account = self.account_name();
        let home = &self.installation.namespace;
        let identity = Identity::ServiceAccount { namespace: home, name: &account };
        Ok(self.environment.disturbed(identity).await?)
    }

    /// Starts it on that way, by a command that ends in running what is behind it.
    pub fn operator_on(
        &self,
        way: Disturbed,
        by: &[String],
        namespace: &str,
        more: &[String],
        victim: Arc<Victim>,
    ) -> anyhow::Result<Subject> {
        let mut line = by.to_vec();
        line.push(self.program.display().to_string());
        line.extend(["run", "--health-probe-bind-address=0"].map(str::to_owned));
        line.push(format!("--kubeconfig={}", way.kubeconfig.display()));
        line.push(format!("--namespace={namespace}"));
        line.extend_from_slice(more);
        let program = PathBuf::from(line.remove(0));
        let log = self.log(namespace, &way);
        let environment = self.environment.directory().to_owned();
        let start = Start { program, arguments: line, log, environment };
        Ok(Subject { running: Running::start(start, victim)?, way })
    }

    /// What an operator on this way says.
    pub fn log(&self, namespace: &str, way: &Disturbed) -> PathBuf {
        self.logs.join(format!("{namespace}-{}.log", way.proxy.address().port()))
    }

    /// The operator's account, and the namespace that it is in.
    pub fn home(&self) -> (String, String) {
        (self.account_name(), self.installation.namespace.clone())
    }

    fn account_name(&self) -> String {
        manager_name(&self.installation.operator)
    }

    /// Permits the lease of `namespace` what the operator's own role permits that of its own namespace.
    pub async fn permit_lease(&self, namespace: &str) -> anyhow::Result<()> {
        let mut roles = install::access(&self.installation);
        roles.retain(|role| {
            let name = role["metadata"]["name"].as_str().unwrap_or_default();
            name.contains("leader-election")
        });
        for role in &mut roles {
            role["metadata"]["namespace"] = json!(namespace);
        }
        cluster::apply(&self.client(), "faults", &roles, &mut |_| {}).await?;
        Ok(())
    }

    /// The operator's definitions, as JSON.
    pub fn definitions(&self) -> Vec<Value> {
        let definitions = &self.installation.definitions;
        definitions.iter().filter_map(|definition| serde_json::to_value(definition).ok()).collect()
    }
}

/// The operator's program, kept with the environment: nobody who builds meanwhile puts another in its place.
async fn kept(environment: &Environment) -> anyhow::Result<PathBuf> {
    let built = BUILT
        .get_or_try_init(async || spawn_blocking(|| program("memcached-operator")).await?)
        .await?;
    let kept = environment.directory().join("memcached-operator");
    if !kept.exists() && std::fs::hard_link(built, &kept).is_err() && !kept.exists() {
        std::fs::copy(built, &kept).context("the operator's program cannot be kept")?;
    }
    Ok(kept)
}

/// It looks for kinds twice a minute, and is as busy as the machine.
const COLLECTED: Duration = Duration::from_mins(2);

/// Waits until the garbage collector knows the kind, which it looks for twice a minute: children of a cache
/// that is gone stay until then.
async fn until_collected(client: &Client) -> anyhow::Result<()> {
    let name = format!("collected-{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let caches: Api<Memcached> = Api::namespaced(client.clone(), "default");
    let maps: Api<ConfigMap> = Api::namespaced(client.clone(), "default");
    let owner = serde_json::from_value(json!({
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
        "metadata": {"name": name}, "spec": {},
    }))?;
    let owner = caches.create(&PostParams::default(), &owner).await?;
    let child = serde_json::from_value(json!({"metadata": {"name": name, "ownerReferences": [{
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached", "name": name,
        "uid": owner.uid(),
    }]}}))?;
    maps.create(&PostParams::default(), &child).await?;
    caches.delete(&name, &DeleteParams::background()).await?;
    let collected = async {
        while maps.get_opt(&name).await?.is_some() {
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        anyhow::Ok(())
    };
    let told = tokio::time::timeout(COLLECTED, collected).await;
    told.context("the garbage collector does not learn of the kind")?
}
