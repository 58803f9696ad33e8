//! What was written for one object, by resource, beside what it may be.

use kubewright_bench::bars::Bars;
use kubewright_bench::requests::Requests;

/// The finalizer is all that is written to the object itself.
const RESOURCES: [&str; 5] =
    ["memcacheds", "deployments", "services", "events", "memcacheds/status"];

/// How often each of the resources was written to, and anything else.
#[derive(Clone, Copy, Default)]
pub(crate) struct Written {
    known: [usize; 5],
    other: usize,
}

/// What may be written.
pub(crate) struct Limits {
    pub(crate) finalizers: usize,
    pub(crate) statuses: usize,
}

impl Written {
    pub(crate) fn of(requests: &Requests) -> Self {
        let known = RESOURCES.map(|resource| requests.writes_to(resource).len());
        Self { known, other: requests.writes() - known.iter().sum::<usize>() }
    }

    /// The most of both.
    pub(crate) fn most(self, other: Self) -> Self {
        let mut known = self.known;
        for (count, other) in known.iter_mut().zip(other.known) {
            *count = other.max(*count);
        }
        Self { known, other: self.other.max(other.other) }
    }

    pub(crate) fn compare(&self, phase: &str, limits: &Limits, bars: &mut Bars) {
        let what = |resource: &str| format!("{phase}: writes to {resource}");
        let [finalizers, deployments, services, events, statuses] = self.known;
        bars.exactly(format!("{phase}: writes of the finalizer"), finalizers, limits.finalizers);
        bars.exactly(what("the Deployment"), deployments, 1);
        bars.exactly(what("the Service"), services, 1);
        bars.no_more_than(what("events"), events, 1);
        bars.no_more_than(what("the status"), statuses, limits.statuses);
        bars.exactly(what("anything else"), self.other, 0);
    }
}
