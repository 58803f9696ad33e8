use super::*;
use crate::report::made_up::MadeUp;
use crate::results::Subject::NullWriter;

fn lines(made_up: &MadeUp, beginning: &str) -> Vec<String> {
    let bars = must_hold(made_up.results(), Profile::NoFsync);
    let wanted = bars.rows().filter(|[what, _, _, _]| what.starts_with(beginning));
    wanted.map(|[_, measured, bar, verdict]| format!("{measured} | {bar} | {verdict}")).collect()
}

/// A limit of 1,000 writes a second, so 4 s for 1,000 objects.
fn limited() -> MadeUp {
    MadeUp::default().add(NullWriter, 1000, "limit", "writes_per_second", &[1000.0; 3])
}

#[test]
fn a_bar_without_figures_is_neither_held_nor_missed() {
    let bars = must_hold(&Results::default(), Profile::NoFsync);
    assert_eq!(bars.unknown().len(), bars.rows().count());
    assert_eq!(bars.unknown().len(), 20);
    assert!(bars.missed().is_empty() && bars.held().is_empty());
    assert!(
        bars.rows().all(|[_, measured, _, verdict]| (measured, verdict) == ("not measured", ""))
    );
}

#[test]
fn convergence_is_judged_by_the_median_of_the_ratios_of_the_rounds() {
    let made_up = MadeUp::default()
        .add(NullWriter, 1000, "limit", "writes_per_second", &[1000.0, 2000.0, 500.0])
        .add(Ours, 1000, "backlog", "seconds", &[4.8, 2.4, 16.0]);
    assert_eq!(
        lines(&made_up, "T / T_min"),
        ["1.20 × | <= 1.25 × | held", "not measured | <= 1.15 × | "]
    );
}

#[test]
fn where_go_is_near_the_limit_it_is_enough_to_be_near_it_too() {
    let made_up = limited()
        .add(Ours, 1000, "backlog", "seconds", &[5.0; 3])
        .add(GoStock, 1000, "backlog", "seconds", &[40.0; 3])
        .add(GoTuned, 1000, "backlog", "seconds", &[8.0; 3]);
    assert_eq!(
        lines(&made_up, "faster than Go"),
        [
            "8.00 × | >= 5.00 × (of 5.00 and 0.8 · T_Go/T_min = 8.00) | held",
            "1.60 × | >= 1.60 × (of 2.00 and 0.8 · T_Go/T_min = 1.60) | held",
        ]
    );
}

#[test]
fn without_the_limit_the_greater_bar_stands() {
    let made_up = MadeUp::default().add(Ours, 1000, "backlog", "seconds", &[5.0]).add(
        GoTuned,
        1000,
        "backlog",
        "seconds",
        &[8.0],
    );
    let line = "1.60 × | >= 2.00 × (of 2.00 and 0.8 · T_Go/T_min = not measured) | MISSED";
    assert_eq!(lines(&made_up, "faster than Go tuned"), [line]);
}

#[test]
fn memory_is_that_at_rest_and_compared_with_the_leaner_go() {
    let made_up = MadeUp::default()
        .add(Ours, 1000, "backlog", "rss_mib", &[15.0])
        .add(Ours, 1000, "steady", "rss_mib", &[17.0])
        .add(GoStock, 1000, "steady", "rss_mib", &[64.0])
        .add(GoTuned, 1000, "steady", "rss_mib", &[85.0]);
    assert_eq!(
        [
            lines(&made_up, "memory (RSS), 1,000"),
            lines(&made_up, "memory against the leaner Go, 1,000")
        ],
        ["17.00 MiB | <= 16.00 MiB | MISSED", "26.56 % | <= 25.00 % | MISSED"]
            .map(|it| vec![it.to_owned()])
    );
}

#[test]
fn a_single_conflict_in_any_round_is_a_miss() {
    let made_up = MadeUp::default()
        .add(Ours, 100, "counted", "conflicts", &[0.0, 0.0, 1.0])
        .add(Ours, 1000, "counted", "conflicts", &[0.0])
        .add(GoStock, 1000, "counted", "conflicts", &[191.0]);
    assert_eq!(lines(&made_up, "409"), ["1 | = 0 | MISSED"]);
}

#[test]
fn a_rest_of_five_minutes_does_not_count() {
    let rest = |minutes| {
        MadeUp::default()
            .add(Ours, 10_000, "steady", "requests_per_minute", &[13.2])
            .add(Ours, 10_000, "steady", "watches", &[4.0])
            .add(Ours, 10_000, "steady", "minutes", &[minutes])
    };
    let what = "requests per minute";
    let line = "13.20 /min | <= 13.50 /min (12.5 + 0.25 per watch) | held";
    assert_eq!(lines(&rest(10.0), what), [line]);
    let line = "not measured | <= 12.5 + 0.25 per watch, over 10 min | ";
    assert_eq!(lines(&rest(5.0), what), [line]);
}

#[test]
fn a_restart_lists_each_kind_once_in_every_round() {
    let made_up = MadeUp::default()
        .add(Ours, 10_000, "restart", "writes", &[0.0, 0.0])
        .add(Ours, 10_000, "restart", "lists", &[4.0, 5.0])
        .add(Ours, 10_000, "restart", "list_kinds", &[4.0, 4.0]);
    assert_eq!(lines(&made_up, "restart"), ["0 | = 0 | held", "1.25 | = 1 | MISSED"]);
}

#[test]
fn growth_is_per_object_and_drift_against_the_ideal() {
    let made_up = MadeUp::default()
        .add(Ours, 1000, "backlog", "cpu_seconds", &[1.0])
        .add(Ours, 10_000, "backlog", "cpu_seconds", &[12.0])
        .add(Ours, 1000, "drift", "p50_ms", &[6.0])
        .add(IdealReactor, 1000, "drift", "p50_ms", &[5.0]);
    let line = "1.20 × | <= 1.10 × | MISSED";
    assert_eq!(lines(&made_up, "computing time per object"), [line]);
    let drift = lines(&made_up, "drift");
    assert_eq!(drift, ["1.20 × | <= 1.30 × | held", "not measured | <= 2.00 × | "]);
}
