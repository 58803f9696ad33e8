//! One whole line, without its end, to what it means. Pure; gives back errors for all it does not know.

use std::str::FromStr;

use thiserror::Error;

use super::{LARGEST_VALUE, LONGEST_KEY, LONGEST_LINE, Response};

/// How a server broke the protocol. What follows on that connection means nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// No end within [`LONGEST_LINE`] bytes.
    #[error("a line of the server is longer than {LONGEST_LINE} bytes")]
    LongLine,
    /// A line that ends in a line feed alone.
    #[error("a line of the server does not end in CR LF")]
    LineEnd,
    /// No reply begins like this.
    #[error("the server says {line:?}, which is no reply")]
    UnknownReply {
        /// The line, or how it begins.
        line: String,
    },
    /// The reply is known, its parts are not as they should be.
    #[error("the server says {line:?}, which is not a whole reply")]
    Malformed {
        /// The line, or how it begins.
        line: String,
    },
    /// The server announces more than [`LARGEST_VALUE`] bytes.
    #[error("the server announces a value of {length} bytes, the most is {LARGEST_VALUE}")]
    LargeValue {
        /// The length it announces.
        length: u64,
    },
    /// The value is longer or shorter than it was announced.
    #[error("a value of the server does not end where the server said")]
    ValueEnd,
}

/// What a line is: a reply, or the announcement of a value that follows it.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Response(Response),
    Value(Header),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) key: Vec<u8>,
    pub(super) flags: u32,
    pub(super) length: usize,
    pub(super) cas: Option<u64>,
}

/// The meaning of a line.
pub(super) fn line(line: &[u8]) -> Result<Line, ProtocolError> {
    let (word, rest) = split(line);
    let response = match (word, rest) {
        (b"VALUE", Some(rest)) => return header(line, rest).map(Line::Value),
        (b"STAT", Some(rest)) => stat(line, rest)?,
        (b"VERSION", Some(rest)) => Response::Version(text(rest)),
        (b"END", None) => Response::End,
        (b"STORED", None) => Response::Stored,
        (b"NOT_STORED", None) => Response::NotStored,
        (b"EXISTS", None) => Response::Exists,
        (b"NOT_FOUND", None) => Response::NotFound,
        (b"DELETED", None) => Response::Deleted,
        (b"OK", None) => Response::Ok,
        (b"RESET", None) => Response::Reset,
        // The crawler says it as an error; it is taken without that word too.
        (b"locked", Some(b"try again later")) | (b"ERROR", Some(b"locked try again later")) => {
            Response::Locked
        }
        (b"BUSY", rest) => Response::Busy(text(rest.unwrap_or_default())),
        (b"ERROR", rest) => Response::Error(text(rest.unwrap_or_default())),
        (b"CLIENT_ERROR", rest) => Response::ClientError(text(rest.unwrap_or_default())),
        (b"SERVER_ERROR", rest) => Response::ServerError(text(rest.unwrap_or_default())),
        (b"VALUE" | b"STAT" | b"VERSION", None) => return Err(malformed(line)),
        _ => return Err(ProtocolError::UnknownReply { line: excerpt(line) }),
    };
    Ok(Line::Response(response))
}

/// The first word, and what is after its space.
fn split(line: &[u8]) -> (&[u8], Option<&[u8]>) {
    match line.iter().position(|&byte| byte == b' ') {
        Some(space) => (&line[..space], Some(&line[space + 1..])),
        None => (line, None),
    }
}

/// `NAME VALUE`; the value may be empty, with or without its space.
fn stat(line: &[u8], rest: &[u8]) -> Result<Response, ProtocolError> {
    let (name, value) = split(rest);
    if name.is_empty() {
        return Err(malformed(line));
    }
    Ok(Response::Stat { name: text(name), value: text(value.unwrap_or_default()) })
}

/// `KEY FLAGS LENGTH [CAS]`.
fn header(line: &[u8], rest: &[u8]) -> Result<Header, ProtocolError> {
    let parts: Vec<_> = rest.split(|&byte| byte == b' ').collect();
    let (key, flags, length, cas) = match parts[..] {
        [key, flags, length] => (key, flags, length, None),
        [key, flags, length, cas] => (key, flags, length, Some(cas)),
        _ => return Err(malformed(line)),
    };
    let is_key = (1..=LONGEST_KEY).contains(&key.len());
    let length: Option<u64> = number(length);
    let cas = cas.map(number);
    let (Some(flags), Some(length), true, None | Some(Some(_))) =
        (number(flags), length, is_key, cas)
    else {
        return Err(malformed(line));
    };
    match usize::try_from(length) {
        Ok(length) if length <= LARGEST_VALUE => {
            Ok(Header { key: key.to_vec(), flags, length, cas: cas.flatten() })
        }
        _ => Err(ProtocolError::LargeValue { length }),
    }
}

