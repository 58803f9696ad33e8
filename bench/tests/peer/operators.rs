//! The two operators: ours inside the test, the one in Go as a process, each as a user of its own, so that the
//! audit log tells their requests apart.

use std::path::Path;

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};
use kubewright::{Flags, RunError, cluster};
use kubewright_bench::peer;
use kubewright_bench::process::Process;
use kubewright_testenv::audit::AuditRecord;
use kubewright_testenv::{Environment, Identity};
use serde_json::json;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::job::NAMESPACE;

/// What a running operator is asked.
pub(crate) trait Operator {
    /// What it is called in what is printed.
    fn name(&self) -> &'static str;

    /// Whom the API server takes it for.
    fn user(&self) -> String;

    /// What it has written so far.
    fn writes(&self, environment: &Environment) -> Vec<AuditRecord> {
        let user = self.user();
        let is_write =
            |record: &AuditRecord| !matches!(record.verb.as_str(), "get" | "list" | "watch");
        let records = environment.audit().unwrap().into_iter();
        records.filter(|record| record.user == user && is_write(record)).collect()
    }
}

/// Ours.
pub(crate) struct Ours {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), RunError>>,
}

impl Ours {
    pub(crate) async fn start(environment: &Environment) -> Self {
        let identity = Identity::User { name: "ours", groups: &["system:masters"] };
        let kubeconfig = environment.kubeconfig_as(identity).await.unwrap();
        let kubeconfig = Kubeconfig::read_from(kubeconfig).unwrap();
        let options = KubeConfigOptions::default();
        let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
        let (stop, stopped) = oneshot::channel();
        let running =
            memcached_operator::operator()
                .run(config, Flags::for_test(NAMESPACE), async { drop(stopped.await) });
        Self { stop, task: tokio::spawn(running) }
    }

    pub(crate) async fn stop(self) {
        let _ = self.stop.send(());
        self.task.await.unwrap().unwrap();
    }
}

impl Operator for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn user(&self) -> String {
        "ours".to_owned()
    }
}

/// The one in Go, with the rights that its role gives it and no others.
pub(crate) struct Go(Process);

const ACCOUNT: &str = "memcached-peer";

impl Go {
    pub(crate) async fn start(environment: &Environment, program: &Path) -> Self {
        let mut documents = cluster::documents(peer::ROLE).unwrap();
        documents.push(json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": {"name": ACCOUNT, "namespace": NAMESPACE},
        }));
        documents.push(json!({
            "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": ACCOUNT},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ACCOUNT},
            "subjects": [{"kind": "ServiceAccount", "name": ACCOUNT, "namespace": NAMESPACE}],
        }));
        cluster::apply(&environment.client(), "test", &documents, &mut |_| {}).await.unwrap();
        let identity = Identity::ServiceAccount { namespace: NAMESPACE, name: ACCOUNT };
        let kubeconfig = environment.kubeconfig_as(identity).await.unwrap();
        let process = Process::start(program, &kubeconfig, environment.directory(), &[]);
        let mut process = process.unwrap();
        process.until_ready().await.unwrap();
        Self(process)
    }

    pub(crate) async fn stop(self) {
        self.0.stop().await.unwrap();
    }
}

impl Operator for Go {
    fn name(&self) -> &'static str {
        "Go"
    }

    fn user(&self) -> String {
        format!("system:serviceaccount:{NAMESPACE}:{ACCOUNT}")
    }
}
