//! The library as its users see it, on a real API server.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]
#![expect(unreachable_pub, reason = "modules of a test binary have no outside")]

mod books;
mod compiler;
mod drift;
mod finalizer;
mod isolation;
mod ownership;
mod queue_order;
mod quiet;
mod running;
mod status;
mod world;
