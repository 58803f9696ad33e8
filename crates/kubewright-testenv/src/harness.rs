//! Runs tests: one shared environment per kind and test binary, a namespace per test, a dump of what
//! there was when a test fails. `#[kubewright_testenv::test]` calls it.
//!
//! What the machine cannot run is left out and said; `KUBEWRIGHT_ALL_TIERS=1` makes that a failure.
//! `CLUSTER=current` runs on the cluster of the current kubeconfig instead of a local one, all but
//! the tests that disturb it.

#![expect(clippy::panic, reason = "a test fails by a panic")]

mod dump;
mod env;
mod eventually;

use std::any::Any;
use std::collections::HashMap;
use std::fmt::Debug;
use std::io::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use k8s_openapi::api::core::v1::Node as NodeObject;
use kube::api::ListParams;
use kube::{Api, Client};
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;

pub use env::Env;
use env::NotLocal;

use crate::binaries::Binaries;
use crate::cache::Cache;
use crate::environment::Environment;
use crate::error::Error;
use crate::preflight::{Tier, missing};
use crate::progress::Progress;
use crate::version::KubernetesVersion;

/// No test takes longer: a hang is a failure too.
const LIMIT: Duration = Duration::from_mins(5);
/// Nor does what follows it, on a server that may be the very one that hung.
const AFTERWARDS: Duration = Duration::from_mins(1);

const NOT_LOCAL: &str =
    "it needs a local environment, and CLUSTER=current says to use a cluster that is not ours";

/// What a test asks of its environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Needs {
    /// kube-controller-manager and kube-scheduler.
    pub controllers: bool,
    /// How many nodes.
    pub nodes: u8,
    /// Permissions on owners are enforced, as on some clusters.
    pub strict: bool,
    /// An environment that no other test uses.
    pub own: bool,
}

impl Needs {
    fn tier(self) -> Tier {
        if self.nodes > 0 { Tier::Node } else { Tier::ControlPlane }
    }
}

/// What a test function may return.
pub trait TestResult {
    /// The failure, if it is one.
    fn failure(self) -> Option<String>;
}

impl TestResult for () {
    fn failure(self) -> Option<String> {
        None
    }
}

impl<E: Debug> TestResult for Result<(), E> {
    fn failure(self) -> Option<String> {
        self.err().map(|error| format!("{error:?}"))
    }
}

/// All tests share one runtime, because a client's connections live in the runtime that opened them.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| Runtime::new().unwrap_or_else(|error| panic!("no async runtime: {error}")));

/// Never dropped: the keeper ends the environments when the test binary has ended.
type Shared = Arc<OnceCell<Result<Arc<Environment>, String>>>;
static SHARED: LazyLock<Mutex<HashMap<Needs, Shared>>> = LazyLock::new(Mutex::default);

/// Runs the test `name`.
///
/// # Panics
/// If the test fails; that is how a test fails.
pub fn run<F, R>(name: &'static str, needs: Needs, body: impl FnOnce(Env) -> F)
where
    F: Future<Output = R>,
    R: TestResult,
{
    if let Some(reason) = left_out(needs) {
        return leave_out(name, &reason);
    }
    let env = RUNTIME.block_on(new_env(name, needs)).unwrap_or_else(|reason| panic!("{reason}"));
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        RUNTIME.block_on(async { tokio::time::timeout(LIMIT, body(env.clone())).await })
    }));
    let failure: Option<Box<dyn Any + Send>> = match outcome {
        Err(panic) => Some(panic),
        Ok(Err(_)) => Some(Box::new(format!("{name} was not over after {LIMIT:?}"))),
        Ok(Ok(result)) => result.failure().map(|failure| Box::new(failure) as _),
    };
    let not_local = failure.as_ref().is_some_and(|failure| failure.is::<NotLocal>());
    if not_local {
        leave_out(name, NOT_LOCAL);
        return within(AFTERWARDS, env.finish(true));
    }
    if failure.is_some() {
        within(AFTERWARDS, dump::write(name, &env));
    }
    within(AFTERWARDS, env.finish(failure.is_none()));
    if let Some(failure) = failure {
        if let Some(text) = failure.downcast_ref::<String>() {
            let _ = writeln!(std::io::stderr(), "{name}: {text}");
        }
        resume_unwind(failure);
    }
}

