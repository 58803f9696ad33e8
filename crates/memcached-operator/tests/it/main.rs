//! The operator on a real API server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

mod admission;
mod chart;
