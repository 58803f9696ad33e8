//! Runs the tests that scenarios name, and says which scenarios held, by their tests and by their plans. What
//! needs real pods, minutes or a benchmark is in other verbs, and is counted apart.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use memcached_faults::report::say;
use memcached_faults::table::{Row, Tried, rows};

use crate::Outcome;

/// Which tests cargo is to run: a package, and its part.
type Target = (&'static str, &'static [&'static str]);

/// By where a test is.
const TARGETS: [(&str, Target); 6] = [
    ("crates/kubewright/tests/it/", ("kubewright", &["--test", "it"])),
    ("crates/kubewright/src/", ("kubewright", &["--lib"])),
    ("crates/memcached-operator/tests/it/", ("memcached-operator", &["--test", "it"])),
    ("crates/memcached-operator/src/", ("memcached-operator", &["--lib"])),
    ("faults/tests/it/", ("memcached-faults", &["--test", "it"])),
    ("faults/src/schema/", ("memcached-faults", &["--lib"])),
];

fn target(file: &str) -> Option<Target> {
    TARGETS.iter().find(|(place, _)| file.starts_with(place)).map(|(_, target)| *target)
}

/// What came of what scenarios name: tests by name, plans by id.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    pub(crate) tests: HashMap<String, bool>,
    /// None where they were not asked for.
    pub(crate) plans: Option<HashMap<String, bool>>,
}

/// Prints the list and runs the tests that are short.
pub(crate) fn tests() -> anyhow::Result<HashMap<String, bool>> {
    let mut wanted: BTreeMap<Target, BTreeSet<&str>> = BTreeMap::new();
    for row in rows() {
        say(&row.line());
        for tried in row.tried {
            if let Tried::Test(file, name) = tried
                && let Some(target) = target(file)
            {
                wanted.entry(target).or_default().insert(name);
            }
        }
    }
    let mut outcomes = HashMap::new();
    for (target, names) in wanted {
        outcomes.extend(run(target, &names)?);
    }
    Ok(outcomes)
}

/// Says which scenarios failed, what of the others was not run here, and sums them up.
pub(crate) fn conclude(outcomes: &Outcomes) -> Outcome {
    let (mut run, mut held, mut elsewhere, mut not_applicable) = (0, 0, Vec::new(), 0);
    let mut in_part = 0;
    for row in rows() {
        if row.is_not_applicable() {
            not_applicable += 1;
            continue;
        }
        let judged = outcomes.of(row);
        if judged.is_empty() {
            elsewhere.push(row.id);
            continue;
        }
        run += 1;
        held += usize::from(judged.iter().all(|(_, held)| *held));
        for (what, _) in judged.iter().filter(|(_, held)| !held) {
            say(&format!("failed: {}: {what}", row.id));
        }
        let unrun = outcomes.not_run(row);
        if !unrun.is_empty() {
            in_part += 1;
            say(&format!("in part: {}: not run here: {}", row.id, unrun.join(", ")));
        }
    }
    let more = format!(
        ", {in_part} of those run in part; {not_applicable} not applicable; in other verbs, or of plans that were not run: {}",
        elsewhere.join(" ")
    );
    Outcome { what: "scenarios", run, held, more }
}

impl Outcomes {
    /// All that was run of a scenario, and whether it held.
    fn of(&self, row: &Row) -> Vec<(String, bool)> {
        row.tried.iter().filter_map(|tried| self.judged(tried)).collect()
    }

    /// What else belongs to a scenario: in other verbs, or not there yet.
    fn not_run(&self, row: &Row) -> Vec<String> {
        let rest = row.tried.iter().filter(|tried| self.judged(tried).is_none());
        rest.map(|tried| tried.words()).collect()
    }

    fn judged(&self, tried: &Tried) -> Option<(String, bool)> {
        match tried {
            Tried::Test(file, name) => {
                target(file)?;
                Some(((*name).to_owned(), self.tests.get(*name) == Some(&true)))
            }
            Tried::Plans(part) => {
                let plans = self.plans.as_ref()?.iter().filter(|(id, _)| id.contains(part));
                let held: Vec<_> = plans.map(|(_, held)| *held).collect();
                let all = !held.is_empty() && held.iter().all(|held| *held);
                Some((format!("plans with {part:?}"), all))
            }
            Tried::Missing(_) | Tried::Bench(_) | Tried::NotApplicable(_) => None,
        }
    }
}

/// Runs tests by name, and says of each whether it passed.
fn run(target: Target, names: &BTreeSet<&str>) -> anyhow::Result<Vec<(String, bool)>> {
    let (package, part) = target;
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["test", "--package", package])
        .args(part)
        .arg("--")
        .args(names)
        .env("KUBEWRIGHT_LONG", "1") // what the quick part leaves out belongs here
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))
        .stdin(Stdio::null())
        .output()
        .context("cargo does not run")?;
    let said = String::from_utf8_lossy(&output.stdout);
    let outcomes: Vec<_> = said.lines().filter_map(outcome).collect();
    if !output.status.success() {
        say(&said);
        say(&String::from_utf8_lossy(&output.stderr));
    }
    Ok(outcomes)
}

/// `test faults::a_test ... ok`
fn outcome(line: &str) -> Option<(String, bool)> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let name = name.rsplit("::").next()?;
    Some((name.to_owned(), outcome.trim() == "ok"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cargo_says_of_a_test_is_understood() {
        let of = |line| outcome(line);
        assert_eq!(of("test a::b::c ... ok"), Some(("c".to_owned(), true)));
        assert_eq!(of("test c ... FAILED"), Some(("c".to_owned(), false)));
        assert_eq!(of("running 3 tests"), None);
        assert_eq!(of("test result: ok. 3 passed; 0 failed"), None);
    }

    #[test]
    fn every_short_test_has_a_target() {
        let elsewhere = ["e2e/", "faults/src/bin/long/"];
        for tried in rows().flat_map(|row| row.tried) {
            let Tried::Test(file, name) = tried else { continue };
            let known = target(file).is_some() || elsewhere.iter().any(|it| file.starts_with(it));
            assert!(known, "{name} in {file}");
        }
    }

    #[test]
    fn a_scenario_holds_when_all_of_its_plans_and_tests_do() {
        let row = rows().find(|row| row.id == "E7").unwrap();
        let test = "a_watch_that_expires_is_listed_again_once_and_nothing_is_deleted".to_owned();
        let holds = |plans: &[(&str, bool)], passed| {
            let plans = plans.iter().map(|(id, held)| ((*id).to_owned(), *held)).collect();
            let outcomes =
                Outcomes { tests: HashMap::from([(test.clone(), passed)]), plans: Some(plans) };
            outcomes.of(row).iter().all(|(_, held)| *held)
        };
        assert!(holds(&[("create.e1.expire", true), ("create.e1.hide", false)], true));
        assert!(!holds(&[("create.e1.expire", true), ("create.e2.expire", false)], true));
        assert!(!holds(&[("create.e1.expire", true)], false));
        assert!(!holds(&[], true), "no plan at all is no proof");
    }

    #[test]
    fn what_was_not_run_of_a_scenario_is_named() {
        let row = rows().find(|row| row.id == "E16").unwrap();
        let not_run = Outcomes::default().not_run(row);
        assert!(not_run.contains(&"definition_is_away".to_owned()), "{not_run:?}");
        assert!(not_run.iter().any(|it| it.starts_with("NOT YET")), "{not_run:?}");
        assert!(not_run.len() < row.tried.len(), "the short test was: {not_run:?}");
    }
}
