//! An API server with nothing on it but the kind and the namespaces, and the operator that is measured on
//! it. Every operator is the same user with the same rights.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kube::Client;
use kubewright_bench::process::{Process, cpu_of};
use kubewright_bench::requests::{Mark, Requests};
use kubewright_bench::results::{Profile, Subject};
use kubewright_testenv::progress::Progress;
use kubewright_testenv::{Disturbed, Environment, Identity};
use serde_json::json;

use crate::objects::{NAMESPACES, Object, namespace};
use crate::programs::{Programs, arguments};
use crate::seen::{CACHES, DEPLOYMENTS, SERVICES, Watcher};
use crate::wire::{self, Call, post};

/// More would only wait for the API server.
const AT_ONCE: usize = 16;
/// Nothing that works takes this long, even for thousands of objects.
const LIMIT: Duration = Duration::from_mins(20);

const USER: &str = "operator";
const OPERATOR: Identity<'_> = Identity::User { name: USER, groups: &["operators"] };

/// The environment of one run.
pub(crate) struct Rig {
    pub(crate) environment: Environment,
    /// As whoever sets things up and looks at them.
    pub(crate) client: Client,
    /// As the operator.
    pub(crate) operator_client: Client,
    programs: Programs,
    kubeconfig: PathBuf,
}

impl Rig {
    /// Starts it. A log of requests is kept only where requests are counted, because it takes time.
    pub(crate) async fn start(
        programs: &Programs,
        profile: Profile,
        audited: bool,
    ) -> anyhow::Result<Self> {
        let mut builder = Environment::builder().progress(Progress::Silent);
        if profile == Profile::Durable {
            builder = builder.durable();
        }
        if !audited {
            builder = builder.unaudited();
        }
        let environment = builder.start().await?;
        environment.install(std::slice::from_ref(&programs.definition)).await?;
        let client = environment.client();
        for number in 0..NAMESPACES {
            let body = json!({"metadata": {"name": namespace(number)}});
            wire::send(&client, post("/api/v1/namespaces".to_owned(), body.to_string()))
                .await?
                .accepted()?;
        }
        let binding = json!({
            "metadata": {"name": "operators"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "operators"}],
        });
        let path = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings".to_owned();
        wire::send(&client, post(path, binding.to_string())).await?.accepted()?;
        let kubeconfig = environment.kubeconfig_as(OPERATOR).await?;
        let operator_client = environment.client_as(OPERATOR).await?;
        Ok(Self { environment, client, operator_client, programs: programs.clone(), kubeconfig })
    }

    /// Starts an operator; several may run, each with a name of its own.
    pub(crate) fn operator(&self, subject: Subject, name: &str) -> anyhow::Result<Process> {
        self.operator_through(subject, name, &self.kubeconfig)
    }

    pub(crate) fn operator_through(
        &self,
        subject: Subject,
        name: &str,
        kubeconfig: &Path,
    ) -> anyhow::Result<Process> {
        let directory = self.directory(name)?;
        Process::start(self.programs.of(subject)?, kubeconfig, &directory, &arguments(subject))
    }

    /// Starts ours under another program.
    pub(crate) fn ours_under(&self, words: &[&str], directory: &Path) -> anyhow::Result<Process> {
        let mut command = tokio::process::Command::new(words[0]);
        command.args(&words[1..]).arg(&self.programs.ours);
        Process::spawn(command, &self.kubeconfig, directory, &arguments(Subject::Ours))
    }

    pub(crate) fn directory(&self, name: &str) -> anyhow::Result<PathBuf> {
        let directory = self.environment.directory().join("bench").join(name);
        std::fs::create_dir_all(&directory)?;
        Ok(directory)
    }

    /// A way to the API server for the operator, on which watches can be made to expire.
    pub(crate) async fn disturbed(&self) -> anyhow::Result<Disturbed> {
        Ok(self.environment.disturbed(OPERATOR).await?)
    }

    pub(crate) async fn caches(&self) -> anyhow::Result<Watcher> {
        Watcher::start(self.client.clone(), CACHES).await
    }

    /// Sends what `call` makes of each object, several at once.
    pub(crate) async fn each(
        &self,
        objects: &[Object],
        call: impl Fn(&Object) -> Call,
    ) -> anyhow::Result<()> {
        let sent = objects.iter().map(|object| {
            let call = call(object);
            async { wire::send(&self.client, call).await?.accepted().map(|_| ()) }
        });
        stream::iter(sent).buffer_unordered(AT_ONCE).try_collect().await
    }

    /// Creates objects, and waits until the API server has come to rest.
    pub(crate) async fn create(&self, prefix: &str, count: usize) -> anyhow::Result<Vec<Object>> {
        let objects: Vec<_> = (0..count).map(|number| Object::new(prefix, number)).collect();
        self.each(&objects, Object::create).await?;
        self.settle().await?;
        Ok(objects)
    }

    /// Waits until the API server has nothing more to do, so that what it does after a change of its kinds is
    /// nobody's burden.
    pub(crate) async fn settle(&self) -> anyhow::Result<()> {
        let id = self.environment.apiserver().id().context("the API server does not run")?;
        for _ in 0..30 {
            let before = cpu_of(id)?;
            tokio::time::sleep(Duration::from_millis(500)).await;
            if cpu_of(id)?.saturating_sub(before) < Duration::from_millis(60) {
                break;
            }
        }
        Ok(())
    }

    /// Waits until there are so many children.
    pub(crate) async fn until_children(&self, count: usize) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let (_, deployments) = wire::count(&self.client, DEPLOYMENTS).await?;
            // The API server's own is one more.
            let (_, services) = wire::count(&self.client, SERVICES).await?;
            if deployments >= count && services > count {
                return Ok(());
            }
            ensure!(began.elapsed() < LIMIT, "{deployments} Deployments and {services} Services");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Where the log of requests ends.
    pub(crate) fn mark(&self) -> anyhow::Result<Mark> {
        Mark::now(&self.environment)
    }

    /// What the operator has asked since.
    pub(crate) fn since(&self, mark: Mark) -> anyhow::Result<Requests> {
        Requests::since(&self.environment, mark, USER)
    }

    pub(crate) async fn stop(self) -> anyhow::Result<()> {
        Ok(self.environment.stop().await?)
    }
}

/// Fails what takes longer than anything that works.
pub(crate) async fn within_limit<T>(
    what: &str,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    tokio::time::timeout(LIMIT, work)
        .await
        .with_context(|| format!("{what}: not after {LIMIT:?}"))?
}
