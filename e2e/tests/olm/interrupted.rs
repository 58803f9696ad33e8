//! Ctrl-C at every step of `run bundle`: after the first line that it says, after the second, and so on, until it
//! comes to its end undisturbed.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::bundles::Bundles;
use crate::place::{Before, Place};

/// More lines than it says by far; else it never ends.
const MOST: usize = 60;

pub(crate) fn at_every_step(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    for lines in 1..MOST {
        let is_done = interrupted_after(lines, place, bundles);
        place.succeeds("cleanup memcached-operator -n pots");
        place.until_as_before(&before);
        if is_done {
            assert!(lines > 3, "it was never interrupted");
            return;
        }
    }
    panic!("it did not come to its end within {MOST} lines");
}

/// True if it ended before it could be interrupted.
fn interrupted_after(lines: usize, place: &Place, bundles: &Bundles) -> bool {
    let mut command = place.command(&format!("run bundle {} -n pots -o json", bundles.first));
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let first: Vec<String> = said.by_ref().take(lines).collect();
    if first.len() < lines {
        assert!(child.wait().unwrap().success(), "{first:?}");
        return true;
    }
    let id = child.id().to_string();
    // It may have ended meanwhile; then there is nobody to interrupt.
    let _ = Command::new("kill").args(["-INT", &id]).status();
    let rest: Vec<String> = said.collect();
    let status = child.wait().unwrap();
    if status.success() {
        return true;
    }
    let last = rest.last().or(first.last()).cloned().unwrap_or_default();
    // Before it is connected there is nothing to take back, and it simply ends.
    if status.code().is_some() {
        assert!(last.contains("interrupted: what is there so far stays"), "{first:?} {rest:?}");
        assert!(last.contains("kubewright cleanup memcached-operator --namespace pots"), "{last}");
    }
    false
}
