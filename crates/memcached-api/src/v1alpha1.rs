//! Version `v1alpha1` of the kind.

mod spec;
mod status;
#[cfg(test)]
mod tests;

pub use spec::{
    DEFAULT_PORT, DEFAULT_SIZE, IMAGE_PATTERN, MAX_IMAGE, MAX_SIZE, Memcached, MemcachedSpec,
    Resources,
};
pub use status::MemcachedStatus;
