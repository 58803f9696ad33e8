//! `kubewright dev down`: ends the environment and says how long that took.

use std::time::Instant;

use kubewright_testenv::progress::{Progress, elapsed};

use super::place::Place;
use crate::output;

pub(super) fn run() -> anyhow::Result<()> {
    let place = Place::from_environment()?;
    if place.is_untouched() {
        return output::write("nothing is up\n");
    }
    let _lock = place.lock()?;
    place.settle()?;
    if !place.directory().exists() && !place.has_processes() {
        return output::write("nothing is up\n");
    }
    let started = Instant::now();
    Progress::Shown.step("ending the local Kubernetes", || place.clear())?;
    let took = elapsed(started.elapsed());
    output::write(format!("Kubernetes is down, nothing is left of it: {took}\n"))
}
