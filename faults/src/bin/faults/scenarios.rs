//! Runs the tests that scenarios name, and says which scenarios held. What needs real pods, minutes or a
//! benchmark is in other verbs, and is counted apart.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use memcached_faults::report::say;
use memcached_faults::table::{self, TABLE, Tried};

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

/// Prints the list, runs what is short, and answers whether all of that held.
pub(crate) fn scenarios() -> anyhow::Result<bool> {
    table::print();
    let mut wanted: BTreeMap<Target, BTreeSet<&str>> = BTreeMap::new();
    for (file, name) in TABLE.iter().flat_map(|row| tests(row.tried)) {
        if let Some(target) = target(file) {
            wanted.entry(target).or_default().insert(name);
        }
    }
    let mut outcomes = HashMap::new();
    for (target, names) in wanted {
        outcomes.extend(run(target, &names)?);
    }
    let (mut run, mut held) = (0, 0);
    for row in TABLE {
        let short: Vec<_> = tests(row.tried).filter(|(file, _)| target(file).is_some()).collect();
        if short.is_empty() {
            continue;
        }
        run += 1;
        let failed: Vec<_> =
            short.iter().filter(|(_, name)| outcomes.get(*name) != Some(&true)).collect();
        held += usize::from(failed.is_empty());
        for (file, name) in failed {
            say(&format!("failed: {}: {name} in {file}", row.id));
        }
    }
    say(&format!("scenarios: {run} run, {held} held"));
    Ok(run == held)
}

fn tests(tried: Tried) -> impl Iterator<Item = (&'static str, &'static str)> {
    let tests = match tried {
        Tried::Tests(tests) => tests,
        _ => &[],
    };
    tests.iter().copied()
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
        for (file, name) in TABLE.iter().flat_map(|row| tests(row.tried)) {
            let known = target(file).is_some() || elsewhere.iter().any(|it| file.starts_with(it));
            assert!(known, "{name} in {file}");
        }
    }
}
