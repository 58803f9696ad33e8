use futures_util::FutureExt as _;

use super::*;

const TIMING: Timing = Timing {
    lease_duration: Duration::from_millis(1_500),
    renew_deadline: Duration::from_millis(600),
    renew_every: Duration::from_millis(200),
    retry_every: Duration::from_millis(50),
};

fn leadership() -> (Arc<Shared>, Leadership) {
    let shared = Arc::new(Shared::new(TIMING));
    let leadership = Leadership::of(&shared);
    (shared, leadership)
}

/// Blocks the thread, as a stopped process does: no timer fires.
fn stop_the_process(time: Duration) {
    std::thread::sleep(time);
}

#[tokio::test]
async fn without_an_election_we_always_lead() {
    let leadership = Leadership::always();
    leadership.until_leading().await;
    assert_eq!(leadership.may_write(), Some(Duration::MAX));
    assert!(leadership.is_leading() && leadership.is_alive());
    assert!(leadership.until_lost().now_or_never().is_none());
}

#[tokio::test]
async fn a_standby_neither_leads_nor_has_lost() {
    let (_shared, leadership) = leadership();
    assert!(!leadership.is_leading() && leadership.is_alive());
    assert!(leadership.until_leading().now_or_never().is_none());
    assert!(leadership.until_lost().now_or_never().is_none());
}

#[tokio::test]
async fn a_write_may_take_until_the_lease_is_over_counted_from_the_sending_of_the_renewal() {
    let (shared, leadership) = leadership();
    let answered_after = Duration::from_millis(100);
    assert!(shared.renewed(Instant::now() - answered_after, "me"));
    leadership.until_leading().await;
    let limit = leadership.may_write().unwrap();
    assert!(limit + answered_after <= TIMING.lease_duration, "{limit:?}");
    assert!(limit + TIMING.renew_deadline > TIMING.lease_duration, "{limit:?}");
    assert_eq!(leadership.holder().as_deref(), Some("me"));
}

#[tokio::test]
async fn leading_ends_at_the_deadline_though_no_timer_fired() {
    let (shared, leadership) = leadership();
    assert!(shared.renewed(Instant::now(), "me"));
    stop_the_process(TIMING.renew_deadline);
    assert_eq!(leadership.may_write(), None);
    assert!(leadership.until_lost().now_or_never().is_some());
}

#[tokio::test]
async fn who_waits_learns_of_the_deadline_though_the_loop_is_dead() {
    let (shared, leadership) = leadership();
    let sent = Instant::now();
    assert!(shared.renewed(sent, "me"));
    leadership.until_lost().await;
    let waited = sent.elapsed();
    assert!(waited >= TIMING.renew_deadline && waited < TIMING.lease_duration, "{waited:?}");
}

#[tokio::test]
async fn a_renewal_that_is_answered_after_the_deadline_revives_nothing() {
    let (shared, leadership) = leadership();
    assert!(shared.renewed(Instant::now(), "me"));
    stop_the_process(TIMING.renew_deadline);
    assert!(!shared.renewed(Instant::now(), "me"));
    assert_eq!(leadership.may_write(), None);
}

#[tokio::test]
async fn a_lease_that_was_got_too_long_ago_is_not_led_by() {
    let (shared, leadership) = leadership();
    assert!(!shared.renewed(Instant::now() - TIMING.renew_deadline, "me"));
    assert!(!leadership.is_leading());
    assert!(leadership.until_lost().now_or_never().is_none(), "it was never held");
    assert!(shared.renewed(Instant::now(), "me"), "the next attempt counts");
}

#[tokio::test]
async fn a_renewal_moves_the_deadline_for_those_who_wait() {
    let (shared, leadership) = leadership();
    let first = Instant::now();
    assert!(shared.renewed(first, "me"));
    let renewals = async {
        tokio::time::sleep(TIMING.renew_every).await;
        assert!(shared.renewed(Instant::now(), "me"));
    };
    tokio::join!(leadership.until_lost(), renewals);
    assert!(first.elapsed() >= TIMING.renew_deadline + TIMING.renew_every);
}

#[tokio::test]
async fn a_loss_is_told_at_once_and_is_for_ever() {
    let (shared, leadership) = leadership();
    assert!(shared.renewed(Instant::now(), "me"));
    shared.lost();
    leadership.until_lost().now_or_never().unwrap();
    assert!(!shared.renewed(Instant::now(), "me"));
    assert!(!leadership.is_leading());
}

#[tokio::test]
async fn a_lease_that_was_given_back_is_not_lost_but_allows_no_write() {
    let (shared, leadership) = leadership();
    assert!(shared.renewed(Instant::now(), "me"));
    shared.released();
    assert_eq!(leadership.may_write(), None);
    let lost = tokio::time::timeout(TIMING.lease_duration, leadership.until_lost());
    assert!(lost.await.is_err());
}

#[tokio::test]
async fn an_election_that_hears_nothing_for_long_counts_as_dead_until_it_does() {
    let (shared, leadership) = leadership();
    stop_the_process(TIMING.lease_duration + TIMING.renew_deadline + Duration::from_millis(1));
    assert!(!leadership.is_alive());
    shared.completed();
    assert!(leadership.is_alive());
}

#[tokio::test]
async fn the_last_holder_seen_is_remembered_and_told_of_once() {
    let (shared, leadership) = leadership();
    assert!(shared.observed("one"));
    assert!(!shared.observed("one"));
    assert!(shared.observed("two"));
    assert_eq!(leadership.holder().as_deref(), Some("two"));
    assert!(shared.observed(""));
    assert_eq!(leadership.holder(), None);
}
