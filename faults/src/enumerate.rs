//! All plans for what was recorded. Pure.

use std::collections::BTreeMap;

use crate::plan::{Fault, Plan, Scenario, Target};

/// What the operator did and heard in a clean run, in order, since the user acted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Labels of writes.
    pub writes: Vec<String>,
    /// Labels of events.
    pub events: Vec<String>,
}

/// Every fault for every write and event that all clean runs have: how often a status is written, for one,
/// is a matter of time.
pub fn plans(scenario: Scenario, recordings: &[Recording]) -> Vec<Plan> {
    let writes: Vec<_> = recordings.iter().map(|recording| &recording.writes[..]).collect();
    let events: Vec<_> = recordings.iter().map(|recording| &recording.events[..]).collect();
    let writes = common(&writes).into_iter().enumerate().flat_map(|(number, (what, nth))| {
        let target = Target::Write { what, nth };
        Fault::OF_WRITES.map(|fault| plan(scenario, number + 1, &target, fault))
    });
    let events = common(&events).into_iter().enumerate().flat_map(|(number, (what, nth))| {
        let target = Target::Event { what, nth };
        Fault::OF_EVENTS.map(|fault| plan(scenario, number + 1, &target, fault))
    });
    writes.chain(events).collect()
}

fn plan(scenario: Scenario, number: usize, target: &Target, fault: Fault) -> Plan {
    Plan { scenario, number, target: target.clone(), fault }
}

/// What occurs in all recordings, in the order of the first, with its occurrence.
fn common(recordings: &[&[String]]) -> Vec<(String, usize)> {
    let counts: Vec<_> = recordings.iter().map(|labels| counted(labels)).collect();
    let mut seen = BTreeMap::new();
    let mut targets = Vec::new();
    for label in recordings.first().copied().unwrap_or_default() {
        let nth: &mut usize = seen.entry(label).or_default();
        *nth += 1;
        if counts.iter().all(|counts| counts.get(label).is_some_and(|count| count >= nth)) {
            targets.push((label.clone(), *nth));
        }
    }
    targets
}

fn counted(labels: &[String]) -> BTreeMap<&String, usize> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(writes: &[&str], events: &[&str]) -> Recording {
        let owned = |labels: &[&str]| labels.iter().map(ToString::to_string).collect();
        Recording { writes: owned(writes), events: owned(events) }
    }

    #[test]
    fn every_fault_meets_every_write_and_event_that_all_runs_have() {
        let one = recording(&["a", "status", "status"], &["e"]);
        let other = recording(&["status", "a"], &["e", "e"]);
        let plans = plans(Scenario::Create, &[one, other]);
        assert_eq!(plans.len(), 2 * Fault::OF_WRITES.len() + Fault::OF_EVENTS.len());
        let ids: std::collections::BTreeSet<_> = plans.iter().map(ToString::to_string).collect();
        assert_eq!(ids.len(), plans.len(), "each has an id of its own");
    }

    #[test]
    fn the_second_of_a_kind_is_a_target_of_its_own() {
        assert_eq!(
            common(&[&["s".to_owned(), "s".to_owned()]]),
            [("s".to_owned(), 1), ("s".to_owned(), 2)]
        );
    }
}
