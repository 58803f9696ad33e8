//! Which plots there are: convergence and memory over time, latencies, and cost against the number of
//! objects, each of everybody in one picture. How they are drawn is `plot`'s.

use std::collections::BTreeSet;

use super::figure::{count, figure};
use super::measured::{Measured, number, profiles};
use super::plot::axis::Scale::{Linear, Logarithmic};
use super::plot::{Line, Look, Plot};
use super::summary::{Rounds, median};
use super::words;
use crate::results::{Case, Profile, Results, Series, Subject};

/// A plot as a file.
pub struct Drawn {
    /// The name of the file.
    pub file: String,
    /// What it shows, for those who do not see it.
    pub title: String,
    /// With what etcd did.
    pub profile: Profile,
    /// The phase that it belongs to.
    pub phase: String,
    /// The picture.
    pub svg: String,
}

/// Ours last, so that it is drawn over the others.
const SUBJECTS: [Subject; 5] =
    [Subject::NullWriter, Subject::IdealReactor, Subject::GoStock, Subject::GoTuned, Subject::Ours];

/// All for which there are figures.
pub fn plots(results: &Results) -> Vec<Drawn> {
    let keys: BTreeSet<_> = results
        .series
        .iter()
        .map(|it| (it.case.profile, it.phase.as_str(), it.metric.as_str(), it.case.objects))
        .collect();
    let curves = keys.into_iter().filter_map(|key| curve(results, key));
    let costs = profiles(results).into_iter().flat_map(|profile| {
        let measured = Measured::new(results, profile);
        [("seconds", "time"), ("cpu_seconds", "computing-time")]
            .into_iter()
            .filter_map(move |(metric, name)| cost(measured, metric, name))
    });
    curves.chain(costs).collect()
}

type Key<'a> = (Profile, &'a str, &'a str, usize);

