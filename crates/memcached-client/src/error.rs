//! What can go wrong between a question and its answer, and what that means for the connection.

use std::io;
use std::time::Duration;

use thiserror::Error;

use crate::protocol::{ProtocolError, RequestError, Response};
use crate::stats::StatsError;
use crate::version::VersionError;

/// Why a call has no result. The connection can be used again after [`Error::Request`],
/// [`Error::Version`], [`Error::Stats`] and most of [`Error::Refused`]; after all others it is
/// [broken](Error::Broken).
#[derive(Debug, Error)]
pub enum Error {
    /// Nobody answers at the address, or it is none.
    #[error("cannot connect to {address}")]
    Connect {
        /// Where to.
        address: String,
        /// What the system says.
        #[source]
        source: io::Error,
    },
    /// Nobody answers at the address in time.
    #[error("cannot connect to {address} within {deadline:?}")]
    ConnectDeadline {
        /// Where to.
        address: String,
        /// How long it may take.
        deadline: Duration,
    },
    /// Nothing was sent, because memcached would not read it as it is meant.
    #[error("cannot ask memcached for {request}")]
    Request {
        /// What was asked.
        request: &'static str,
        /// What is wrong with it.
        #[source]
        source: RequestError,
    },
    /// The answer was not all there in time. Whether the server did what was asked is unknown.
    #[error("memcached does not answer {request} within {deadline:?}")]
    Deadline {
        /// What was asked.
        request: &'static str,
        /// How long it may take.
        deadline: Duration,
    },
    /// The stream failed. Whether the server did what was asked is unknown.
    #[error("the connection to memcached failed during {request}")]
    Stream {
        /// What was asked.
        request: &'static str,
        /// What the system says; an unexpected end if the server closed it.
        #[source]
        source: io::Error,
    },
    /// The answer is not memcached's protocol.
    #[error("memcached's answer to {request} cannot be read")]
    Protocol {
        /// What was asked.
        request: &'static str,
        /// What is wrong with the answer.
        #[source]
        source: ProtocolError,
    },
    /// The answer is one to something else.
    #[error("memcached answers {request} with {answer:?}")]
    Unexpected {
        /// What was asked.
        request: &'static str,
        /// The answer.
        answer: String,
    },
    /// The server says no, and why.
    #[error("memcached refuses {request}: {answer}")]
    Refused {
        /// What was asked.
        request: &'static str,
        /// `Error`, `ClientError`, `ServerError`, `Busy` or `Locked`.
        answer: Response,
    },
    /// The server's version is none.
    #[error("memcached's version cannot be read")]
    Version(#[source] VersionError),
    /// The server's statistics lack something.
    #[error("memcached's statistics cannot be read")]
    Stats(#[source] StatsError),
    /// An earlier call left this connection in the middle of an answer: make a new one.
    #[error("this connection to memcached is of no more use: {0}")]
    Broken(Broken),
}

/// What made a connection useless: an answer might now be taken for that to another question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Broken {
    /// See [`Error::Deadline`].
    #[error("an earlier answer did not come in time")]
    Deadline,
    /// See [`Error::Stream`].
    #[error("it failed earlier")]
    Stream,
    /// See [`Error::Protocol`].
    #[error("an earlier answer could not be read")]
    Protocol,
    /// See [`Error::Unexpected`].
    #[error("an earlier answer was one to something else")]
    Unexpected,
    /// The server refused a `set` without having read the value, which it may now read as commands.
    #[error("an earlier value was refused before it was read")]
    ValueRefused,
    /// The future of an earlier call was dropped before it had its answer.
    #[error("an earlier call was given up before its answer")]
    GivenUp,
}
