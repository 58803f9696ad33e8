//! V4: no panic, no end that nobody brought about, no growth of memory or sockets, no hot loop.

use super::Clean;
use crate::plan::Fault;
use crate::run::Observed;

/// Each life of the operator lists and watches anew, and what failed is told and tried again.
const MORE: usize = 40;
/// Connections that are still open for later, and those of the lease.
const SOCKETS: usize = 12;

pub(super) fn judge(run: &Observed, fault: Option<Fault>, clean: &Clean) -> Vec<String> {
    let mut wrong = run.failures.clone();
    let bound = clean.memory + clean.memory * 3 / 10;
    if run.memory > bound {
        wrong.push(format!("it has {} KiB in memory, bound {bound}", run.memory));
    }
    let bound = clean.descriptors + SOCKETS;
    if run.descriptors > bound {
        wrong.push(format!("it has {} files and sockets open, bound {bound}", run.descriptors));
    }
    // Two that compete look at the lease all the time, and both list.
    let lives = if fault == Some(Fault::LeaderChange) { 4 } else { 1 };
    let bound = clean.requests * lives + MORE;
    if run.sent.len() > bound {
        wrong.push(format!("it sent {} requests, bound {bound}", run.sent.len()));
    }
    wrong
}
