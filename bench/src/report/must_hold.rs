//! What must hold of ours: each bar computed from the figures of one profile. A ratio is taken within each
//! round, and the median of the rounds is judged; what may never happen is judged by the worst round. A bar
//! without its figures is not passed, it says so.

use super::figure::{count, figure};
use super::measured::{Measured, number};
use super::summary::{Rounds, median, most, ratios};
use crate::bars::Bars;
use crate::results::Subject::{GoStock, GoTuned, IdealReactor, Ours};
use crate::results::{Profile, Results, Subject};

/// Objects, and how much longer than the least time they may take.
const CONVERGE: [(usize, f64); 2] = [(1000, 1.25), (10_000, 1.15)];
/// How much faster than Go, and the part of what is possible that is enough.
const FASTER: [(Subject, &str, f64); 2] = [(GoStock, "stock", 5.0), (GoTuned, "tuned", 2.0)];
const OF_THE_POSSIBLE: f64 = 0.8;
/// Computing time and memory, in percent of Go's.
const OF_GO: f64 = 25.0;
/// Objects, and the memory that they may take, in MiB.
const MEMORY: [(usize, f64); 3] = [(0, 10.0), (1000, 16.0), (10_000, 44.0)];
/// Requests a minute at rest, and more for each watch; over how many minutes.
const REST: (f64, f64, f64) = (12.5, 0.25, 10.0);
/// Against the ideal reactor.
const DRIFT: [(&str, &str, f64); 2] = [("p50_ms", "p50", 1.3), ("p99_ms", "p99", 2.0)];
/// Milliseconds.
const START: f64 = 100.0;
/// Ten times the objects may cost this much more each.
const GROWTH: f64 = 1.1;
const FEW: usize = 1000;
const MANY: usize = 10_000;

/// The bars, in the order in which they were set.
pub fn must_hold(results: &Results, profile: Profile) -> Bars {
    let measured = Measured::new(results, profile);
    let mut bars = Bars::default();
    converge(measured, &mut bars);
    faster(measured, &mut bars);
    let ours = measured.rounds(Ours, FEW, "backlog", "cpu_seconds");
    let go = measured.rounds(GoTuned, FEW, "backlog", "cpu_seconds");
    let what = format!("computing time against Go tuned, {} objects", count(FEW));
    at_most(&mut bars, what, percent(median(&ratios(&ours, &go))), OF_GO, "%");
    memory(measured, &mut bars);
    conflicts(measured, &mut bars);
    rest(measured, &mut bars);
    drift(measured, &mut bars);
    let start = measured.rounds(Ours, 0, "start", "first_write_ms");
    at_most(&mut bars, "cold start to first reconcile, no objects", median(&start), START, "ms");
    restart(measured, &mut bars);
    growth(measured, &mut bars);
    bars
}

fn converge(measured: Measured, bars: &mut Bars) {
    for (objects, limit) in CONVERGE {
        let ours = measured.rounds(Ours, objects, "backlog", "seconds");
        let score = median(&ratios(&ours, &measured.least_seconds(objects)));
        at_most(bars, format!("T / T_min, {} objects", count(objects)), score, limit, "×");
    }
}

/// Where Go is so near the limit that nobody can be so much faster, it is enough to be near it too.
fn faster(measured: Measured, bars: &mut Bars) {
    let ours = measured.rounds(Ours, FEW, "backlog", "seconds");
    for (subject, name, wanted) in FASTER {
        let what = format!("faster than Go {name}, {} objects", count(FEW));
        let go = measured.rounds(subject, FEW, "backlog", "seconds");
        let possible = median(&ratios(&go, &measured.least_seconds(FEW)));
        let possible = possible.map(|possible| OF_THE_POSSIBLE * possible);
        let limit = possible.map_or(wanted, |possible| wanted.min(possible));
        let both = possible.map_or_else(|| "not measured".to_owned(), |it| format!("{it:.2}"));
        let bar = format!(">= {limit:.2} × (of {wanted:.2} and 0.8 · T_Go/T_min = {both})");
        match median(&ratios(&go, &ours)) {
            Some(times) => bars.judged(what, format!("{times:.2} ×"), bar, times >= limit),
            None => bars.not_measured(what, bar),
        }
    }
}

