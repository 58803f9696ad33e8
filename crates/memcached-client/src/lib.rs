//! A client of memcached: the text protocol as plain functions, and a thin transport with deadlines.
//!
//! Knows nothing of Kubernetes, keeps no pool and repeats nothing: whoever calls decides when to try again.
//!
//! ```no_run
//! # async fn example() -> Result<(), memcached_client::Error> {
//! use memcached_client::{Connection, DEFAULT_DEADLINE};
//!
//! let mut connection = Connection::connect("10.200.129.3:11211", DEFAULT_DEADLINE).await?;
//! connection.set("greeting", b"hello", None).await?;
//! assert_eq!(connection.get("greeting").await?.as_deref(), Some(&b"hello"[..]));
//! let stats = connection.stats().await?;
//! assert!(stats.curr_items >= 1);
//! # Ok(())
//! # }
//! ```
//!
//! # Guarantees
//! - Every call ends within the connection's deadline.
//! - What a caller gives as key, value or report can never be read by the server as a command.
//! - What a server sends never takes more memory than a [stated bound](protocol), and never panics.
//! - A connection whose answers might belong to an earlier question answers nothing any more.

mod connection;
mod error;
pub mod protocol;
mod stats;
mod version;

pub use connection::{Connection, DEFAULT_DEADLINE};
pub use error::{Broken, Error};
pub use stats::{Stats, StatsError};
pub use version::{Version, VersionError};
