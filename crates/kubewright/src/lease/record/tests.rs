use serde_json::{Value, json};

use super::*;

const ME: &str = "me";
const LEASE: Duration = Duration::from_secs(15);

fn timing() -> Timing {
    Timing::default()
}

fn spec(value: Value) -> LeaseSpec {
    serde_json::from_value(value).unwrap()
}

fn held_by(holder: &str) -> LeaseSpec {
    let time = "2026-01-02T03:04:05.000006Z";
    spec(json!({
        "holderIdentity": holder, "leaseDurationSeconds": 20, "leaseTransitions": 3,
        "acquireTime": time, "renewTime": time,
    }))
}

fn lease(spec: LeaseSpec) -> Lease {
    let annotations = [("team".to_owned(), "red".to_owned())].into();
    let metadata = ObjectMeta { annotations: Some(annotations), ..ObjectMeta::default() };
    Lease { metadata, spec: Some(spec) }
}

#[test]
fn each_record_leads_to_one_decision_by_role_and_time() {
    use Decision::{Create, Lost, Renew, Take, Wait};
    use Role::{Claimed, Leader, Standby};
    let start = Instant::now();
    let wait = |seconds| Wait(start + Duration::from_secs(seconds));
    let lost = || Lost("other".to_owned());
    let other = || Some(held_by("other"));
    let mine = || Some(held_by(ME));
    let released = || Some(held_by(""));
    let nobody = || Some(spec(json!({})));
    let no_times = || Some(spec(json!({"holderIdentity": "other"})));
    let lasting =
        |seconds| Some(spec(json!({"holderIdentity": "other", "leaseDurationSeconds": seconds})));
    let table = [
        ("none", None, Standby, 0, Create),
        ("deleted while we lead", None, Leader, 0, Create),
        ("another's", other(), Standby, 0, wait(20)),
        ("another's, nearly over", other(), Standby, 19_999, wait(20)),
        ("another's, over", other(), Standby, 20_000, Take),
        ("another's after a claim", other(), Claimed, 0, wait(20)),
        ("another's while we lead", other(), Leader, 0, lost()),
        ("another's while we lead, over", other(), Leader, 99_000, lost()),
        ("ours", mine(), Leader, 0, Renew),
        ("ours by a claim without an answer", mine(), Claimed, 0, Renew),
        ("ours by another's hand", mine(), Standby, 0, wait(20)),
        ("ours by another's hand, over", mine(), Standby, 20_000, Take),
        ("released", released(), Standby, 0, Take),
        ("released after a claim", released(), Claimed, 0, Take),
        ("emptied while we lead", released(), Leader, 0, Renew),
        ("nobody's", nobody(), Standby, 14_999, wait(15)),
        ("nobody's, over", nobody(), Standby, 15_000, Take),
        ("nobody's while we lead", nobody(), Leader, 0, Renew),
        ("no times", no_times(), Standby, 0, wait(15)),
        ("no times, over", no_times(), Standby, 15_000, Take),
        ("no duration", lasting(0), Standby, 0, wait(15)),
        ("no duration, over", lasting(0), Standby, 15_000, Take),
        ("negative duration", lasting(-5), Standby, 0, wait(15)),
    ];
    for (case, record, role, milliseconds, expected) in table {
        let now = start + Duration::from_millis(milliseconds);
        let first = Observation::next(None, record.clone(), start, LEASE);
        let observation = Observation::next(Some(first), record, now, LEASE);
        assert_eq!(decide(&observation, role, ME, now), expected, "{case}");
    }
}

