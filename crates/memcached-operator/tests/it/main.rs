//! The operator on a real API server.

mod admission;
