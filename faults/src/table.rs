//! The list of scenarios: each with the tests and plans that try it, or why it is not tried. Data; a test sees
//! to it that what is named here is there.

/// Where a scenario is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tried {
    /// By a test: its file, and its function.
    Test(&'static str, &'static str),
    /// By all plans with this in their ids.
    Plans(&'static str),
    /// By this phase of `make bench`, which measures it.
    Bench(&'static str),
    /// It is about something that the operator does not have.
    NotApplicable(&'static str),
    /// This part of it is not.
    Missing(&'static str),
}

/// One scenario.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Its id.
    pub id: &'static str,
    /// What happens.
    pub what: &'static str,
    /// Where it is tried.
    pub tried: &'static [Tried],
}

const fn row(id: &'static str, what: &'static str, tried: &'static [Tried]) -> Row {
    Row { id, what, tried }
}

macro_rules! it {
    ($file:literal, $name:literal) => {
        Test(concat!("crates/kubewright/tests/it/", $file, ".rs"), $name)
    };
}
macro_rules! own {
    ($file:literal, $name:literal) => {
        Test(concat!("faults/tests/it/", $file, ".rs"), $name)
    };
}
macro_rules! e2e {
    ($file:literal, $name:literal) => {
        Test(concat!("e2e/tests/it/", $file, ".rs"), $name)
    };
}
macro_rules! long {
    ($file:literal, $name:literal) => {
        Test(concat!("faults/src/bin/long/", $file, ".rs"), $name)
    };
}
macro_rules! admission {
    ($name:literal) => {
        Test("crates/memcached-operator/tests/it/admission.rs", $name)
    };
}

mod cluster;
mod inputs;
mod load;
mod objects;

/// All of them.
pub fn rows() -> impl Iterator<Item = &'static Row> {
    [cluster::ROWS, objects::ROWS, inputs::ROWS, load::ROWS].into_iter().flatten()
}

impl Row {
    /// The row as a line.
    pub fn line(&self) -> String {
        let tried: Vec<_> = self.tried.iter().map(|tried| tried.words()).collect();
        format!("{:4} {}: {}", self.id, self.what, tried.join(", "))
    }

    /// Whether there is nothing to try.
    pub fn is_not_applicable(&self) -> bool {
        self.tried.iter().any(|tried| matches!(tried, Tried::NotApplicable(_)))
    }
}

impl Tried {
    /// As it stands in the line.
    pub fn words(self) -> String {
        match self {
            Self::Test(_, name) => name.to_owned(),
            Self::Plans("") => "all plans".to_owned(),
            Self::Plans(part) => format!("plans with {part}"),
            Self::Bench(phase) => format!("make bench, {phase}"),
            Self::NotApplicable(why) => format!("not applicable: {why}"),
            Self::Missing(why) => format!("NOT YET: {why}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;
    use crate::plan::{Fault, Plan, Scenario, Target};

    #[test]
    fn every_test_that_is_named_is_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for row in rows() {
            assert!(!row.tried.is_empty(), "{}", row.id);
            for tried in row.tried {
                let Tried::Test(file, name) = tried else { continue };
                let text = std::fs::read_to_string(root.join(file)).unwrap();
                assert!(text.contains(&format!("fn {name}(")), "{}: {file} has no {name}", row.id);
            }
        }
    }

    #[test]
    fn every_plan_that_is_named_can_be() {
        let target = Target::Write { what: String::new(), nth: 1 };
        let faults = || Fault::OF_WRITES.into_iter().chain(Fault::OF_EVENTS);
        let ids = |scenario| {
            let target = target.clone();
            faults().map(move |fault| {
                Plan { scenario, number: 1, target: target.clone(), fault }.to_string()
            })
        };
        let ids: Vec<_> = Scenario::ALL.into_iter().flat_map(ids).collect();
        for row in rows() {
            for tried in row.tried {
                let Tried::Plans(part) = tried else { continue };
                assert!(ids.iter().any(|id| id.contains(part)), "{}: {part}", row.id);
            }
        }
    }

    #[test]
    fn every_id_is_there_once() {
        let ids: BTreeSet<_> = rows().map(|row| row.id).collect();
        assert_eq!(ids.len(), rows().count());
    }
}