#[test]
fn any_change_of_the_record_starts_the_wait_anew() {
    let start = Instant::now();
    let later = start + Duration::from_secs(19);
    let mut changed = [held_by("other"), held_by("third"), held_by("other")];
    changed[0].renew_time = Some(MicroTime(jiff::Timestamp::UNIX_EPOCH)); // older by the wall clock
    changed[2].lease_transitions = Some(4);
    for record in changed {
        let first = Observation::next(None, Some(held_by("other")), start, LEASE);
        let second = Observation::next(Some(first), Some(record), later, LEASE);
        let expected = Decision::Wait(later + Duration::from_secs(20));
        assert_eq!(decide(&second, Role::Standby, ME, later), expected);
    }
}

#[test]
fn a_lease_that_vanished_is_its_holders_until_it_would_have_run_out() {
    let start = Instant::now();
    let (soon, late) = (start + Duration::from_secs(1), start + Duration::from_secs(20));
    let seen = Observation::next(None, Some(held_by("other")), start, LEASE);
    let gone = Observation::next(Some(seen), None, soon, LEASE);
    let expected = Decision::Wait(start + Duration::from_secs(20));
    assert_eq!(decide(&gone, Role::Standby, ME, soon), expected);
    let still_gone = Observation::next(Some(gone), None, late, LEASE);
    assert_eq!(decide(&still_gone, Role::Standby, ME, late), Decision::Create);
}

#[test]
fn a_released_lease_that_vanished_is_created_at_once() {
    let now = Instant::now();
    let seen = Observation::next(None, Some(held_by("")), now, LEASE);
    let gone = Observation::next(Some(seen), None, now, LEASE);
    assert_eq!(decide(&gone, Role::Standby, ME, now), Decision::Create);
}

#[test]
fn taking_counts_a_transition_and_keeps_what_others_wrote() {
    let taken = taken(lease(held_by("other")), ME, &timing());
    assert_eq!(taken.metadata.annotations.unwrap()["team"], "red");
    let spec = taken.spec.unwrap();
    assert_eq!(spec.holder_identity.as_deref(), Some(ME));
    assert_eq!((spec.lease_transitions, spec.lease_duration_seconds), (Some(4), Some(15)));
    assert!(spec.acquire_time.is_some() && spec.acquire_time == spec.renew_time);
    assert_ne!(spec.renew_time, held_by("other").renew_time);
}

#[test]
fn renewing_changes_nothing_but_the_time() {
    let mut before = held_by(ME);
    before.lease_duration_seconds = Some(15);
    let mut after = renewed(lease(before.clone()), ME, &timing()).spec.unwrap();
    assert_ne!(after.renew_time, before.renew_time);
    after.renew_time.clone_from(&before.renew_time);
    assert_eq!(after, before);
}

#[test]
fn a_new_lease_has_no_transitions() {
    let lease = created("a", ME, &timing());
    let spec = lease.spec.unwrap();
    assert_eq!((lease.metadata.name.as_deref(), spec.lease_transitions), (Some("a"), Some(0)));
    assert_eq!(spec.acquire_time, spec.renew_time);
}

#[test]
fn a_released_lease_names_nobody_and_is_short() {
    let spec = released(lease(held_by(ME))).spec.unwrap();
    assert_eq!(spec.holder_identity.as_deref(), Some(""));
    assert_eq!((spec.lease_transitions, spec.lease_duration_seconds), (Some(3), Some(1)));
    assert_ne!(spec.renew_time, held_by(ME).renew_time);
}

#[test]
fn a_duration_is_written_in_whole_seconds_rounded_up() {
    for (milliseconds, seconds) in [(1_000, 1), (1_001, 2), (1_500, 2), (15_000, 15), (10, 1)] {
        assert_eq!(whole_seconds(Duration::from_millis(milliseconds)), seconds);
    }
}

#[test]
fn times_have_six_digits_as_other_candidates_write_them() {
    let lease = renewed(Lease::default(), ME, &timing());
    let text = serde_json::to_value(&lease).unwrap()["spec"]["renewTime"].clone();
    let text = text.as_str().unwrap();
    assert!(text.len() == "2026-01-02T03:04:05.000006Z".len() && text.ends_with('Z'), "{text}");
}
