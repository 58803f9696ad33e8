//! An operator that runs inside a test, in the test's namespace, as a user of its own, so that the audit log
//! tells its requests from all others.

use std::path::Path;
use std::time::Duration;

use kubewright::kube::Config;
use kubewright::kube::config::{KubeConfigOptions, Kubeconfig};
use kubewright::{Controller, Flags, Operator, RunError};
use kubewright_testenv::audit::AuditRecord;
use kubewright_testenv::{Env, Identity};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::books::Books;

/// A running operator.
pub struct Running {
    user: String,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), RunError>>,
}

/// The flags of a test: its namespace only, no servers, short waits.
pub fn flags(env: &Env) -> Flags {
    let mut flags = Flags::for_test(env.namespace());
    flags.reconcile_timeout = Duration::from_secs(2);
    flags
}

/// The same with metrics on `port` of this machine, and a lease.
pub fn measured(env: &Env, port: u16) -> Flags {
    let mut flags = flags(env);
    flags.metrics_bind_address = format!("127.0.0.1:{port}");
    flags.leader_elect = true;
    flags.leader_election_namespace = Some(env.namespace().to_owned());
    flags
}

/// Installs the test's kind and runs its controller.
pub async fn books(env: &Env) -> Running {
    start::<Books>(env, flags(env)).await
}

/// Runs `C` as a user of its own.
pub async fn start<C: Controller>(env: &Env, flags: Flags) -> Running {
    let operator = Operator::new("book-operator").controller::<C>();
    env.install(&operator.definitions()).await;
    start_as(env, operator, flags, "operator").await
}

/// Runs any operator as the user `name`.
pub async fn start_as(env: &Env, operator: Operator, flags: Flags, name: &str) -> Running {
    let user = format!("{name}-{}", env.namespace());
    let identity = Identity::User { name: &user, groups: &["system:masters"] };
    let kubeconfig = env.environment().kubeconfig_as(identity).await.unwrap();
    let config = config(&kubeconfig).await;
    run(operator, config, flags, user)
}

/// Runs any operator with `config`.
pub fn run(operator: Operator, config: Config, flags: Flags, user: String) -> Running {
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(operator.run(config, flags, async { drop(stopped.await) }));
    Running { user, stop, task }
}

/// The cluster that a kubeconfig names.
pub async fn config(kubeconfig: &Path) -> Config {
    let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
    Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await.unwrap()
}

impl Running {
    /// Stops it in good order.
    pub async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap().unwrap();
    }

    /// Tells it to stop, and says how it ended: well, or by itself before.
    pub async fn told_to_stop(self) -> Result<(), RunError> {
        let _ = self.stop.send(());
        self.task.await.unwrap()
    }

    /// Ends it as `kill -9` would, as far as that is possible within one process.
    pub fn kill(self) {
        self.task.abort();
    }

    /// How it ended by itself.
    pub async fn ended(self) -> Result<(), RunError> {
        self.task.await.unwrap()
    }

    /// What it asked of the API server, events and leases left out.
    pub fn requests(&self, env: &Env) -> Vec<AuditRecord> {
        let records = env.environment().audit().unwrap();
        let ours = records.into_iter().filter(|record| record.user == self.user);
        ours.filter(|record| !matches!(record.resource.as_str(), "events" | "leases")).collect()
    }

    /// What it wrote: verb, resource, name and answer of each.
    pub fn writes(&self, env: &Env) -> Vec<String> {
        let written = self.requests(env).into_iter();
        let written = written
            .filter(|record| !matches!(record.verb.as_str(), "get" | "list" | "watch"))
            .map(|record| {
                let AuditRecord { verb, resource, subresource, name, code, .. } = record;
                format!("{verb} {resource}/{subresource} {name} {code}")
            });
        written.collect()
    }
}

/// Waits until `count` gives the same answer for a second.
pub async fn settled<T: PartialEq>(mut count: impl FnMut() -> T) -> T {
    let mut last = count();
    let mut since = std::time::Instant::now();
    while since.elapsed() < Duration::from_secs(1) {
        tokio::time::sleep(Duration::from_millis(50)).await;
        let now = count();
        if now != last {
            last = now;
            since = std::time::Instant::now();
        }
    }
    last
}
