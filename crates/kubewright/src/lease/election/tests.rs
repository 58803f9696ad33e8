//! The election on a real API server, with short times.

use kube::Client;
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kubewright_testenv::{Disturbed, Env, Identity};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use super::release::RELEASE_LIMIT;
use super::*;
use crate::lease::identity;

const TIMING: Timing = Timing {
    lease_duration: Duration::from_millis(2_500), // written as 3 s
    renew_deadline: Duration::from_millis(1_800),
    renew_every: Duration::from_millis(600),
    retry_every: Duration::from_millis(200),
};
const WRITTEN: Duration = Duration::from_secs(3);
const NAME: &str = "election";

/// A candidate that runs.
struct Candidate {
    leadership: Leadership,
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Result<(), LeaseError>>,
}

impl Candidate {
    fn start(client: Client, namespace: &str, identity: &str) -> Self {
        let (namespace, name) = (namespace.to_owned(), NAME.to_owned());
        let election = Election::new(client, namespace, name, identity.to_owned(), TIMING);
        let leadership = election.leadership();
        let (stop, stopped) = oneshot::channel::<()>();
        let task = tokio::spawn(election.run(async {
            if stopped.await.is_err() {
                std::future::pending::<()>().await;
            }
        }));
        Self { leadership, stop: Some(stop), task }
    }

    async fn until_leading(&self) {
        let limit = Duration::from_secs(20);
        timeout(limit, self.leadership.until_leading()).await.expect("it should lead");
    }

    async fn stop(mut self) -> Result<(), LeaseError> {
        self.stop.take().unwrap().send(()).unwrap();
        self.task.await.unwrap()
    }

    /// Ends as a killed process does, without a word.
    async fn crash(self) {
        self.task.abort();
        let _ = self.task.await;
    }
}

fn candidate(env: &Env, identity: &str) -> Candidate {
    Candidate::start(env.client(), env.namespace(), identity)
}

async fn record(env: &Env) -> k8s_openapi::api::coordination::v1::LeaseSpec {
    env.api::<Lease>().get(NAME).await.unwrap().spec.unwrap()
}

async fn edit(env: &Env, change: Value) {
    let patch = Patch::Merge(change);
    env.api::<Lease>().patch(NAME, &PatchParams::default(), &patch).await.unwrap();
}

fn holder_of(result: Result<(), LeaseError>) -> String {
    match result {
        Err(LeaseError::Lost { reason: Loss::TakenBy { holder }, .. }) => holder,
        other => panic!("not taken by another: {other:?}"),
    }
}

#[test]
fn a_renewal_without_an_answer_leaves_time_for_others() {
    let timing = Timing::default();
    let mut limits = Vec::new();
    let mut left = timing.renew_deadline.saturating_sub(timing.renew_every);
    while !left.is_zero() {
        limits.push(request_limit(Some(left), &timing));
        left = left.saturating_sub(limits[limits.len() - 1]);
    }
    assert_eq!(limits, [6, 2].map(Duration::from_secs));
    assert_eq!(request_limit(None, &timing), Duration::from_millis(6_500));
}

/// E12: each renewal is sent when the one before it is answered.
#[test]
fn a_server_that_takes_five_seconds_for_each_answer_costs_nobody_the_lease() {
    let (timing, slow) = (Timing::default(), Duration::from_millis(5_100));
    let (mut renewed, mut sent) = (Duration::ZERO, timing.renew_every);
    for _ in 0..10 {
        let left = (renewed + timing.renew_deadline).saturating_sub(sent);
        assert!(request_limit(Some(left), &timing) > slow, "{left:?}");
        renewed = sent;
        sent += slow.max(timing.renew_every);
    }
}

