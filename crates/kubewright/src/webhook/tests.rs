//! The server and its certificate on a real API server: rotation under load, and what is thrown at it.

mod client;
mod garbage;
pub(super) mod jugs;
mod latency;
mod leaving;
mod peak;
mod reach;
mod rotation;
