//! What the queue knows of one object: where it is, and how it has been failing.
//!
//! Pure: decides when a request counts, moves nothing.

use std::time::Duration;

use tokio::time::Instant;

use super::Priority;
use super::delays::Slot;
use super::lanes::Ticket;

/// How often changes may cut short the wait of a failing object.
const HURRY_INTERVAL: Duration = Duration::from_secs(1);

/// That an object is to be looked at: when, how urgently and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Request {
    pub(super) due: Instant,
    pub(super) priority: Priority,
    pub(super) reason: &'static str,
}

impl Request {
    /// One request in place of two: the earlier time, the higher priority, and the reason of the
    /// first unless the other is more urgent.
    pub(super) fn merge(self, other: Self) -> Self {
        let more_urgent = other.due < self.due || other.priority > self.priority;
        Self {
            due: self.due.min(other.due),
            priority: self.priority.max(other.priority),
            reason: if more_urgent { other.reason } else { self.reason },
        }
    }
}

/// Where an object is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Place {
    /// In a lane.
    Ready { ticket: Ticket, request: Request },
    /// Among the delayed ones.
    Delayed { slot: Slot, request: Request },
    /// In the hands of a worker.
    Running(Run),
    /// Nowhere: its last pass said that only a change can help.
    Resting,
}

/// What happened to an object while a worker has it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Run {
    /// It was asked for.
    pub(super) again: Option<Request>,
    /// It has gone.
    pub(super) forgotten: bool,
}

/// What is known of an object whose last pass failed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failing {
    /// Failures in a row that count for the back-off.
    pub(super) count: u32,
    /// The end of the back-off; there is none after a terminal failure.
    pub(super) until: Option<Instant>,
    /// When a change last cut the wait short, or will.
    pub(super) hurried: Option<Instant>,
}

impl Failing {
    /// Nothing ends the wait before `until`, not even a change.
    pub(super) fn patient(count: u32, until: Instant) -> Self {
        Self { count, until: Some(until), hurried: until.checked_sub(HURRY_INTERVAL) }
    }

    /// What becomes of a request for an object that keeps its distance and would come back by
    /// itself at `planned`: it may have to wait, and it may use up the next hurry.
    pub(super) fn grant(self, request: Request, planned: Option<Instant>) -> (Self, Request) {
        let earliest = match request.priority {
            Priority::Low => self.until,
            Priority::High => self.hurried.map(|hurried| hurried + HURRY_INTERVAL),
        };
        let due = earliest.map_or(request.due, |earliest| earliest.max(request.due));
        let hurries =
            request.priority == Priority::High && planned.is_none_or(|planned| due < planned);
        let hurried = if hurries { Some(due) } else { self.hurried };
        (Self { hurried, ..self }, Request { due, ..request })
    }
}

/// An object that waits, runs or fails; others are not remembered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    pub(super) place: Place,
    pub(super) failing: Option<Failing>,
}

impl Object {
    /// Applies [`Failing::grant`] if the object is failing.
    pub(super) fn grant(self, request: Request) -> (Option<Failing>, Request) {
        let planned = match self.place {
            Place::Delayed { request, .. } => Some(request.due),
            Place::Ready { .. } | Place::Running(_) | Place::Resting => None,
        };
        match self.failing.map(|failing| failing.grant(request, planned)) {
            Some((failing, request)) => (Some(failing), request),
            None => (None, request),
        }
    }
}
