//! Ctrl-C at every step: after the first line that a command says, after the second, and so on, until it comes to its
//! end undisturbed. `run bundle` is cleaned up each time; `run bundle-upgrade` and `cleanup` go on where they were.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::bundles::Bundles;
use crate::place::{Before, Place};

/// More lines than it says by far; else it never ends.
const MOST: usize = 60;
const INSTALLING: [&str; 2] = [
    "interrupted: what is there so far stays",
    "kubewright cleanup memcached-operator --namespace pots",
];

pub(crate) fn at_every_step(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    let command = format!("run bundle {} -n pots -o json", bundles.first);
    for lines in 1..MOST {
        let is_done = interrupted_after(lines, place, &command, INSTALLING);
        place.succeeds("cleanup memcached-operator -n pots");
        place.until_as_before(&before);
        if is_done {
            assert!(lines > 3, "it was never interrupted");
            return;
        }
    }
    panic!("it did not come to its end within {MOST} lines");
}

/// The same command goes on with what is there, and what is cleaned up in pieces is gone in the end.
pub(crate) fn again_and_again(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    place.succeeds(&format!("run bundle {} -n pots", bundles.first));
    let upgrade = format!("run bundle-upgrade {} -n pots -o json", bundles.second);
    let times = until_done(place, &upgrade, INSTALLING);
    assert!(times > 2, "the upgrade was interrupted {times} times only");
    let releases = place.kubectl("get csv --namespace pots -o name");
    assert!(releases.contains("memcached-operator.v0.0.2"), "{releases}");
    // What is deleted is told on standard output, so that this says little: interrupted after a while, then.
    let mut times = 0;
    while !ended_within(Duration::from_millis(700), place, "cleanup memcached-operator -n pots") {
        times += 1;
        assert!(times < MOST, "it did not come to its end in {MOST} pieces");
    }
    assert!(times > 0, "the cleanup was never interrupted");
    place.until_as_before(&before);
}

/// How often it was interrupted before it came to its end.
fn until_done(place: &Place, command: &str, way_out: [&str; 2]) -> usize {
    let mut lines = 1..MOST;
    let times = lines.position(|lines| interrupted_after(lines, place, command, way_out));
    times.unwrap_or_else(|| panic!("it did not come to its end within {MOST} lines"))
}

/// True if it ended by itself.
fn ended_within(time: Duration, place: &Place, command: &str) -> bool {
    let mut command = place.command(command);
    let child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(time);
    interrupt(&child);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    if !output.status.success() && output.status.code().is_some() {
        assert!(
            said.contains("interrupted: the rest is still there, and the same command"),
            "{said}"
        );
    }
    output.status.success()
}

/// It may have ended meanwhile; then there is nobody to interrupt.
fn interrupt(child: &Child) {
    let _ = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
}

/// True if it ended before it could be interrupted. Else its last words have to say `way_out`.
fn interrupted_after(lines: usize, place: &Place, command: &str, way_out: [&str; 2]) -> bool {
    let mut command = place.command(command);
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let first: Vec<String> = said.by_ref().take(lines).collect();
    if first.len() < lines {
        assert!(child.wait().unwrap().success(), "{first:?}");
        return true;
    }
    interrupt(&child);
    let rest: Vec<String> = said.collect();
    let status = child.wait().unwrap();
    if status.success() {
        return true;
    }
    let last = rest.last().or(first.last()).cloned().unwrap_or_default();
    // Before it is connected there is nothing to take back, and it simply ends.
    if status.code().is_some() {
        assert!(way_out.iter().all(|words| last.contains(words)), "{first:?} {rest:?}");
    }
    false
}
