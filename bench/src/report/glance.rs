//! The figures that are asked for first, in one short table: what the README of the project shows.

use super::figure::count;
use super::measured::{Measured, profiles};
use super::phases;
use super::table::Table;
use super::words;
use crate::results::{Profile, Results};

/// As many objects as it is asked about.
const OBJECTS: usize = 1000;
const ROWS: [(&str, &str, &str); 6] = [
    ("backlog", "seconds", "time to converge, s"),
    ("backlog", "cpu_seconds", "computing time for it, s"),
    ("backlog", "rss_mib", "memory (RSS) then, MiB"),
    ("counted", "requests_per_object", "requests per object"),
    ("drift", "p50_ms", "drift repaired, p50, ms"),
    ("sizes", "image_mb", "image, MB"),
];

/// With which profile, and the figures; nothing if nothing was measured. Without fsync if that was
/// measured: there the operators differ, not the disks.
pub fn glance(results: &Results) -> Option<(Profile, Table)> {
    let profile = profiles(results).into_iter().next_back()?;
    let measured = Measured::new(results, profile);
    let mut table = Table::new(&["", "ours", "Go stock", "Go tuned", "limit"]);
    for (phase, metric, name) in ROWS {
        let all = measured.objects(phase, metric);
        // As many as wanted, else the next fewer, else what there is.
        let nearest = all.range(..=OBJECTS).next_back().or(all.first());
        let Some(&objects) = nearest else { continue };
        let name = if objects == 0 {
            name.to_owned()
        } else {
            format!("{name} ({} objects)", count(objects))
        };
        let figures = phases::figures(measured, objects, phase, metric);
        table.rows.push([name].into_iter().chain(figures).collect());
    }
    Some((profile, table))
}

/// What the table is about.
pub fn caption(profile: Profile) -> String {
    format!(
        "Median (least–most) of the rounds, {}. Limit: the null writer's and the ideal reactor's, which do no more than send.",
        words::profile(profile)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::made_up::MadeUp;
    use crate::results::Subject::{GoStock, IdealReactor, Ours};

    #[test]
    fn it_shows_what_there_is_of_a_thousand_objects() {
        let made_up = MadeUp::default()
            .add(Ours, 10_000, "backlog", "seconds", &[50.0])
            .add(Ours, 1000, "backlog", "seconds", &[5.0, 6.0, 5.0])
            .add(GoStock, 1000, "backlog", "seconds", &[40.0])
            .add(Ours, 100, "drift", "p50_ms", &[6.0])
            .add(IdealReactor, 100, "drift", "p50_ms", &[5.0])
            .add(Ours, 0, "sizes", "image_mb", &[9.1]);
        let rows = glance(made_up.results()).map(|(_, table)| table.rows).unwrap_or_default();
        let rows: Vec<_> = rows.iter().map(|row| row.join(" | ")).collect();
        assert_eq!(
            rows,
            [
                "time to converge, s (1,000 objects) | 5 (5–6) | 40 |  | ",
                "drift repaired, p50, ms (100 objects) | 6 |  |  | 5",
                "image, MB | 9.10 |  |  | ",
            ]
        );
        assert!(glance(&Results::default()).is_none());
    }
}
