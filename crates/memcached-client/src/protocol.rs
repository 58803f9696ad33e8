//! The text protocol without IO: requests to bytes, bytes to responses.
//!
//! Nothing here reads, writes, waits or keeps time, so all of it can be tried with any bytes.
//!
//! | limit | value | why |
//! |---|---|---|
//! | [`LONGEST_KEY`] | 250 bytes | memcached's own |
//! | [`LARGEST_VALUE`] | 16 MiB | sixteen times memcached's default, and what a server can make us keep |
//! | [`LONGEST_LINE`] | 4 KiB | a key and its numbers take 320 bytes, a statistic has a name and a value of at most 128 each |
//! | [`LONGEST_LIFETIME`] | 30 days | memcached takes a larger number for a date |

mod decoder;
mod parse;
mod request;
mod response;
#[cfg(test)]
mod tests;

pub use decoder::Decoder;
pub use parse::ProtocolError;
pub use request::{LONGEST_KEY, LONGEST_LIFETIME, Request, RequestError};
pub use response::{Response, Value};

/// The largest value that is sent or taken, in bytes. memcached's default is 1 MiB per item; a server
/// that was given more (`-I`) and sends more is not believed, so that it cannot fill our memory.
pub const LARGEST_VALUE: usize = 16 * 1024 * 1024;

/// The longest line that is taken, in bytes, with its end.
pub const LONGEST_LINE: usize = 4 * 1024;
