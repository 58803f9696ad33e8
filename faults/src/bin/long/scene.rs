//! A namespace with one operator in it, or with several that compete.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use http::Method;
use kube::Api;
use kube::api::{Patch, PatchParams, PostParams};
use memcached_api::v1alpha1::Memcached;
use memcached_faults::label;
use memcached_faults::script::{Script, Sent};
use memcached_faults::state::{is_as_desired, is_as_desired_without_pods, objects};
use memcached_faults::world::{Subject, World};
use serde_json::{Value, json};
use tokio::time::sleep;

pub(crate) struct Scene<'a> {
    world: &'a World<'a>,
    pub(crate) namespace: String,
    subjects: Vec<(Subject, Arc<Script>)>,
}

impl<'a> Scene<'a> {
    pub(crate) async fn new(world: &'a World<'a>, replicas: usize) -> anyhow::Result<Self> {
        let namespace = world.namespace("long").await?;
        let mut flags = vec!["--leader-elect=false".to_owned()];
        if replicas > 1 {
            world.permit_lease(&namespace).await?;
            flags = vec![
                "--leader-elect".to_owned(),
                format!("--leader-election-namespace={namespace}"),
            ];
        }
        let mut subjects = Vec::new();
        for _ in 0..replicas {
            let script = Script::new(None);
            subjects.push((world.operator(&namespace, &script, &flags).await?, script));
        }
        Ok(Self { world, namespace, subjects })
    }

    pub(crate) fn caches(&self) -> Api<Memcached> {
        Api::namespaced(self.world.client(), &self.namespace)
    }

    pub(crate) async fn create(&self, name: &str, size: i32) -> anyhow::Result<()> {
        let object = serde_json::from_value(json!({
            "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
            "metadata": {"name": name}, "spec": {"size": size},
        }))?;
        self.caches().create(&PostParams::default(), &object).await?;
        Ok(())
    }

    pub(crate) async fn resize(&self, name: &str, size: i32) -> anyhow::Result<()> {
        let patch = Patch::Merge(json!({"spec": {"size": size}}));
        self.caches().patch(name, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// Waits until all caches have what they ask for, their pods too.
    pub(crate) async fn settled(&self, limit: Duration) -> anyhow::Result<Duration> {
        self.until(is_as_desired, limit).await
    }

    /// Waits until the operator has done its part: pods are for others to make.
    pub(crate) async fn served(&self, limit: Duration) -> anyhow::Result<Duration> {
        self.until(is_as_desired_without_pods, limit).await
    }

    async fn until(
        &self,
        check: fn(&Value) -> Result<(), String>,
        limit: Duration,
    ) -> anyhow::Result<Duration> {
        let began = Instant::now();
        loop {
            // Asked anew: the watcher may not have heard yet what was changed a moment ago.
            let objects = objects(&self.world.client(), &self.namespace).await.unwrap_or_default();
            let some = objects["memcacheds"].as_array().is_some_and(|list| !list.is_empty());
            match check(&objects) {
                Ok(()) if some => return Ok(began.elapsed()),
                state if began.elapsed() > limit => bail!("not after {limit:?}: {state:?}"),
                _ => sleep(Duration::from_millis(50)).await,
            }
        }
    }

    pub(crate) fn kill(&self, number: usize) {
        if let Some((subject, _)) = self.subjects.get(number) {
            subject.running.victim.kill();
        }
    }

    /// From now on every request and every event takes that long.
    pub(crate) fn delay(&self, delay: Duration) {
        self.subjects.iter().for_each(|(subject, _)| subject.way.proxy.delay(delay));
    }

    pub(crate) fn heal(&self) {
        self.subjects.iter().for_each(|(subject, _)| subject.way.proxy.heal());
    }

    /// Who has written the lease last.
    pub(crate) fn leader(&self) -> usize {
        let last = self.subjects.iter().enumerate();
        let last = last.max_by_key(|(_, (_, script))| lease_writes(script).into_iter().max());
        last.map_or(0, |(number, _)| number)
    }

    /// When the lease was first written after that.
    pub(crate) fn led_after(&self, killed: Instant) -> Option<Instant> {
        let writes = self.subjects.iter().flat_map(|(_, script)| lease_writes(script));
        writes.filter(|at| *at > killed).min()
    }

    pub(crate) fn writes(&self) -> usize {
        self.count(|sent| label::is_write(&sent.asked))
    }

    pub(crate) fn requests(&self) -> usize {
        self.count(|_| true)
    }

    pub(crate) fn lists(&self) -> usize {
        self.count(|sent| is_list(sent) && sent.code == Some(200))
    }

    /// Those that the API server has answered.
    pub(crate) fn lists_answered_since(&self, before: usize) -> usize {
        self.lists().saturating_sub(before)
    }

    fn count(&self, is: impl Fn(&Sent) -> bool) -> usize {
        self.subjects
            .iter()
            .map(|(_, script)| script.sent().iter().filter(|sent| is(sent)).count())
            .sum()
    }

    /// Nothing that nobody asked for has happened to a process.
    pub(crate) fn stands(&self) -> anyhow::Result<()> {
        for (subject, _) in &self.subjects {
            let failures = subject.running.failures();
            ensure!(failures.is_empty(), "{failures:?}");
        }
        Ok(())
    }
}

/// When the lease was written, with success.
fn lease_writes(script: &Script) -> Vec<Instant> {
    let is_write = |sent: &Sent| {
        sent.asked.method != Method::GET
            && sent.code.is_some_and(|code| code < 300)
            && label::place(&sent.asked.path).resource == "leases"
    };
    script.sent().iter().filter(|sent| is_write(sent)).map(|sent| sent.at).collect()
}

fn is_list(sent: &Sent) -> bool {
    let place = label::place(&sent.asked.path);
    sent.asked.method == Method::GET
        && place.name.is_empty()
        && !place.resource.is_empty()
        && !sent.asked.query.contains("watch=")
}
