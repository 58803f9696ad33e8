//! The client as an operator uses it: against real servers, and against one that does not answer.

#![expect(clippy::unwrap_used, reason = "a test fails by a panic")]

mod conversation;
mod servers;
