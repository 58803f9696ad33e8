//! Files that are derived from the types and the wiring: definitions, roles, manifests.
//!
//! Everything here is pure: values in, values or text out. Nothing reads a file, asks a cluster or
//! knows what an operator is for.

pub mod crd;
pub mod rbac;
pub mod yaml;
