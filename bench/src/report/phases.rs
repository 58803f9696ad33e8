//! A table for each phase: everything that was measured, of everybody, with the limit beside it. Where ours
//! is not the best, the last column says so.

use std::collections::BTreeSet;

use super::figure::{count, figure};
use super::measured::{Measured, WRITES};
use super::summary::{Rounds, Summary, median, ratios};
use super::table::Table;
use super::words;
use crate::results::Subject::{self, GoStock, GoTuned, IdealReactor, NullWriter, Ours};

const HEADINGS: [&str; 7] =
    ["", "objects", "ours", "Go stock", "Go tuned", "limit", "ours against the better Go"];

/// Those of which there is any figure, in the order in which they are shown.
pub fn phases(measured: Measured<'_>) -> Vec<&str> {
    let names: BTreeSet<_> = measured.samples().map(|sample| sample.phase.as_str()).collect();
    let mut names: Vec<_> = names.into_iter().collect();
    names.sort_by_key(|name| words::phase_place(name));
    names
}

/// All figures of a phase.
pub fn phase(measured: Measured, name: &str) -> Table {
    let of_phase = measured.samples().filter(|sample| sample.phase == name);
    let keys: BTreeSet<_> =
        of_phase.map(|sample| (words::metric_place(&sample.metric), sample.case.objects)).collect();
    let mut table = Table::new(&HEADINGS);
    for ((_, metric), objects) in keys {
        let mut row = vec![words::metric(metric).to_owned(), count(objects)];
        row.extend(figures(measured, objects, name, metric));
        row.push(against_go(measured, objects, name, metric));
        table.rows.push(row);
    }
    table
}

/// Of ours, of both in Go, and of the limit.
pub fn figures(measured: Measured, objects: usize, phase: &str, metric: &str) -> [String; 4] {
    let of = |subject: Subject| measured.rounds(subject, objects, phase, metric);
    let limit = limit(measured, objects, phase, metric);
    [of(Ours), of(GoStock), of(GoTuned), limit].map(|rounds| {
        Summary::of(rounds.into_values()).map_or_else(String::new, |summary| summary.to_string())
    })
}

/// What cannot be bettered: measured, or from what was, or from what an object promises.
fn limit(measured: Measured, objects: usize, phase: &str, metric: &str) -> Rounds {
    for subject in [NullWriter, IdealReactor] {
        let rounds = measured.rounds(subject, objects, phase, metric);
        if !rounds.is_empty() {
            return rounds;
        }
    }
    match (phase, metric) {
        ("backlog", "seconds") => measured.least_seconds(objects),
        ("counted", "requests_per_object" | "writes_per_object") => Rounds::from([(0, WRITES)]),
        _ => Rounds::new(),
    }
}

fn against_go(measured: Measured, objects: usize, phase: &str, metric: &str) -> String {
    let ours = measured.rounds(Ours, objects, phase, metric);
    let go = measured.least_of_go(objects, phase, metric);
    match median(&ratios(&ours, &go)) {
        Some(ratio) if words::less_is_better(metric) => judged(ratio),
        _ => String::new(),
    }
}

/// A difference of less than half a percent is none.
fn judged(ratio: f64) -> String {
    if (ratio - 1.0).abs() < 0.005 {
        "equal".to_owned()
    } else if ratio == 0.0 {
        "better".to_owned()
    } else if ratio.is_infinite() {
        "WORSE".to_owned()
    } else if ratio < 1.0 {
        format!("{} × better", figure(1.0 / ratio))
    } else {
        format!("{} × WORSE", figure(ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made_up::MadeUp;
    use crate::results::Profile;

    #[test]
    fn where_ours_is_not_the_best_the_table_says_so() {
        let made_up = MadeUp::default()
            .add(Ours, 1000, "backlog", "seconds", &[5.0, 6.0, 5.5])
            .add(GoStock, 1000, "backlog", "seconds", &[40.0, 41.0, 42.0])
            .add(GoTuned, 1000, "backlog", "seconds", &[10.0, 12.0, 11.0])
            .add(NullWriter, 1000, "limit", "writes_per_second", &[800.0, 1000.0, 1000.0])
            .add(Ours, 1000, "backlog", "rss_mib", &[60.0])
            .add(GoTuned, 1000, "backlog", "rss_mib", &[40.0])
            .add(Ours, 100, "backlog", "writes", &[0.0])
            .add(GoTuned, 100, "backlog", "writes", &[7.0])
            .add(Ours, 1000, "backlog", "something_else", &[1.5]);
        let measured = Measured::new(made_up.results(), Profile::NoFsync);
        let rows = phase(measured, "backlog").rows;
        let rows: Vec<_> = rows.iter().map(|row| row.join(" | ")).collect();
        assert_eq!(
            rows,
            [
                "time, s | 1,000 | 5.50 (5–6) | 41 (40–42) | 11 (10–12) | 4 (4–5) | 2 × better",
                "memory (RSS), MiB | 1,000 | 60 |  | 40 |  | 1.50 × WORSE",
                "writes | 100 | 0 |  | 7 |  | better",
                "something_else | 1,000 | 1.50 |  |  |  | ",
            ]
        );
    }

    #[test]
    fn phases_come_in_the_order_in_which_they_happen_and_unknown_ones_last() {
        let made_up = MadeUp::default()
            .add(Ours, 0, "another", "p50_ms", &[1.0])
            .add(Ours, 0, "drift", "p50_ms", &[1.0])
            .add(Ours, 0, "start", "ready_ms", &[1.0]);
        let measured = Measured::new(made_up.results(), Profile::NoFsync);
        assert_eq!(phases(measured), ["start", "drift", "another"]);
    }
}
