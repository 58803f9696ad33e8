//! Tables of events over time, and what becomes of each.

use super::*;
use crate::events::reference;

fn key(uid: &str, note: &str) -> Arc<Key> {
    Arc::new(Key::of(&Event {
        type_: EventType::Warning,
        reason: "Failed".into(),
        action: "Apply".into(),
        note: note.to_owned(),
        regarding: reference("v1", "ConfigMap", Some("a"), "b", uid),
    }))
}

/// An aggregator under a clock that only the test moves.
struct Bench {
    aggregator: Aggregator,
    start: Instant,
    second: u64,
}

impl Bench {
    fn new() -> Self {
        Self { aggregator: Aggregator::new(), start: Instant::now(), second: 0 }
    }

    fn now(&self) -> Instant {
        self.start + Duration::from_secs(self.second)
    }

    fn time(&self) -> Timestamp {
        Timestamp::from_second(i64::try_from(self.second).unwrap()).unwrap()
    }

    fn observe(&mut self, key: &Arc<Key>) -> Decision {
        self.aggregator.observe(key, self.now(), self.time())
    }

    fn created(&mut self, key: &Arc<Key>) {
        let place = Place { namespace: "a".to_owned(), name: key.note.clone() };
        self.aggregator.created(key, place);
    }

    fn due(&mut self) -> Vec<u64> {
        self.updates().into_iter().map(|update| update.count).collect()
    }

    fn updates(&mut self) -> Vec<Update> {
        self.aggregator.due(self.now(), Duration::from_mins(1))
    }

    /// Takes and sends what is due.
    fn sent(&mut self) -> Vec<u64> {
        let updates = self.updates();
        for update in &updates {
            self.aggregator.sent(update);
        }
        updates.into_iter().map(|update| update.count).collect()
    }
}

#[test]
fn equal_events_are_one_series_until_it_is_silent_for_six_minutes() {
    let mut bench = Bench::new();
    let one = key("u", "n");
    let table = [
        (0, Decision::Create),
        (0, Decision::Bump),
        (359, Decision::Bump),
        (359 + 359, Decision::Bump),
        (359 + 359 + 360, Decision::Create),
        (359 + 359 + 361, Decision::Bump),
    ];
    for (second, expected) in table {
        bench.second = second;
        assert_eq!(bench.observe(&one), expected, "after {second} s");
    }
}

#[test]
fn events_that_differ_in_anything_are_different_series() {
    let event = Event {
        type_: EventType::Normal,
        reason: "Reason".into(),
        action: "Action".into(),
        note: "note".to_owned(),
        regarding: reference("v1", "ConfigMap", Some("a"), "b", ""),
    };
    let differing: [fn(&mut Event); 9] = [
        |_| {},
        |event| event.type_ = EventType::Warning,
        |event| event.reason = "Other".into(),
        |event| event.action = "Other".into(),
        |event| event.note = "other".to_owned(),
        |event| event.regarding.uid = Some("other".to_owned()),
        |event| event.regarding.kind = Some("other".to_owned()),
        |event| event.regarding.namespace = None,
        |event| event.regarding.name = Some("other".to_owned()),
    ];
    let mut bench = Bench::new();
    for change in differing {
        let mut event = event.clone();
        change(&mut event);
        let key = Arc::new(Key::of(&event));
        assert_eq!(bench.observe(&key), Decision::Create, "{event:?}");
        assert_eq!(bench.observe(&key), Decision::Bump, "{event:?}");
    }
}

#[test]
fn new_events_about_one_object_are_limited_to_ten_at_once_and_ten_a_minute() {
    let mut bench = Bench::new();
    let mut number = 0;
    let mut created = |bench: &mut Bench, second: u64| {
        bench.second = second;
        let made = (0..100).filter(|_| {
            number += 1;
            bench.observe(&key("u", &number.to_string())) == Decision::Create
        });
        made.count()
    };
    assert_eq!(created(&mut bench, 0), 10);
    assert_eq!(created(&mut bench, 5), 0);
    assert_eq!(created(&mut bench, 60), 10);
    assert_eq!(created(&mut bench, 90), 5);
    assert_eq!(created(&mut bench, 10_000), 10);
    // Neither another object nor a series that exists is held up.
    assert_eq!(bench.observe(&key("other", "1")), Decision::Create);
    assert_eq!(bench.observe(&key("u", &(401).to_string())), Decision::Bump);
}

#[test]
fn a_count_is_due_once_a_minute_and_only_if_it_has_grown() {
    let mut bench = Bench::new();
    let one = key("u", "n");
    bench.observe(&one);
    bench.observe(&one);
    bench.second = 70;
    assert_eq!(bench.due(), [0; 0], "it is not created yet");
    bench.created(&one);
    assert_eq!(bench.sent(), [2]);
    bench.second = 80;
    bench.observe(&one);
    assert_eq!(bench.due(), [0; 0], "one was sent ten seconds ago");
    bench.second = 130;
    assert_eq!(bench.due(), [3]);
    // It was not sent, for whatever reason.
    bench.second = 189;
    assert_eq!(bench.due(), [0; 0]);
    bench.second = 190;
    bench.observe(&one);
    assert_eq!(bench.sent(), [4]);
    bench.second = 300;
    assert_eq!(bench.due(), [0; 0], "it has not grown");
}

#[test]
fn the_final_count_of_a_series_that_goes_silent_is_sent_before_it_is_forgotten() {
    let mut bench = Bench::new();
    let one = key("u", "n");
    bench.observe(&one);
    bench.created(&one);
    bench.observe(&one);
    bench.second = 1000;
    assert_eq!(bench.due(), [2]);
    bench.second = 2000;
    assert_eq!(bench.due(), [0; 0]);
    assert_eq!(bench.aggregator.unsent(), 0);
}

#[test]
fn a_forgotten_series_tells_what_was_lost_and_begins_anew() {
    let mut bench = Bench::new();
    let (one, other) = (key("u", "n"), key("u", "other"));
    for _ in 0..5 {
        bench.observe(&one);
        bench.observe(&other);
    }
    bench.created(&other);
    assert_eq!(bench.aggregator.unsent(), 5 + 4);
    assert_eq!((bench.aggregator.forget(&one), bench.aggregator.forget(&one)), (5, 0));
    assert_eq!(bench.aggregator.forget(&other), 4);
    assert_eq!(bench.observe(&one), Decision::Create);
}

#[test]
fn a_late_answer_about_a_series_that_has_ended_does_not_count_for_the_next_one() {
    let mut bench = Bench::new();
    let one = key("u", "n");
    for _ in 0..9 {
        bench.observe(&one);
    }
    bench.created(&one);
    bench.second = 60;
    let late = bench.updates().remove(0);
    bench.aggregator.forget(&one);
    bench.observe(&one);
    bench.aggregator.sent(&late);
    assert_eq!(bench.aggregator.unsent(), 1);
}

#[test]
fn what_is_kept_is_limited() {
    let mut bench = Bench::new();
    for number in 0..2 * MAX_SERIES {
        let new = key(&number.to_string(), "n");
        assert_eq!(bench.observe(&new), Decision::Create);
    }
    assert_eq!(bench.aggregator.series.iter_mut().count(), MAX_SERIES);
    assert_eq!(bench.aggregator.buckets.iter_mut().count(), MAX_OBJECTS);
    assert_eq!(bench.observe(&key("0", "n")), Decision::Create, "the oldest was given up");
}
