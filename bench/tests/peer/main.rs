//! The operator in Go does the same job as ours: both are given the same objects on a real API server, and what
//! they make of them is compared.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

mod job;
mod operators;

use std::collections::BTreeMap;
use std::time::Duration;

use kubewright_bench::{peer, progress};
use kubewright_testenv::harness::can_run;
use kubewright_testenv::preflight::Tier;
use kubewright_testenv::progress::Progress;

use job::{Job, OBJECTS};
use operators::{Go, Operator, Ours};

const REST: Duration = Duration::from_secs(10);

/// A plain test, because a first build in Go takes longer than the harness gives one.
#[tokio::test(flavor = "multi_thread")]
async fn the_operator_in_go_does_what_ours_does() {
    let name = "the_operator_in_go_does_what_ours_does";
    if !can_run(name, Tier::ControlPlane) {
        return;
    }
    if !peer::can_build() {
        let all = std::env::var("KUBEWRIGHT_ALL_TIERS").is_ok_and(|value| value == "1");
        assert!(!all, "Go is not installed: install Go 1.26 or newer");
        eprintln!("LEFT OUT {name}: Go is not installed; install Go 1.26 or newer");
        return;
    }
    let program = peer::build(Progress::Shown).unwrap();
    let ours = {
        let job = Job::start().await;
        let operator = Ours::start(&job.environment).await;
        let made = through(&job, &operator).await;
        operator.stop().await;
        job.environment.stop().await.unwrap();
        made
    };
    let job = Job::start().await;
    let operator = Go::start(&job.environment, &program).await;
    let theirs = through(&job, &operator).await;
    for (object, made) in &ours {
        assert_eq!(made, &theirs[object], "{object}");
    }
    assert_eq!(ours.len(), theirs.len());
    is_at_rest(&job, &operator).await;
    operator.stop().await;
    job.environment.stop().await.unwrap();
}

/// What an operator makes of the objects, in text, by kind and name; it repairs, changes and deletes on the way.
async fn through(job: &Job, operator: &impl Operator) -> BTreeMap<String, String> {
    job.create().await;
    job.until_converged().await;
    let made = job.made().await;
    assert_eq!(made.len(), 2 * OBJECTS);
    let writes = operator.writes(&job.environment);
    progress(&format!("{}: {OBJECTS} objects took {}", operator.name(), job::by_verb(&writes)));
    assert_eq!(writes.len(), 4 * OBJECTS, "finalizer, two children, status: {writes:#?}");
    job.a_deleted_service_returns().await;
    job.another_size_is_undone().await;
    job.a_changed_object_is_followed().await;
    let before = operator.writes(&job.environment).len();
    job.an_object_goes().await;
    let deletion = operator.writes(&job.environment).split_off(before);
    progress(&format!("{}: the end of one took {}", operator.name(), job::by_verb(&deletion)));
    made
}

async fn is_at_rest(job: &Job, operator: &impl Operator) {
    let before = operator.writes(&job.environment).len();
    tokio::time::sleep(REST).await;
    let writes = operator.writes(&job.environment);
    assert_eq!(writes.len(), before, "it wrote at rest: {:#?}", &writes[before..]);
    let refused: Vec<_> = writes.iter().filter(|record| record.code >= 400).collect();
    assert!(refused.is_empty(), "{refused:#?}");
}
