//! The kind `Memcached`: what people write, what they read back, and the keys and reasons that they see.
//!
//! Types only: no IO, no runtime.
