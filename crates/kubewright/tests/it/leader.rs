//! Of several instances one writes, whatever becomes of it: stopped, cut off, killed or paused.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::{Duration, Instant};

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::kube::Api;
use kubewright::kube::api::PostParams;
use kubewright::kube::core::{ApiResource, DynamicObject, GroupVersionKind};
use kubewright::prelude::*;
use kubewright::{Flags, RunError};
use kubewright_testenv::audit::AuditRecord;
use kubewright_testenv::{Env, Identity};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tokio::process::{Child, Command};

use crate::books::{Books, book};
use crate::running::{self, Running};
use crate::seen;
use crate::world::reconciled;

/// The lease lasts 15 s from the last renewal, and a standby needs a moment to see it.
const CRASH: Duration = Duration::from_secs(17);

fn electing(env: &Env) -> Flags {
    let mut flags = running::flags(env);
    flags.leader_elect = true;
    flags.leader_election_namespace = Some(env.namespace().to_owned());
    flags
}

fn operator() -> Operator {
    Operator::new("book-operator").controller::<Books>()
}

async fn candidate(env: &Env, name: &str) -> Running {
    running::start_as(env, operator(), electing(env), name).await
}

/// Waits until a standby has filled its caches.
async fn until_warm(env: &Env, name: &str) {
    let user = seen::user(env, name);
    env.eventually(&format!("{name} watches"), async || {
        let watches = seen::watches(env, &user);
        let kinds = watches.keys().filter(|kind| *kind != "leases").count();
        if kinds >= 3 { Ok(()) } else { Err(format!("{watches:?}")) }
    })
    .await;
}

fn writers(env: &Env, names: &[&str]) -> BTreeSet<String> {
    let wrote = |name: &&&str| !seen::written(env, &seen::user(env, name)).is_empty();
    names.iter().filter(wrote).map(ToString::to_string).collect()
}

/// Asserts that every write came from who held the lease at that time.
fn assert_leaders_only(env: &Env, names: &[&str]) {
    let users: Vec<_> = names.iter().map(|name| seen::user(env, name)).collect();
    let mut records: Vec<AuditRecord> = env.environment().audit().unwrap();
    records.retain(|record| users.contains(&record.user) && record.code < 300);
    records.retain(|record| !matches!(record.verb.as_str(), "get" | "list" | "watch"));
    records.sort_by_key(|record| record.received);
    let mut holder = None;
    for record in &records {
        match record.resource.as_str() {
            "leases" => holder = Some(&record.user),
            "events" => {}
            _ => assert_eq!(Some(&record.user), holder, "{record:?}"),
        }
    }
    let mut created: Vec<_> = records
        .iter()
        .filter(|record| record.code == 201 && record.verb == "patch")
        .map(|record| (&record.resource, &record.name))
        .collect();
    let count = created.len();
    created.sort_unstable();
    created.dedup();
    assert_eq!(created.len(), count, "something was created twice");
}

/// Asserts that `new` left the lease alone for as long as it lasts after `old` wrote it last.
fn assert_lease_ran_out(env: &Env, old: &str, new: &str) {
    let writes = |name| {
        let asked = seen::asked(env, &seen::user(env, name)).into_iter();
        asked.filter(|it| {
            let is_write = matches!(it.verb.as_str(), "create" | "update");
            it.resource == "leases" && is_write && it.code < 300
        })
    };
    let last = writes(old).map(|record| record.received).max().unwrap();
    let first = writes(new).map(|record| record.received).min().unwrap();
    let waited = first.duration_since(last).as_millis();
    assert!(waited >= 14_900, "{new} waited for {waited} ms");
}

#[kubewright_testenv::test]
async fn one_of_two_writes_and_the_other_takes_over_at_once_when_it_stops(env: Env) {
    env.install(&operator().definitions()).await;
    let one = candidate(&env, "one").await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let two = candidate(&env, "two").await;
    until_warm(&env, "two").await;
    env.create(book("b")).await;
    reconciled(&env, "b", "True", "Reconciled").await;
    let _ = running::settled(|| env.environment().audit().unwrap().len()).await;
    assert_eq!(writers(&env, &["one", "two"]), ["one".to_owned()].into());
    let listed = seen::lists(&env, &seen::user(&env, "two"));

    one.stop().await;
    env.create(book("c")).await;
    let taken = reconciled(&env, "c", "True", "Reconciled");
    let taken = seen::within(Duration::from_secs(2), "the standby writes", taken).await;
    assert_eq!(seen::lists(&env, &seen::user(&env, "two")), listed, "its caches were warm");
    assert_leaders_only(&env, &["one", "two"]);
    eprintln!("taken over after {taken:?}");
    two.stop().await;
}

#[kubewright_testenv::test]
async fn a_standby_stops_at_once(env: Env) {
    env.install(&operator().definitions()).await;
    let one = candidate(&env, "one").await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let two = candidate(&env, "two").await;
    until_warm(&env, "two").await;
    let stopped = seen::within(Duration::from_secs(5), "the standby stops", two.stop()).await;
    eprintln!("stopped after {stopped:?}");
    one.stop().await;
}

