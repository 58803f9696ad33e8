//! What a server says: one variant for each reply of the text protocol to a request that can be made
//! here, and for those of memcached's management commands that are not particular to one of them.

use std::fmt;

/// One reply, or one item of a reply of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Response {
    /// A value that was asked for; [`Response::End`] comes after the last.
    Value(Value),
    /// A statistic; [`Response::End`] comes after the last.
    Stat {
        /// Its name.
        name: String,
        /// Its value, which may be empty and may hold spaces.
        value: String,
    },
    /// The end of values or statistics.
    End,
    /// The value is kept.
    Stored,
    /// The value is not kept, because a condition of the request did not hold.
    NotStored,
    /// The value was changed by somebody else since.
    Exists,
    /// There is no such key.
    NotFound,
    /// The key is forgotten.
    Deleted,
    /// Done.
    Ok,
    /// The counters were set to zero.
    Reset,
    /// The version of the server.
    Version(String),
    /// The server is at it already; what at, it says or not.
    Busy(String),
    /// The server cannot do that now; it says to try again later.
    Locked,
    /// The server does not know the request, or says why not.
    Error(String),
    /// The request was wrong in some way.
    ClientError(String),
    /// The server could not.
    ServerError(String),
}

/// A value with what memcached keeps beside it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Value {
    /// The key it was asked for by.
    pub key: Vec<u8>,
    /// A number that whoever set it chose.
    pub flags: u32,
    /// Its version, if that was asked for.
    pub cas: Option<u64>,
    /// The bytes.
    pub data: Vec<u8>,
}

/// As the server says it, in one line; of a value without its bytes.
impl fmt::Display for Response {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, text) = match self {
            Self::Value(Value { key, flags, cas, data }) => {
                let (key, length) = (String::from_utf8_lossy(key), data.len());
                write!(formatter, "VALUE {key} {flags} {length}")?;
                return cas.map_or(Ok(()), |cas| write!(formatter, " {cas}"));
            }
            Self::Stat { name, value } => return write!(formatter, "STAT {name} {value}"),
            Self::End => ("END", ""),
            Self::Stored => ("STORED", ""),
            Self::NotStored => ("NOT_STORED", ""),
            Self::Exists => ("EXISTS", ""),
            Self::NotFound => ("NOT_FOUND", ""),
            Self::Deleted => ("DELETED", ""),
            Self::Ok => ("OK", ""),
            Self::Reset => ("RESET", ""),
            Self::Version(version) => ("VERSION", version.as_str()),
            Self::Busy(text) => ("BUSY", text.as_str()),
            Self::Locked => ("ERROR", "locked try again later"),
            Self::Error(text) => ("ERROR", text.as_str()),
            Self::ClientError(text) => ("CLIENT_ERROR", text.as_str()),
            Self::ServerError(text) => ("SERVER_ERROR", text.as_str()),
        };
        let space = if text.is_empty() { "" } else { " " };
        write!(formatter, "{word}{space}{text}")
    }
}
