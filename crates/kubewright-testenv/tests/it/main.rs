//! The environment itself, tried on real parts.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

mod audit;
mod control_plane;
mod faults;
mod fixtures;
mod identities;
mod node_faults;
mod nodes;
mod proxy;
mod services;
