//! The kind `Memcached`: what people write, what they read back, and the keys and reasons that they see.
//!
//! Types only: no IO, no runtime.

pub mod condition;
pub mod labels;
mod quantity;
pub mod v1alpha1;

pub use quantity::Quantity;

/// The group of the kind.
pub const GROUP: &str = "cache.example.com";
