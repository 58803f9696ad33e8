//! How phases, figures and subjects are called where people read. What is not listed here is shown under
//! the name that it was recorded with, after everything that is.

use crate::results::{Profile, Subject};

/// What is measured, in the order in which it is shown, and in words.
const PHASES: [(&str, &str); 18] = [
    ("sizes", "Size"),
    ("start", "Cold start"),
    ("backlog", "Backlog: the objects are there, then the operator starts"),
    ("limit", "The limit: the same writes without an operator"),
    ("counted", "What the backlog asks of the API server"),
    ("live-10", "Live creation, 10 a second: until the status is there"),
    ("live-50", "Live creation, 50 a second: until the status is there"),
    ("live-80", "Live creation at 80 % of the limit: until the status is there"),
    ("update", "Update of all objects"),
    ("update-one", "Update of one object"),
    ("drift", "Drift: a child is deleted or edited, until it is repaired"),
    ("drift-loaded", "Drift while objects are being created"),
    ("steady", "At rest"),
    ("resync", "All watches expired (410)"),
    ("restart", "Restart with converged objects"),
    ("failover", "Failover: from the end of the leader to the next repair"),
    ("delete", "Deletion of all objects"),
    ("instructions", "Instructions"),
];

/// Figures in the order in which they are shown. `true`: less is better.
const METRICS: [(&str, &str, bool); 40] = [
    ("binary_mb", "binary, MB", true),
    ("image_mb", "image, MB", true),
    ("first_write_ms", "until the first write, ms", true),
    ("ready_ms", "until ready, ms", true),
    ("seconds", "time, s", true),
    ("cpu_seconds", "computing time, s", true),
    ("cpu_ms_per_minute", "computing time, ms/min", true),
    ("idle_rss_mib", "memory (RSS), MiB", true),
    ("rss_mib", "memory (RSS), MiB", true),
    ("peak_rss_mib", "memory (RSS), peak, MiB", true),
    ("p50_ms", "p50, ms", true),
    ("p99_ms", "p99, ms", true),
    ("max_ms", "longest, ms", true),
    ("killed_ms", "after kill -9, ms", true),
    ("stopped_ms", "after a graceful stop, ms", true),
    ("requests_per_object", "requests per object", true),
    ("writes_per_object", "writes per object", true),
    ("status_writes_per_object", "writes of the status per object", true),
    ("gets_per_object", "reads per object", true),
    ("events_per_object", "events per object", true),
    ("writes_per_change", "writes per change", true),
    ("writes_per_drift", "writes per drift", true),
    ("requests_per_minute", "requests a minute", true),
    ("conflicts", "conflicts (409)", true),
    ("throttled", "throttled (429)", true),
    ("writes", "writes", true),
    ("lists", "lists", true),
    ("list_kinds", "kinds listed", false),
    ("per_pass", "instructions per quiet pass", true),
    ("writes_per_second", "writes a second", false),
    ("concurrency", "at how many at once", false),
    ("watches", "watches", false),
    ("minutes", "over how long, min", false),
    ("verb.get", "get per object", false),
    ("verb.list", "list per object", false),
    ("verb.watch", "watch per object", false),
    ("verb.create", "create per object", false),
    ("verb.update", "update per object", false),
    ("verb.patch", "patch per object", false),
    ("verb.delete", "delete per object", false),
];

/// What a phase is called.
pub fn phase(name: &str) -> &str {
    PHASES.iter().find(|(known, _)| *known == name).map_or(name, |(_, words)| words)
}

/// Where a phase comes.
pub fn phase_place(name: &str) -> (usize, &str) {
    (PHASES.iter().position(|(known, _)| *known == name).unwrap_or(PHASES.len()), name)
}

/// What a figure is called.
pub fn metric(name: &str) -> &str {
    METRICS.iter().find(|(known, ..)| *known == name).map_or(name, |(_, words, _)| words)
}

/// Where a figure comes.
pub fn metric_place(name: &str) -> (usize, &str) {
    (METRICS.iter().position(|(known, ..)| *known == name).unwrap_or(METRICS.len()), name)
}

/// Whether less of it is better; else it is no matter of better or worse.
pub fn less_is_better(name: &str) -> bool {
    METRICS.iter().any(|(known, _, less)| *known == name && *less)
}

/// What a subject is called.
pub fn subject(subject: Subject) -> &'static str {
    match subject {
        Subject::Ours => "ours",
        Subject::GoStock => "Go stock",
        Subject::GoTuned => "Go tuned",
        Subject::NullWriter => "null writer",
        Subject::IdealReactor => "ideal reactor",
    }
}

/// What a profile is called.
pub fn profile(profile: Profile) -> &'static str {
    match profile {
        Profile::Durable => "durable etcd",
        Profile::NoFsync => "etcd without fsync",
    }
}

/// What a profile is called in the name of a file.
pub fn profile_file(profile: Profile) -> &'static str {
    match profile {
        Profile::Durable => "durable",
        Profile::NoFsync => "no-fsync",
    }
}