#[kubewright_testenv::test]
async fn a_leader_that_is_cut_off_ends_and_writes_nothing_after_its_successor(env: Env) {
    env.install(&operator().definitions()).await;
    let user = seen::user(&env, "one");
    let identity = Identity::User { name: &user, groups: &["system:masters"] };
    let way = env.environment().disturbed(identity).await.unwrap();
    let config = running::config(&way.kubeconfig).await;
    let one = running::run(operator(), config, electing(&env), user);
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let two = candidate(&env, "two").await;
    until_warm(&env, "two").await;

    way.proxy.cut();
    let cut = Instant::now();
    env.create(book("b")).await;
    let ended = tokio::time::timeout(Duration::from_secs(15), one.ended()).await;
    let ended = ended.expect("it ends before its lease is over").unwrap_err();
    assert!(matches!(ended, RunError::Election(_)), "{ended:?}");
    let gone = cut.elapsed();
    way.proxy.heal();
    reconciled(&env, "b", "True", "Reconciled").await;
    let taken = cut.elapsed();
    assert!(taken <= CRASH, "{taken:?}");
    let last = seen::written(&env, &seen::user(&env, "one"));
    let last = last.iter().map(|record| record.received).max().unwrap();
    let first = seen::written(&env, &seen::user(&env, "two"));
    assert!(first.iter().all(|record| record.received > last));
    assert_lease_ran_out(&env, "one", "two");
    assert_leaders_only(&env, &["one", "two"]);
    eprintln!("ended after {gone:?}, taken over after {taken:?}");
    two.stop().await;
}

/// The example, as a process of its own: what can be killed and paused.
struct Instance(Child);

impl Instance {
    async fn start(env: &Env, name: &str) -> Self {
        let user = seen::user(env, name);
        let identity = Identity::User { name: &user, groups: &["system:masters"] };
        let kubeconfig = env.environment().kubeconfig_as(identity).await.unwrap();
        let mut command = Command::new(example());
        command.arg("--kubeconfig").arg(kubeconfig).arg("--leader-elect");
        command.args(["--leader-election-namespace", env.namespace()]);
        command.args(["--namespace", env.namespace(), "--health-probe-bind-address", "0"]);
        let command = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        Self(command.kill_on_drop(true).spawn().unwrap())
    }

    fn signal(&self, signal: Signal) {
        let id = self.0.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        kill_process(id.unwrap(), signal).unwrap();
    }

    async fn kill(mut self) {
        self.0.kill().await.unwrap();
    }
}

/// Cargo builds examples beside the tests.
pub fn example() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples/guestbook");
    assert!(example.exists(), "{} is missing: cargo build --example guestbook", example.display());
    example
}

async fn install_guestbooks(env: &Env) {
    let printed = Command::new(example()).args(["generate", "crd"]).output().await.unwrap();
    let definition = serde_saphyr::from_slice(&printed.stdout).unwrap();
    env.install(&[definition]).await;
}

/// Creates a guestbook and waits for its Deployment.
async fn served(env: &Env, name: &str) {
    let kind = GroupVersionKind::gvk("demo.kubewright.dev", "v1", "Guestbook");
    let kind = ApiResource::from_gvk(&kind);
    let book = DynamicObject::new(name, &kind).data(json!({"spec": {"image": "guestbook:1"}}));
    // Not by kubectl, whose start alone can take seconds on a busy machine, which nobody waits for here.
    let api = Api::<DynamicObject>::namespaced_with(env.client(), env.namespace(), &kind);
    api.create(&PostParams::default(), &book).await.unwrap();
    env.eventually(&format!("guestbook {name} is served"), async || {
        let found = env.api::<Deployment>().get(name).await;
        found.map(drop).map_err(|error| error.to_string())
    })
    .await;
}

#[kubewright_testenv::test]
async fn a_killed_leader_is_succeeded_within_17_seconds_each_time(env: Env) {
    install_guestbooks(&env).await;
    let names = ["one", "two", "three"];
    let mut alive = Vec::new();
    for name in names {
        alive.push((name, Instance::start(&env, name).await));
        if name == "one" {
            served(&env, "first").await;
        } else {
            until_warm(&env, name).await;
        }
    }
    let mut leader = "one".to_owned();
    for round in ["second", "third"] {
        let place = alive.iter().position(|(name, _)| *name == leader).unwrap();
        let before = writers(&env, &names);
        alive.remove(place).1.kill().await;
        let taken = seen::within(CRASH, "another takes over", served(&env, round)).await;
        running::settled(|| env.environment().audit().unwrap().len()).await;
        let after = writers(&env, &names);
        let new: Vec<_> = after.difference(&before).collect();
        assert_eq!(new.len(), 1, "{before:?}, {after:?}");
        assert_lease_ran_out(&env, &leader, new[0]);
        leader.clone_from(new[0]);
        eprintln!("{leader} took over after {taken:?}");
    }
    assert_leaders_only(&env, &names);
}

#[kubewright_testenv::test]
async fn a_leader_that_was_paused_ends_without_a_write(env: Env) {
    install_guestbooks(&env).await;
    let mut one = Instance::start(&env, "one").await;
    served(&env, "first").await;
    let _two = Instance::start(&env, "two").await;
    until_warm(&env, "two").await;
    one.signal(Signal::STOP);
    let paused = Instant::now();
    served(&env, "second").await;
    let taken = paused.elapsed();
    assert!(taken <= CRASH, "{taken:?}");
    tokio::time::sleep_until((paused + Duration::from_secs(20)).into()).await;
    one.signal(Signal::CONT);
    let ended = tokio::time::timeout(Duration::from_secs(5), one.0.wait()).await;
    assert_eq!(ended.expect("it ends").unwrap().code(), Some(1));
    served(&env, "third").await;
    let first = seen::written(&env, &seen::user(&env, "two"));
    let first = first.iter().map(|record| record.received).min().unwrap();
    let late = seen::written(&env, &seen::user(&env, "one"));
    assert!(late.iter().all(|record| record.received < first), "{late:#?}");
    assert_lease_ran_out(&env, "one", "two");
    assert_leaders_only(&env, &["one", "two"]);
    eprintln!("taken over after {taken:?}");
}