/// At rest where that was measured, because Go gives memory back then; else after the backlog.
fn memory(measured: Measured, bars: &mut Bars) {
    for (objects, limit) in MEMORY {
        let places = [("start", "idle_rss_mib"), ("steady", "rss_mib"), ("backlog", "rss_mib")];
        let of = |(phase, metric)| {
            let ours = measured.rounds(Ours, objects, phase, metric);
            let go = measured.least_of_go(objects, phase, metric);
            let part = percent(median(&ratios(&ours, &go)));
            median(&ours).map(|ours| (ours, part))
        };
        let figures: Vec<_> = places.into_iter().filter_map(of).collect();
        let ours = figures.first().map(|(ours, _)| *ours);
        let part = figures.iter().find_map(|(_, part)| *part);
        let objects = count(objects);
        at_most(bars, format!("memory (RSS), {objects} objects"), ours, limit, "MiB");
        at_most(bars, format!("memory against the leaner Go, {objects} objects"), part, OF_GO, "%");
    }
}

fn conflicts(measured: Measured, bars: &mut Bars) {
    let counts = measured
        .samples()
        .filter(|sample| sample.case.subject == Ours && sample.metric == "conflicts");
    let all = counts.enumerate().map(|(place, sample)| (place, sample.value)).collect();
    exactly(bars, "409 responses".to_owned(), most(&all), 0.0);
}

fn rest(measured: Measured, bars: &mut Bars) {
    let (base, each, wanted) = REST;
    let of = |metric| measured.rounds(Ours, MANY, "steady", metric);
    let what = format!("requests per minute at rest, {} objects", count(MANY));
    let bar = format!("<= {base} + {each} per watch, over {wanted} min");
    let (rate, watches) = (median(&of("requests_per_minute")), median(&of("watches")));
    // A rest is never a millisecond short of a minute, but its figure may be.
    let long_enough = median(&of("minutes")).is_some_and(|minutes| minutes > wanted - 0.1);
    match (rate, watches) {
        (Some(rate), Some(watches)) if long_enough => {
            let limit = base + each * watches;
            let bar = format!("<= {limit:.2} /min ({base} + {each} per watch)");
            bars.judged(what, format!("{rate:.2} /min"), bar, rate <= limit);
        }
        _ => bars.not_measured(what, bar),
    }
}

fn drift(measured: Measured, bars: &mut Bars) {
    for (metric, name, limit) in DRIFT {
        let ratio = |objects| {
            let ideal = measured.rounds(IdealReactor, objects, "drift", metric);
            median(&ratios(&measured.rounds(Ours, objects, "drift", metric), &ideal))
        };
        let what = format!("drift repair / ideal reactor, {name}");
        let found: Vec<_> = measured
            .objects("drift", metric)
            .into_iter()
            .filter_map(|objects| Some((objects, ratio(objects)?)))
            .collect();
        for (objects, ratio) in &found {
            let what = format!("{what}, {} objects", count(*objects));
            at_most(bars, what, Some(*ratio), limit, "×");
        }
        if found.is_empty() {
            at_most(bars, what, None, limit, "×");
        }
    }
}

fn restart(measured: Measured, bars: &mut Bars) {
    let of = |metric| measured.rounds(Ours, MANY, "restart", metric);
    let objects = count(MANY);
    exactly(bars, format!("restart: writes, {objects} objects"), most(&of("writes")), 0.0);
    let lists = most(&ratios(&of("lists"), &of("list_kinds")));
    exactly(bars, format!("restart: lists per kind, {objects} objects"), lists, 1.0);
}

fn growth(measured: Measured, bars: &mut Bars) {
    for (metric, name) in [("seconds", "time"), ("cpu_seconds", "computing time")] {
        let each = |objects| -> Rounds {
            let all = measured.rounds(Ours, objects, "backlog", metric);
            all.into_iter().map(|(round, value)| (round, value / number(objects))).collect()
        };
        let what = format!("{name} per object, {} / {}", count(MANY), count(FEW));
        at_most(bars, what, median(&ratios(&each(MANY), &each(FEW))), GROWTH, "×");
    }
}

fn percent(ratio: Option<f64>) -> Option<f64> {
    ratio.map(|ratio| 100.0 * ratio)
}

fn at_most(
    bars: &mut Bars,
    what: impl Into<String>,
    measured: Option<f64>,
    limit: f64,
    unit: &str,
) {
    match measured {
        Some(measured) => bars.at_most(what, measured, limit, unit),
        None => bars.not_measured(what, format!("<= {limit:.2} {unit}")),
    }
}

fn exactly(bars: &mut Bars, what: String, measured: Option<f64>, wanted: f64) {
    let bar = format!("= {wanted}");
    match measured {
        // An average of counts may be 0.001, which is not 0.
        Some(it) => bars.judged(what, figure(it), bar, it.total_cmp(&wanted).is_eq()),
        None => bars.not_measured(what, bar),
    }
}

#[cfg(test)]
mod tests;
