//! The operator on real pods, in the cluster, under the roles that it ships with.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

mod autoscaling;
mod bounds;
mod chart;
mod deletion;
mod killing;
mod removal;
mod replacement;
mod roles;
mod rollout;
mod serving;
mod tutorial;
mod writes;