/// What is said of a curve beside its name: which figure, how it is called, its unit.
type Beside = (&'static str, &'static str, &'static str);

fn curve(results: &Results, key: Key) -> Option<Drawn> {
    let (profile, phase, metric, objects) = key;
    let many = format!("{} objects", count(objects));
    let seconds = || ("seconds since the operator was started".to_owned(), Linear);
    let beside: Beside;
    let (name, title, x, y) = match metric {
        "converged" => {
            beside = ("seconds", "time until all converged", "s");
            ("convergence", format!("Convergence of {many}"), seconds(), "objects converged")
        }
        "rss_mib" => {
            beside = ("peak_rss_mib", "peak", "MiB");
            ("memory", format!("Memory with {many}"), seconds(), "RSS, MiB")
        }
        "latency_ms" => {
            beside = ("p50_ms", "p50", "ms");
            let x = ("milliseconds (logarithmic)".to_owned(), Logarithmic);
            ("latency", words::phase(phase).to_owned(), x, "% that took no longer")
        }
        _ => return None,
    };
    let file = match (name, phase) {
        ("convergence" | "memory", "backlog") => name.to_owned(),
        _ => format!("{name}-{phase}"),
    };
    let mut subtitle = format!(
        "{}; {} beside the name; median round, others pale",
        words::profile(profile),
        beside.1
    );
    if metric == "latency_ms" {
        subtitle = format!("{many}, {subtitle}");
    }
    let svg = Plot {
        title: title.clone(),
        subtitle,
        x,
        y: (y.to_owned(), Linear),
        lines: lines(results, key, beside),
        marked: false,
    }
    .svg();
    let file = format!("{file}-{}-{objects}.svg", words::profile_file(profile));
    Some(Drawn { file, title, profile, phase: phase.to_owned(), svg })
}

/// Of everybody the median round, with a name, over the others.
fn lines(results: &Results, key: Key, (figure_of, _, unit): Beside) -> Vec<Line> {
    let (profile, phase, metric, objects) = key;
    let measured = Measured::new(results, profile);
    let named = |name: &str, rounds: &Rounds| match median(rounds) {
        Some(value) => format!("{name} {} {unit}", figure(value)),
        None => name.to_owned(),
    };
    let mut lines = Vec::new();
    if metric == "converged" {
        let least = measured.least_seconds(objects);
        lines.extend(median(&least).map(|seconds| Line {
            look: Look::Limit,
            name: Some(named("limit", &least)),
            points: vec![(0.0, 0.0), (seconds, number(objects))],
        }));
    }
    for subject in SUBJECTS {
        let case = Case { profile, objects, subject };
        let of = |it: &&Series| it.case == case && it.phase == phase && it.metric == metric;
        let mut rounds: Vec<_> =
            results.series.iter().filter(of).map(|series| points(series, metric)).collect();
        // Curves of the same shape are as far along as their middles.
        rounds.sort_by(|one, other| middle(one).total_cmp(&middle(other)));
        if rounds.is_empty() {
            continue;
        }
        let middle = rounds.remove(rounds.len() / 2);
        let look = look(subject);
        lines.extend(rounds.into_iter().map(|points| Line { look, name: None, points }));
        let figures = measured.rounds(subject, objects, phase, figure_of);
        let name = Some(named(words::subject(subject), &figures));
        lines.push(Line { look, name, points: middle });
    }
    lines
}

/// Latencies are recorded as percentile and milliseconds, and drawn the other way round.
fn points(series: &Series, metric: &str) -> Vec<(f64, f64)> {
    let swapped = metric == "latency_ms";
    series.points.iter().map(|&(x, y)| if swapped { (y, x) } else { (x, y) }).collect()
}

fn middle(points: &[(f64, f64)]) -> f64 {
    points.get(points.len() / 2).map_or(0.0, |point| point.0)
}

/// Medians against the number of objects; nothing if there is only one number.
fn cost(measured: Measured, metric: &str, name: &str) -> Option<Drawn> {
    let all = measured.objects("backlog", metric);
    let line = |look, name: &str, of: &dyn Fn(usize) -> Option<f64>| {
        let points: Vec<_> =
            all.iter().filter_map(|objects| Some((number(*objects), of(*objects)?))).collect();
        (!points.is_empty()).then(|| Line { look, name: Some(name.to_owned()), points })
    };
    let of = |subject| {
        let value = |objects| median(&measured.rounds(subject, objects, "backlog", metric));
        line(look(subject), words::subject(subject), &value)
    };
    let least = |objects| median(&measured.least_seconds(objects)).filter(|_| metric == "seconds");
    let limit = line(Look::Limit, "limit", &least);
    let lines = limit.into_iter().chain(SUBJECTS.into_iter().filter_map(of)).collect();
    let profile = measured.profile();
    let what = words::metric(metric).trim_end_matches(", s");
    let title = format!("Cost against the number of objects: {what}");
    let plot = Plot {
        title: title.clone(),
        subtitle: format!("medians, {}", words::profile(profile)),
        x: ("objects (logarithmic)".to_owned(), Logarithmic),
        y: (format!("{what} until all converged, s (logarithmic)"), Logarithmic),
        lines,
        marked: true,
    };
    (all.len() > 1).then(|| Drawn {
        file: format!("cost-{name}-{}.svg", words::profile_file(profile)),
        title,
        profile,
        phase: "backlog".to_owned(),
        svg: plot.svg(),
    })
}

fn look(subject: Subject) -> Look {
    match subject {
        Subject::Ours => Look::Ours,
        Subject::GoStock => Look::GoStock,
        Subject::GoTuned => Look::GoTuned,
        Subject::NullWriter | Subject::IdealReactor => Look::Limit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made_up::MadeUp;

    #[test]
    fn there_is_a_plot_for_what_was_measured_and_for_nothing_else() {
        let made_up = MadeUp::default()
            .curve(Subject::Ours, "backlog", "converged", &[(0.0, 0.0), (5.0, 1000.0)])
            .curve(Subject::Ours, "drift", "latency_ms", &[(50.0, 4.0), (99.0, 9.0)])
            .curve(Subject::Ours, "backlog", "unknown", &[(0.0, 0.0)])
            .add(Subject::Ours, 100, "backlog", "seconds", &[0.5])
            .add(Subject::Ours, 1000, "backlog", "seconds", &[5.0])
            .add(Subject::Ours, 1000, "backlog", "cpu_seconds", &[1.0]);
        let files: Vec<_> = plots(made_up.results()).into_iter().map(|it| it.file).collect();
        let wanted = [
            "convergence-no-fsync-1000.svg",
            "latency-drift-no-fsync-1000.svg",
            "cost-time-no-fsync.svg",
        ];
        assert_eq!(files, wanted);
    }

    #[test]
    fn the_median_round_has_the_name() {
        let made_up = [3.0, 1.0, 2.0].into_iter().fold(MadeUp::default(), |made_up, end| {
            made_up.curve(Subject::Ours, "backlog", "converged", &[(0.0, 0.0), (end, 1000.0)])
        });
        let key = (Profile::NoFsync, "backlog", "converged", 1000);
        let lines = lines(made_up.results(), key, ("seconds", "", "s"));
        let ends: Vec<_> = lines.iter().map(|it| (it.name.is_some(), middle(&it.points))).collect();
        assert_eq!(ends, [(false, 1.0), (false, 3.0), (true, 2.0)]);
    }
}
