//! Bytes in pieces of any size to responses. Keeps what is not a whole response yet, and no more than
//! the largest response can be.

use super::parse::{self, Header, Line};
use super::{LONGEST_LINE, ProtocolError, Response, Value};

/// Reads a stream of replies.
///
/// # Guarantees
/// - The responses do not depend on how the stream is cut into pieces.
/// - If [`Decoder::response`] is called until it gives no more after each piece, then less than
///   [`LARGEST_VALUE`](super::LARGEST_VALUE) + 2 bytes wait, whatever comes.
/// - After an error it gives that error for ever, and keeps nothing.
#[derive(Debug, Default)]
pub struct Decoder {
    buffer: Vec<u8>,
    /// How much of the buffer was given out already.
    taken: usize,
    /// The value whose bytes are awaited.
    awaited: Option<Header>,
    failed: Option<ProtocolError>,
}

impl Decoder {
    /// A decoder at the beginning of a reply.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes of the stream.
    pub fn push(&mut self, bytes: &[u8]) {
        if self.failed.is_some() {
            return;
        }
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next response; `None` if the bytes for it are not all there yet.
    pub fn response(&mut self) -> Result<Option<Response>, ProtocolError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        self.decode().inspect_err(|error| {
            *self = Self { failed: Some(error.clone()), ..Self::default() };
        })
    }

    /// True between replies: nothing was begun, nothing waits.
    pub fn is_empty(&self) -> bool {
        self.waiting() == 0 && self.awaited.is_none()
    }

    /// How many bytes wait for the rest of their response.
    pub fn waiting(&self) -> usize {
        self.buffer.len() - self.taken
    }

    fn decode(&mut self) -> Result<Option<Response>, ProtocolError> {
        if self.awaited.is_none() {
            let Some(line) = self.line()? else { return Ok(None) };
            match parse::line(line)? {
                Line::Response(response) => return Ok(Some(response)),
                Line::Value(header) => self.awaited = Some(header),
            }
        }
        self.value()
    }

    /// The next line without its end.
    fn line(&mut self) -> Result<Option<&[u8]>, ProtocolError> {
        let rest = &self.buffer[self.taken..];
        let window = &rest[..rest.len().min(LONGEST_LINE)];
        let Some(end) = window.iter().position(|&byte| byte == b'\n') else {
            return if window.len() < LONGEST_LINE {
                Ok(None)
            } else {
                Err(ProtocolError::LongLine)
            };
        };
        self.taken += end + 1;
        window[..end].strip_suffix(b"\r").ok_or(ProtocolError::LineEnd).map(Some)
    }

    /// The awaited value, once it is there with its end.
    fn value(&mut self) -> Result<Option<Response>, ProtocolError> {
        let rest = &self.buffer[self.taken..];
        let whole = |header: &mut Header| rest.len() >= header.length + 2;
        let Some(Header { key, flags, length, cas }) = self.awaited.take_if(whole) else {
            return Ok(None);
        };
        let (data, end) = rest.split_at(length);
        if !end.starts_with(b"\r\n") {
            return Err(ProtocolError::ValueEnd);
        }
        let data = data.to_vec();
        self.taken += length + 2;
        Ok(Some(Response::Value(Value { key, flags, cas, data })))
    }
}
