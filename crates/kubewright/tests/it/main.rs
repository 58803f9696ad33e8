//! The library as its users see it, on a real API server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]
#![expect(unreachable_pub, reason = "modules of a test binary have no outside")]

mod bereft;
mod books;
mod bundle;
mod chart;
mod cluster;
mod cluster_scope;
mod compiler;
mod crossing;
mod dashboard;
mod drift;
mod everything;
mod faults;
mod finalizer;
mod gadgets;
mod health;
mod initial;
mod install;
mod isolation;
mod labelled;
mod leader;
mod leaving;
mod logs;
mod optional;
mod ownership;
mod pots;
mod queue_order;
mod quiet;
mod rbac;
mod references;
mod releases;
mod restart;
mod runnable;
mod running;
mod seen;
mod shared;
mod spacing;
mod status;
mod terminating;
mod webhooks;
mod world;
