//! A quick part of what `make faults` does, with every kind of fault in it, and the short scenarios.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod deletion;
mod hostile;
mod names;
mod outages;
mod plans;
mod refusals;
mod removal;
mod stage;
mod stale;
mod starting;
mod stopping;