/// Does it, or says that it took too long and goes on.
fn within(limit: Duration, work: impl Future<Output = ()>) {
    if RUNTIME.block_on(async { tokio::time::timeout(limit, work).await }).is_err() {
        let _ = writeln!(std::io::stderr(), "clearing up after a test took longer than {limit:?}");
    }
}

/// True if this machine can run `tier`; else the test `name` counts as left out. For tests that start
/// their environments themselves.
pub fn can_run(name: &str, tier: Tier) -> bool {
    let missing = tier_missing(tier).unwrap_or_else(|error| vec![error.chain()]);
    if !missing.is_empty() {
        leave_out(name, &missing.join("\n  "));
    }
    missing.is_empty()
}

/// Says so, or fails where nothing may be left out.
fn leave_out(name: &str, reason: &str) {
    let all = std::env::var("KUBEWRIGHT_ALL_TIERS");
    let all = all.is_ok_and(|value| !matches!(value.as_str(), "" | "0"));
    assert!(!all, "{name} cannot run here, and KUBEWRIGHT_ALL_TIERS is set:\n  {reason}");
    let _ = writeln!(std::io::stderr(), "LEFT OUT: {name}:\n  {reason}");
}

/// Why a test cannot run on this machine or cluster.
fn left_out(needs: Needs) -> Option<String> {
    if is_current_cluster() {
        return if needs.own { Some(NOT_LOCAL.to_owned()) } else { too_few_nodes(needs.nodes) };
    }
    let missing = tier_missing(needs.tier()).unwrap_or_else(|error| vec![error.chain()]);
    (!missing.is_empty()).then(|| missing.join("\n  "))
}

/// A cluster that is not ours has the nodes that it has.
fn too_few_nodes(wanted: u8) -> Option<String> {
    let count = async {
        let api: Api<NodeObject> = Api::all(Client::try_default().await?);
        Ok::<_, kube::Error>(api.list(&ListParams::default()).await?.items.len())
    };
    match if wanted == 0 { Ok(0) } else { RUNTIME.block_on(count) } {
        Ok(count) if count >= usize::from(wanted) => None,
        Ok(count) => Some(format!("it wants {wanted} nodes, and the current cluster has {count}")),
        Err(error) => {
            Some(format!("the nodes of the current cluster are unknown: {}", crate::chain(&error)))
        }
    }
}

/// What keeps this machine from running `tier`, as sentences; asked once, it may take a look at the
/// network.
fn tier_missing(tier: Tier) -> Result<Vec<String>, Error> {
    static ASKED: LazyLock<Mutex<HashMap<Tier, Vec<String>>>> = LazyLock::new(Mutex::default);
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = asked.get(&tier) {
        return Ok(known.clone());
    }
    let version = KubernetesVersion::from_environment()?;
    let binaries = Binaries::new(Cache::from_environment()?, version, Progress::Silent)?;
    let sentences: Vec<_> =
        missing(tier, &binaries, &std::env::temp_dir()).iter().map(ToString::to_string).collect();
    asked.insert(tier, sentences.clone());
    Ok(sentences)
}

fn is_current_cluster() -> bool {
    std::env::var("CLUSTER").is_ok_and(|cluster| cluster == "current")
}

async fn new_env(name: &'static str, needs: Needs) -> Result<Env, String> {
    if is_current_cluster() {
        return Env::on_current_cluster(name).await.map_err(|error| error.chain());
    }
    let environment = if needs.own {
        Arc::new(start(needs).await?)
    } else {
        let cell =
            SHARED.lock().unwrap_or_else(PoisonError::into_inner).entry(needs).or_default().clone();
        cell.get_or_init(|| async { start(needs).await.map(Arc::new) }).await.clone()?
    };
    Env::in_environment(name, environment, needs.own).await.map_err(|error| error.chain())
}

async fn start(needs: Needs) -> Result<Environment, String> {
    let builder = Environment::builder().nodes(needs.nodes);
    let builder = if needs.controllers { builder.controllers() } else { builder };
    let builder = if needs.strict { builder.strict() } else { builder };
    builder.start().await.map_err(|error| error.chain())
}
