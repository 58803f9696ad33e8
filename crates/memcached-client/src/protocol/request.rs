//! Requests, and their bytes. The only way to those bytes is [`Request::encode`], which checks every
//! part: nothing that a caller gives can end a line early or be read as a second command.

use std::time::Duration;

use thiserror::Error;

use super::LARGEST_VALUE;

/// The longest key that memcached takes, in bytes.
pub const LONGEST_KEY: usize = 250;

/// The longest time that a value can be given. memcached reads a larger number as seconds since 1970,
/// and a value that expired in 1970 is gone at once.
pub const LONGEST_LIFETIME: Duration = Duration::from_hours(30 * 24);

/// What can be asked of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Request<'a> {
    /// The value of a key.
    Get {
        /// 1 to 250 bytes without whitespace and control characters.
        key: &'a [u8],
    },
    /// Keep a value, whether there is one or not.
    Set {
        /// 1 to 250 bytes without whitespace and control characters.
        key: &'a [u8],
        /// Any bytes, at most [`LARGEST_VALUE`] of them.
        value: &'a [u8],
        /// How long to keep it, in whole seconds, rounded up; `None` is until memcached needs the room.
        lifetime: Option<Duration>,
    },
    /// Forget a key.
    Delete {
        /// 1 to 250 bytes without whitespace and control characters.
        key: &'a [u8],
    },
    /// The version of the server.
    Version,
    /// The general statistics, or a report of them: `settings`, `items`, `slabs`, `conns`, …
    Stats {
        /// One word of lower-case letters, digits and underscores.
        report: Option<&'a str>,
    },
}

/// Why a request was not sent.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum RequestError {
    /// memcached takes no empty key.
    #[error("the key is empty")]
    EmptyKey,
    /// Longer than [`LONGEST_KEY`].
    #[error("the key has {length} bytes, memcached takes {LONGEST_KEY}")]
    LongKey {
        /// The length it has.
        length: usize,
    },
    /// A space or a control character would end the key, or the line.
    #[error("the key has byte {byte:#04x}, a space or control character, at position {position}")]
    SeparatorInKey {
        /// The first such byte.
        byte: u8,
        /// Where it is, from 0.
        position: usize,
    },
    /// Larger than [`LARGEST_VALUE`].
    #[error("the value has {length} bytes, the most is {LARGEST_VALUE}")]
    LargeValue {
        /// The length it has.
        length: usize,
    },
    /// None at all, or longer than [`LONGEST_LIFETIME`].
    #[error(
        "a value cannot be kept for {lifetime:?}, only for more than nothing and at most 30 days"
    )]
    Lifetime {
        /// What was asked for.
        lifetime: Duration,
    },
    /// Not one word.
    #[error("{report:?} is not the name of a report")]
    Report {
        /// What was asked for.
        report: String,
    },
}

impl Request<'_> {
    /// The bytes to send, if every part is what memcached reads as that part.
    pub fn encode(&self) -> Result<Vec<u8>, RequestError> {
        Ok(match *self {
            Self::Get { key } => line(&[b"get", checked_key(key)?]),
            Self::Delete { key } => line(&[b"delete", checked_key(key)?]),
            Self::Version => line(&[b"version"]),
            Self::Stats { report: None } => line(&[b"stats"]),
            Self::Stats { report: Some(report) } => line(&[b"stats", checked_report(report)?]),
            Self::Set { key, value, lifetime } => {
                let length = value.len();
                if length > LARGEST_VALUE {
                    return Err(RequestError::LargeValue { length });
                }
                let (lifetime, length) = (seconds(lifetime)?.to_string(), length.to_string());
                let parts: [&[u8]; 5] =
                    [b"set", checked_key(key)?, b"0", lifetime.as_bytes(), length.as_bytes()];
                let mut bytes = line(&parts);
                bytes.extend_from_slice(value);
                bytes.extend_from_slice(b"\r\n");
                bytes
            }
        })
    }
}

fn line(parts: &[&[u8]]) -> Vec<u8> {
    let mut line = parts.join(&b' ');
    line.extend_from_slice(b"\r\n");
    line
}

