//! A client of memcached: the protocol as plain functions, and a thin transport with deadlines.
//!
//! Knows nothing of Kubernetes.
