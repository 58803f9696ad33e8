//! A program's say in what happens to each request and each event of a watch.
//!
//! Owns what a [`Hook`] sees and what it may decide. Does no IO; `exchange` and `stream` do what it says.

use std::fmt;
use std::time::Duration;

use http::{Method, Response, StatusCode};
use hyper::body::Bytes;
use serde::Deserialize;
use serde_json::Value;

/// A request of the client.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `GET`, `PATCH`, …
    pub method: Method,
    /// The path without the query.
    pub path: String,
    /// The query, or nothing.
    pub query: String,
    /// What is sent with it; nothing for a watch.
    pub body: Bytes,
}

/// One event of a watch.
#[derive(Clone, Debug, Deserialize)]
pub struct Event {
    /// `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`.
    #[serde(rename = "type")]
    pub type_: String,
    /// The object that it is about.
    pub object: Value,
}

impl Event {
    /// Which object it is about: the same for all events of one object, also of one created anew.
    pub fn key(&self) -> (Option<&str>, Option<&str>) {
        let metadata = &self.object["metadata"];
        (metadata["namespace"].as_str(), metadata["name"].as_str())
    }

    /// The version that the client has seen with it.
    pub fn version(&self) -> Option<&str> {
        self.object["metadata"]["resourceVersion"].as_str()
    }
}

/// What happens to a request.
#[derive(Debug)]
pub enum RequestFault {
    /// It is sent, and its answer comes back.
    Pass,
    /// It waits that long before it is sent.
    Delay(Duration),
    /// It is not sent, and the client's connection is closed.
    Close,
    /// It is not sent, and answered with this.
    Answer(Response<Bytes>),
    /// It is sent and done; the client's connection is closed without the answer.
    LoseAnswer,
    /// It is sent and done, and the client gets this answer to it.
    AnswerInstead(Response<Bytes>),
    /// It is sent and done; the client gets half of the answer's body before its connection is closed.
    Truncate,
    /// It is sent and done; the answer's body comes one byte after each pause, thirty times, then the rest.
    Slow(Duration),
    /// The client's connection is closed at once, and the request is sent that much later, when nobody
    /// expects it any more.
    Late(Duration),
}

/// What happens to an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventFault {
    /// It is handed on.
    Pass,
    /// It is not.
    Drop,
    /// It and all behind it wait that long.
    Delay(Duration),
    /// It is handed on twice.
    Duplicate,
    /// It is handed on after the next one, or after a second if none comes.
    Reorder,
    /// It is held until another event of the same object makes it obsolete; if none comes in that time, the
    /// watch ends with 410.
    Hide(Duration),
    /// For that long the client gets a bookmark, and no event; then what was held.
    Bookmarks(Duration),
    /// In its place the watch ends with "410 Gone, Expired".
    Expire,
    /// In its place the connection is closed without a good-bye.
    Disconnect,
}

/// Decides what happens. Called for every request and event while it is set, from several connections at
/// the same time; it must not block.
pub trait Hook: Send + Sync {
    /// The client asks; nothing has been sent yet.
    fn request(&self, asked: &Asked) -> RequestFault {
        let _ = asked;
        RequestFault::Pass
    }

    /// The API server has answered; the client has not heard it yet. Not called for watches that begin.
    fn answered(&self, asked: &Asked, status: StatusCode, body: &Bytes) {
        let _ = (asked, status, body);
    }

    /// The whole answer was given to the client's connection.
    fn handed(&self, asked: &Asked) {
        let _ = asked;
    }

    /// An event of a watch has come.
    fn event(&self, watch: &Asked, event: &Event) -> EventFault {
        let _ = (watch, event);
        EventFault::Pass
    }
}

/// Why the client's connection ends.
#[derive(Debug)]
pub(super) enum Broken {
    /// HTTP failed, on either side.
    Http(hyper::Error),
    /// A hook wanted it.
    OnPurpose,
}

impl fmt::Display for Broken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http(_) => formatter.write_str("the exchange failed"),
            Self::OnPurpose => formatter.write_str("closed on purpose"),
        }
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Http(error) => Some(error),
            Self::OnPurpose => None,
        }
    }
}

impl From<hyper::Error> for Broken {
    fn from(error: hyper::Error) -> Self {
        Self::Http(error)
    }
}