/// Digits alone: `from_str` would take a sign too.
fn number<N: FromStr>(digits: &[u8]) -> Option<N> {
    let digits = str::from_utf8(digits).ok()?;
    if digits.starts_with('+') { None } else { digits.parse().ok() }
}

/// Replies are ASCII. Something else inside one (a path, a name) is shown, not a reason to fail.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn malformed(line: &[u8]) -> ProtocolError {
    ProtocolError::Malformed { line: excerpt(line) }
}

/// Enough to recognise it by in a log.
fn excerpt(line: &[u8]) -> String {
    text(&line[..line.len().min(80)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn response(text: &str) -> Response {
        match line(text.as_bytes()) {
            Ok(Line::Response(response)) => response,
            other => panic!("{text:?} is {other:?}"),
        }
    }

    #[test]
    fn every_reply_is_known() {
        let told = |reason: &str| reason.to_owned();
        let stat =
            |name: &str, value: &str| Response::Stat { name: told(name), value: told(value) };
        let table = [
            ("END", Response::End),
            ("STORED", Response::Stored),
            ("NOT_STORED", Response::NotStored),
            ("EXISTS", Response::Exists),
            ("NOT_FOUND", Response::NotFound),
            ("DELETED", Response::Deleted),
            ("OK", Response::Ok),
            ("RESET", Response::Reset),
            ("BUSY", Response::Busy(String::new())),
            (
                "BUSY currently processing crawler request",
                Response::Busy(told("currently processing crawler request")),
            ),
            ("locked try again later", Response::Locked),
            ("ERROR locked try again later", Response::Locked),
            ("ERROR", Response::Error(String::new())),
            ("ERROR Too many open connections", Response::Error(told("Too many open connections"))),
            ("CLIENT_ERROR unauthenticated", Response::ClientError(told("unauthenticated"))),
            (
                "SERVER_ERROR object too large for cache",
                Response::ServerError(told("object too large for cache")),
            ),
            ("VERSION 1.6.45", Response::Version(told("1.6.45"))),
            ("STAT pid 7", stat("pid", "7")),
            ("STAT inter ", stat("inter", "")),
            ("STAT inter", stat("inter", "")),
            ("STAT libevent 2.1.12-stable or so", stat("libevent", "2.1.12-stable or so")),
        ];
        for (text, expected) in table {
            assert_eq!(response(text), expected, "{text}");
        }
    }

    #[test]
    fn a_value_is_announced_with_or_without_its_version() {
        let header = Header { key: b"k".to_vec(), flags: 5, length: 3, cas: None };
        assert_eq!(line(b"VALUE k 5 3"), Ok(Line::Value(header.clone())));
        assert_eq!(line(b"VALUE k 5 3 9"), Ok(Line::Value(Header { cas: Some(9), ..header })));
    }

    #[test]
    fn a_reply_that_lacks_something_is_an_error() {
        let lines = [
            "VALUE",
            "VALUE ",
            "VALUE k",
            "VALUE k 0",
            "VALUE k 0 x",
            "VALUE k 0 -1",
            "VALUE k 0 +1",
            "VALUE k 4294967296 1",
            "VALUE  0 1",
            "VALUE k 0 1 x",
            "VALUE k 0 1 2 3",
            "STAT",
            "STAT ",
            "VERSION",
            "VALUE k 0 99999999999999999999",
        ];
        for text in lines {
            let error = ProtocolError::Malformed { line: text.to_owned() };
            assert_eq!(line(text.as_bytes()), Err(error));
        }
        let long_key = format!("VALUE {} 0 1", "k".repeat(251));
        assert!(matches!(line(long_key.as_bytes()), Err(ProtocolError::Malformed { .. })));
    }

    #[test]
    fn a_line_that_is_no_reply_is_an_error() {
        for text in
            ["", " ", "end", "END ", "STORED 1", "HTTP/1.1 400 Bad Request", "locked", "OKAY"]
        {
            let error = ProtocolError::UnknownReply { line: text.to_owned() };
            assert_eq!(line(text.as_bytes()), Err(error));
        }
    }

    #[test]
    fn a_value_beyond_the_bound_is_refused_before_it_is_read() {
        assert!(line(format!("VALUE k 0 {LARGEST_VALUE}").as_bytes()).is_ok());
        let length = LARGEST_VALUE as u64 + 1;
        let announced = line(format!("VALUE k 0 {length}").as_bytes());
        assert_eq!(announced, Err(ProtocolError::LargeValue { length }));
    }
}
