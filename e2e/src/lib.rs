//! What the tests on real pods share: the operator in a cluster under the roles that it ships with, and the
//! questions that tests ask of it.

#![expect(clippy::panic, reason = "a test fails by a panic")]

pub mod caches;
pub mod conditions;
pub mod deployed;
pub mod image;
pub mod kubectl;
pub mod metrics;
pub mod programs;
pub mod servers;