#[kubewright_testenv::test]
async fn one_of_two_leads_and_the_other_knows_by_whom(env: Env) {
    let name = identity();
    let one = candidate(&env, &name);
    one.until_leading().await;
    let two = candidate(&env, &identity());
    sleep(WRITTEN * 2).await;
    assert!(one.leadership.is_leading() && !two.leadership.is_leading());
    assert_eq!(two.leadership.holder().as_ref(), Some(&name));
    assert!(one.leadership.is_alive() && two.leadership.is_alive());
    let record = record(&env).await;
    assert_eq!(record.holder_identity, Some(name));
    assert_eq!((record.lease_duration_seconds, record.lease_transitions), (Some(3), Some(0)));
    two.stop().await.unwrap();
    assert!(one.leadership.is_leading(), "a standby that ends leaves the lease alone");
    one.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn an_orderly_end_hands_over_within_a_second(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    edit(&env, json!({"metadata": {"annotations": {"team": "red"}, "labels": {"a": "b"}}})).await;
    let two = candidate(&env, "two");
    sleep(TIMING.lease_duration).await;
    let begun = Instant::now();
    one.stop().await.unwrap();
    two.until_leading().await;
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    let lease = env.api::<Lease>().get(NAME).await.unwrap();
    assert_eq!(lease.metadata.annotations.unwrap()["team"], "red");
    assert_eq!(lease.metadata.labels.unwrap()["a"], "b");
    assert_eq!(lease.spec.unwrap().lease_transitions, Some(1));
    two.stop().await.unwrap();
    let released = record(&env).await;
    assert_eq!(released.holder_identity.as_deref(), Some(""));
    assert_eq!(released.lease_duration_seconds, Some(1));
}

#[kubewright_testenv::test]
async fn a_crash_hands_over_only_after_the_lease_is_over(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    let two = candidate(&env, "two");
    sleep(TIMING.lease_duration).await;
    let leadership = one.leadership.clone();
    one.crash().await;
    let last_renewal = record(&env).await.renew_time.unwrap().0;
    leadership.until_lost().await;
    assert!(!two.leadership.is_leading());
    two.until_leading().await;
    let waited = crate::clock::Clock::system().now_micro().duration_since(last_renewal);
    assert!(waited >= WRITTEN.try_into().unwrap(), "{waited:?}");
    assert!(waited < jiff::SignedDuration::from_secs(6), "{waited:?}");
    two.stop().await.unwrap();
}

#[kubewright_testenv::test(own)]
async fn a_leader_whose_server_is_paused_stops_before_its_lease_is_over(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    sleep(TIMING.renew_every).await;
    env.environment().apiserver().pause();
    let begun = Instant::now();
    one.leadership.until_lost().await;
    assert_eq!(one.leadership.may_write(), None);
    let error = one.task.await.unwrap().unwrap_err();
    assert!(begun.elapsed() < TIMING.lease_duration, "{:?}", begun.elapsed());
    let LeaseError::Lost { reason: Loss::NotRenewed { source, .. }, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(matches!(source, Some(RequestError::Unanswered(_))), "{source:?}");
    env.environment().apiserver().resume();
}

#[kubewright_testenv::test(own)]
async fn a_short_pause_of_the_server_is_survived_and_a_long_one_is_seen_by_a_standby(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    env.environment().apiserver().pause();
    sleep(TIMING.renew_every / 2).await;
    env.environment().apiserver().resume();
    sleep(WRITTEN).await;
    assert!(one.leadership.is_leading());
    let two = candidate(&env, "two");
    sleep(TIMING.renew_every).await;
    env.environment().apiserver().pause();
    env.eventually("the standby says that its loop hears nothing", async || {
        if two.leadership.is_alive() { Err("alive".to_owned()) } else { Ok(()) }
    })
    .await;
    let begun = Instant::now();
    two.stop().await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(1), "a standby has nothing to give back");
    env.environment().apiserver().resume();
}

#[kubewright_testenv::test(own)]
async fn giving_back_to_a_paused_server_is_given_up(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    env.environment().apiserver().pause();
    let begun = Instant::now();
    one.stop().await.unwrap();
    assert!(begun.elapsed() < RELEASE_LIMIT + Duration::from_secs(1), "{:?}", begun.elapsed());
    env.environment().apiserver().resume();
}

async fn way(env: &Env) -> (Disturbed, Client) {
    let way = env.environment().disturbed(Identity::Admin).await.unwrap();
    let kubeconfig = Kubeconfig::read_from(&way.kubeconfig).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    (way, config.try_into().unwrap())
}

#[kubewright_testenv::test]
async fn a_leader_that_is_cut_off_stops_before_a_standby_leads(env: Env) {
    let (way, client) = way(&env).await;
    let one = Candidate::start(client, env.namespace(), "one");
    one.until_leading().await;
    let two = candidate(&env, "two");
    sleep(TIMING.lease_duration).await;
    way.proxy.cut();
    while one.leadership.is_leading() {
        assert!(!two.leadership.is_leading(), "both lead");
        sleep(Duration::from_millis(1)).await;
    }
    let error = one.task.await.unwrap().unwrap_err();
    let expected = |loss: &Loss| matches!(loss, Loss::NotRenewed { source: Some(_), .. });
    assert!(matches!(&error, LeaseError::Lost { reason, .. } if expected(reason)), "{error:?}");
    way.proxy.heal();
    two.until_leading().await;
    assert_eq!(record(&env).await.lease_transitions, Some(1));
    two.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn a_slow_server_costs_writing_time_but_not_the_lease(env: Env) {
    let (way, client) = way(&env).await;
    let delay = Duration::from_millis(500);
    way.proxy.delay(delay);
    let one = Candidate::start(client, env.namespace(), "one");
    one.until_leading().await;
    let limit = one.leadership.may_write().unwrap();
    assert!(limit + delay <= TIMING.lease_duration, "{limit:?}");
    for _ in 0..300 {
        assert!(one.leadership.is_leading());
        sleep(Duration::from_millis(10)).await;
    }
    one.stop().await.unwrap();
}

/// The claim arrives after the candidate has given up waiting for the answer.
#[kubewright_testenv::test]
async fn a_claim_whose_answer_was_lost_is_known_as_our_own(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    let mut claimed = Election::new(
        env.client(),
        env.namespace().to_owned(),
        NAME.to_owned(),
        "two".to_owned(),
        TIMING,
    );
    one.stop().await.unwrap();
    let seen = claimed.leases.read(TIMING.renew_deadline).await.unwrap();
    let claim = record::taken(seen.unwrap(), "two", &TIMING);
    claimed.leases.write(&claim, TIMING.renew_deadline).await.unwrap();
    claimed.role = Role::Claimed;
    assert!(matches!(claimed.attempt().await, Ok(Attempt::Held { .. })));
    assert_eq!(record(&env).await.lease_transitions, Some(1));
}

#[kubewright_testenv::test]
async fn a_lease_that_is_deleted_by_hand_is_written_again_by_its_leader(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    let two = candidate(&env, "two");
    sleep(TIMING.lease_duration).await;
    for _ in 0..3 {
        env.api::<Lease>().delete(NAME, &DeleteParams::default()).await.unwrap();
        env.eventually("the lease is there again", async || {
            let lease = env.api::<Lease>().get_opt(NAME).await.unwrap();
            lease.map(drop).ok_or_else(|| "none".to_owned())
        })
        .await;
        assert!(one.leadership.is_leading() && !two.leadership.is_leading());
        assert_eq!(record(&env).await.holder_identity.as_deref(), Some("one"));
        sleep(TIMING.renew_every).await;
    }
    one.stop().await.unwrap();
    two.until_leading().await;
    two.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn a_leader_ends_when_the_record_names_another_and_a_standby_takes_over_later(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    let two = candidate(&env, "two");
    sleep(TIMING.lease_duration).await;
    edit(&env, json!({"spec": {"holderIdentity": "\u{1F980} nobody knows"}})).await;
    let edited = Instant::now();
    one.leadership.until_lost().await;
    assert!(edited.elapsed() < TIMING.renew_deadline, "{:?}", edited.elapsed());
    assert_eq!(one.leadership.may_write(), None);
    assert_eq!(holder_of(one.task.await.unwrap()), "\u{1F980} nobody knows");
    two.until_leading().await;
    assert!(edited.elapsed() >= TIMING.lease_duration, "{:?}", edited.elapsed());
    two.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn a_standby_whose_name_is_written_by_hand_waits_for_the_leader_to_notice(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    let two = candidate(&env, "two");
    sleep(TIMING.lease_duration).await;
    edit(&env, json!({"spec": {"holderIdentity": "two"}})).await;
    while one.leadership.is_leading() {
        assert!(!two.leadership.is_leading(), "both lead");
        sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(holder_of(one.task.await.unwrap()), "two");
    two.until_leading().await;
    two.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn a_leader_keeps_a_lease_whose_fields_were_removed_by_hand(env: Env) {
    let one = candidate(&env, "one");
    one.until_leading().await;
    let two = candidate(&env, "two");
    sleep(TIMING.lease_duration).await;
    edit(&env, json!({"spec": null})).await;
    sleep(WRITTEN).await;
    assert!(one.leadership.is_leading() && !two.leadership.is_leading());
    let record = record(&env).await;
    assert_eq!(record.holder_identity.as_deref(), Some("one"));
    assert!(record.acquire_time.is_some() && record.renew_time.is_some());
    one.stop().await.unwrap();
    two.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn a_lease_without_a_record_is_taken_after_it_was_watched_for_a_while(env: Env) {
    env.create(Lease { metadata: record::created(NAME, "", &TIMING).metadata, spec: None }).await;
    let begun = Instant::now();
    let one = candidate(&env, "one");
    one.until_leading().await;
    assert!(begun.elapsed() >= TIMING.lease_duration, "{:?}", begun.elapsed());
    one.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn without_the_right_to_the_lease_a_candidate_goes_on_asking_and_is_not_alive(env: Env) {
    let identity = Identity::User { name: "stranger", groups: &[] };
    let client = env.environment().client_as(identity).await.unwrap();
    let stranger = Candidate::start(client, env.namespace(), "stranger");
    sleep(TIMING.lease_duration + TIMING.renew_deadline + TIMING.retry_every).await;
    assert!(!stranger.leadership.is_alive() && !stranger.leadership.is_leading());
    assert!(!stranger.task.is_finished());
    stranger.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn a_renewal_is_one_request_of_the_leader_and_one_of_a_standby(env: Env) {
    let (leader, standby) = ("frugal-leader", "frugal-standby");
    let client = async |name| {
        let identity = Identity::User { name, groups: &["system:masters"] };
        env.environment().client_as(identity).await.unwrap()
    };
    let one = Candidate::start(client(leader).await, env.namespace(), leader);
    one.until_leading().await;
    let two = Candidate::start(client(standby).await, env.namespace(), standby);
    let from = crate::clock::Clock::system().now_micro();
    sleep(Duration::from_secs(5)).await;
    let to = crate::clock::Clock::system().now_micro();
    let verbs = |user: &str| -> Vec<String> {
        let records = env.environment().audit().unwrap().into_iter();
        let in_time = records.filter(|one| one.user == user && one.namespace == env.namespace());
        in_time.filter(|one| one.received > from && one.received < to).map(|one| one.verb).collect()
    };
    let (of_leader, of_standby) = (verbs(leader), verbs(standby));
    assert!(of_leader.iter().all(|verb| verb == "update"), "{of_leader:?}");
    assert!((6..=9).contains(&of_leader.len()), "{of_leader:?}");
    let looks = of_standby.iter().filter(|verb| *verb == "get").count();
    assert!((6..=11).contains(&looks), "{of_standby:?}");
    assert_eq!(of_standby.len() - looks, 1, "one watch: {of_standby:?}");
    one.stop().await.unwrap();
    two.stop().await.unwrap();
}

#[kubewright_testenv::test]
async fn two_never_lead_at_once_however_they_end(env: Env) {
    let mut candidates = [candidate(&env, "a0"), candidate(&env, "b0")];
    // A crashed candidate's leadership is still asked: its writes may still be under way.
    let mut leaderships: Vec<_> = candidates.iter().map(|one| one.leadership.clone()).collect();
    let (mut terms, begun) = (0, Instant::now());
    while begun.elapsed() < Duration::from_secs(15) {
        let leading = leaderships.iter().filter(|one| one.is_leading()).count();
        assert!(leading <= 1, "{leading} lead at once in term {terms}");
        let Some(index) = candidates.iter().position(|one| one.leadership.is_leading()) else {
            sleep(Duration::from_millis(1)).await;
            continue;
        };
        sleep(TIMING.retry_every).await;
        terms += 1;
        let next = candidate(&env, &format!("c{terms}"));
        leaderships.push(next.leadership.clone());
        let ended = std::mem::replace(&mut candidates[index], next);
        if terms % 2 == 0 { ended.crash().await } else { ended.stop().await.unwrap() }
    }
    assert!(terms >= 4, "only {terms} terms");
    for one in candidates {
        one.stop().await.unwrap();
    }
}
