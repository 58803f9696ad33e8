//! The labels on everything that belongs to a `Memcached`. Their keys are an interface: dashboards, network
//! policies and `kubectl -l` use them.

/// Names the `Memcached` that an object belongs to, in the form of a label's value. Deployment and Service
/// select by this label alone, so it never changes and no two objects of a namespace share a value.
pub const INSTANCE: &str = "cache.example.com/memcached";

/// `memcached`: the recommended label that names the application.
pub const NAME: &str = "app.kubernetes.io/name";

/// The recommended label that tells instances of an application apart; the same value as [`INSTANCE`].
pub const RECOMMENDED_INSTANCE: &str = "app.kubernetes.io/instance";

/// The value of [`NAME`], and the name of container and port.
pub const MEMCACHED: &str = "memcached";