fn checked_key(key: &[u8]) -> Result<&[u8], RequestError> {
    if key.is_empty() {
        return Err(RequestError::EmptyKey);
    }
    if key.len() > LONGEST_KEY {
        return Err(RequestError::LongKey { length: key.len() });
    }
    match key.iter().position(|&byte| byte == b' ' || byte.is_ascii_control()) {
        Some(position) => Err(RequestError::SeparatorInKey { byte: key[position], position }),
        None => Ok(key),
    }
}

fn checked_report(report: &str) -> Result<&[u8], RequestError> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if report.is_empty() || report.len() > LONGEST_KEY || !report.bytes().all(is_word) {
        return Err(RequestError::Report { report: report.to_owned() });
    }
    Ok(report.as_bytes())
}

/// memcached's own form: 0 is for ever.
fn seconds(lifetime: Option<Duration>) -> Result<u64, RequestError> {
    match lifetime {
        None => Ok(0),
        Some(lifetime) if lifetime.is_zero() || lifetime > LONGEST_LIFETIME => {
            Err(RequestError::Lifetime { lifetime })
        }
        Some(lifetime) => Ok(lifetime.as_secs() + u64::from(lifetime.subsec_nanos() > 0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(value: &[u8], lifetime: Option<Duration>) -> Result<Vec<u8>, RequestError> {
        Request::Set { key: b"k", value, lifetime }.encode()
    }

    #[test]
    fn each_request_has_its_line() {
        assert_eq!(Request::Get { key: b"k" }.encode().unwrap(), b"get k\r\n");
        assert_eq!(
            Request::Delete { key: "ключ".as_bytes() }.encode().unwrap(),
            "delete ключ\r\n".as_bytes()
        );
        assert_eq!(Request::Version.encode().unwrap(), b"version\r\n");
        assert_eq!(Request::Stats { report: None }.encode().unwrap(), b"stats\r\n");
        assert_eq!(
            Request::Stats { report: Some("settings") }.encode().unwrap(),
            b"stats settings\r\n"
        );
    }

    #[test]
    fn a_value_may_hold_anything_because_its_length_goes_before_it() {
        assert_eq!(set(b"", None).unwrap(), b"set k 0 0 0\r\n\r\n");
        let value = b"a\r\nflush_all\r\n";
        assert_eq!(set(value, None).unwrap(), b"set k 0 0 14\r\na\r\nflush_all\r\n\r\n");
        let large = vec![0; LARGEST_VALUE + 1];
        assert_eq!(set(&large, None), Err(RequestError::LargeValue { length: large.len() }));
        assert!(set(&large[1..], None).is_ok());
    }

    #[test]
    fn a_lifetime_is_whole_seconds_and_never_a_date() {
        assert_eq!(set(b"", Some(Duration::from_millis(1))).unwrap(), b"set k 0 1 0\r\n\r\n");
        assert_eq!(set(b"", Some(LONGEST_LIFETIME)).unwrap(), b"set k 0 2592000 0\r\n\r\n");
        for lifetime in [Duration::ZERO, LONGEST_LIFETIME + Duration::from_nanos(1), Duration::MAX]
        {
            assert_eq!(set(b"", Some(lifetime)), Err(RequestError::Lifetime { lifetime }));
        }
    }

    #[test]
    fn a_key_that_memcached_would_misread_is_refused() {
        assert_eq!(checked_key(b""), Err(RequestError::EmptyKey));
        assert!(checked_key(&[b'k'; LONGEST_KEY]).is_ok());
        assert_eq!(checked_key(&[b'k'; 251]), Err(RequestError::LongKey { length: 251 }));
        for byte in [b' ', b'\t', b'\r', b'\n', 0, 0x7f] {
            let error = RequestError::SeparatorInKey { byte, position: 1 };
            assert_eq!(checked_key(&[b'k', byte, b'k']), Err(error));
        }
    }

    #[test]
    fn a_report_is_one_word() {
        for report in ["", "detail on", "slabs\r\nflush_all", "Slabs", "é"] {
            let error = RequestError::Report { report: report.to_owned() };
            assert_eq!(Request::Stats { report: Some(report) }.encode(), Err(error));
        }
    }
}
