//! One conversation with one server over any stream: a question, its whole answer, the next question,
//! each within a deadline. Keeps no pool, opens nothing again, repeats nothing.

use std::fmt::Display;
use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, ToSocketAddrs};
use tokio::time::timeout;

use crate::error::{Broken, Error};
use crate::protocol::{Decoder, LARGEST_VALUE, LONGEST_LINE, Request, Response};
use crate::stats::Stats;
use crate::version::Version;

/// How long a call may take unless said otherwise: memcached answers within a millisecond, so two
/// seconds are for a busy machine and a packet or two that is sent again.
pub const DEFAULT_DEADLINE: Duration = Duration::from_secs(2);

/// What all items of one answer may take together: one value of the largest kind, or more than
/// 150,000 statistics, where the report of 10,000 connections has 50,000.
const LARGEST_ANSWER: usize = LARGEST_VALUE + LONGEST_LINE;

/// What an item takes beside its bytes.
const ITEM: usize = size_of::<Response>();

/// A connection to one server.
///
/// # Guarantees
/// - Every call ends within the deadline.
/// - After an error that leaves it unclear what comes next, and after a call that was dropped before
///   its end, every later call fails with [`Error::Broken`].
#[derive(Debug)]
pub struct Connection<S> {
    stream: S,
    decoder: Decoder,
    deadline: Duration,
    broken: Option<Broken>,
}

/// The items of an answer, and what ends it.
struct Answer {
    items: Vec<Response>,
    last: Response,
}

impl Connection<TcpStream> {
    /// Connects to `10.0.0.1:11211` or `name:11211`. Looking up the name and connecting take at most
    /// `deadline`, and so does every call later.
    pub async fn connect<A>(address: A, deadline: Duration) -> Result<Self, Error>
    where
        A: ToSocketAddrs + Display,
    {
        let name = address.to_string();
        let connected = timeout(deadline, async {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(stream)
        });
        match connected.await {
            Ok(Ok(stream)) => Ok(Self::over(stream).with_deadline(deadline)),
            Ok(Err(source)) => Err(Error::Connect { address: name, source }),
            Err(_) => Err(Error::ConnectDeadline { address: name, deadline }),
        }
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// A connection over a stream that leads to a server and on which nothing was said yet.
    pub fn over(stream: S) -> Self {
        Self { stream, decoder: Decoder::new(), deadline: DEFAULT_DEADLINE, broken: None }
    }

    /// The same with another deadline for every call.
    #[must_use]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Why every further call will fail; `None` if the connection can be used.
    pub fn broken(&self) -> Option<Broken> {
        self.broken
    }

    /// The value of a key, if there is one.
    pub async fn get(&mut self, key: impl AsRef<[u8]>) -> Result<Option<Vec<u8>>, Error> {
        let key = key.as_ref();
        let Answer { mut items, last } = self.ask("get", Request::Get { key }).await?;
        match (items.pop(), last) {
            (None, Response::End) => Ok(None),
            (Some(Response::Value(value)), Response::End)
                if items.is_empty() && value.key == key =>
            {
                Ok(Some(value.data))
            }
            (item, last) => Err(self.unexpected("get", &item.unwrap_or(last))),
        }
    }

    /// Keeps a value under a key, for a time or until memcached needs the room.
    pub async fn set(
        &mut self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        lifetime: Option<Duration>,
    ) -> Result<(), Error> {
        let request = Request::Set { key: key.as_ref(), value: value.as_ref(), lifetime };
        let answer = self.ask("set", request).await.inspect_err(|error| {
            if let Error::Refused {
                answer: Response::Error(_) | Response::ClientError(_), ..
            } = error
            {
                self.broken = Some(Broken::ValueRefused);
            }
        })?;
        match answer.alone() {
            Ok(Response::Stored) => Ok(()),
            Ok(other) | Err(other) => Err(self.unexpected("set", &other)),
        }
    }

    /// Forgets a key. False if there was none.
    pub async fn delete(&mut self, key: impl AsRef<[u8]>) -> Result<bool, Error> {
        match self.ask("delete", Request::Delete { key: key.as_ref() }).await?.alone() {
            Ok(Response::Deleted) => Ok(true),
            Ok(Response::NotFound) => Ok(false),
            Ok(other) | Err(other) => Err(self.unexpected("delete", &other)),
        }
    }

    /// The version of the server.
    pub async fn version(&mut self) -> Result<Version, Error> {
        match self.ask("version", Request::Version).await?.alone() {
            Ok(Response::Version(text)) => text.parse().map_err(Error::Version),
            Ok(other) | Err(other) => Err(self.unexpected("version", &other)),
        }
    }

    /// The general statistics.
    pub async fn stats(&mut self) -> Result<Stats, Error> {
        let report = self.report_of(None).await?;
        Stats::try_from(report).map_err(Error::Stats)
    }

    /// Another report of statistics by its name (`settings`, `items`, `slabs`, `conns`, …), as the server
    /// orders it. `reset` sets the counters to zero and reports nothing.
    pub async fn report(&mut self, name: &str) -> Result<Vec<(String, String)>, Error> {
        self.report_of(Some(name)).await
    }

    async fn report_of(&mut self, report: Option<&str>) -> Result<Vec<(String, String)>, Error> {
        let Answer { items, last } = self.ask("stats", Request::Stats { report }).await?;
        if !matches!(last, Response::End | Response::Reset) {
            return Err(self.unexpected("stats", &last));
        }
        let pairs = items.into_iter().map(|item| match item {
            Response::Stat { name, value } => Ok((name, value)),
            other => Err(other),
        });
        pairs.collect::<Result<_, _>>().map_err(|other| self.unexpected("stats", &other))
    }

    /// The whole answer to a request, unless it is a refusal.
    async fn ask(&mut self, name: &'static str, request: Request<'_>) -> Result<Answer, Error> {
        if let Some(broken) = self.broken {
            return Err(Error::Broken(broken));
        }
        let bytes = request.encode().map_err(|source| Error::Request { request: name, source })?;
        // Stays if this future is dropped: the answer would be taken for that to the next question.
        self.broken = Some(Broken::GivenUp);
        let deadline = self.deadline;
        let answer = match timeout(deadline, self.exchange(name, &bytes)).await {
            Ok(answer) => answer,
            Err(_) => Err(Error::Deadline { request: name, deadline }),
        };
        self.broken = answer.as_ref().err().map(cause);
        match answer?.refusal() {
            Ok(answer) => Ok(answer),
            Err(answer) => Err(Error::Refused { request: name, answer }),
        }
    }

    async fn exchange(&mut self, request: &'static str, bytes: &[u8]) -> Result<Answer, Error> {
        let failed = |source| Error::Stream { request, source };
        self.stream.write_all(bytes).await.map_err(failed)?;
        self.stream.flush().await.map_err(failed)?;
        let mut piece = vec![0; LONGEST_LINE];
        let (mut items, mut size) = (Vec::new(), 0);
        loop {
            let read = self.stream.read(&mut piece).await.map_err(failed)?;
            if read == 0 {
                return Err(failed(io::ErrorKind::UnexpectedEof.into()));
            }
            self.decoder.push(&piece[..read]);
            let protocol = |source| Error::Protocol { request, source };
            while let Some(response) = self.decoder.response().map_err(protocol)? {
                size += ITEM
                    + match &response {
                        Response::Value(value) => value.data.len(),
                        Response::Stat { name, value } => name.len() + value.len(),
                        _ if self.decoder.is_empty() => {
                            return Ok(Answer { items, last: response });
                        }
                        _ => return Err(too_much(request)),
                    };
                if size > LARGEST_ANSWER {
                    return Err(too_much(request));
                }
                items.push(response);
            }
        }
    }

    fn unexpected(&mut self, request: &'static str, answer: &Response) -> Error {
        self.broken = Some(Broken::Unexpected);
        Error::Unexpected { request, answer: answer.to_string() }
    }
}

impl Answer {
    /// The answer that has no items; else the first item.
    fn alone(self) -> Result<Response, Response> {
        match self.items.into_iter().next() {
            None => Ok(self.last),
            Some(item) => Err(item),
        }
    }

    /// The refusal, as an error, if the answer is one.
    fn refusal(self) -> Result<Self, Response> {
        match self.last {
            Response::Error(_)
            | Response::ClientError(_)
            | Response::ServerError(_)
            | Response::Busy(_)
            | Response::Locked => Err(self.last),
            _ => Ok(self),
        }
    }
}

/// More came than an answer can be.
fn too_much(request: &'static str) -> Error {
    Error::Unexpected { request, answer: "more than one answer".to_owned() }
}

fn cause(error: &Error) -> Broken {
    match error {
        Error::Deadline { .. } => Broken::Deadline,
        Error::Protocol { .. } => Broken::Protocol,
        Error::Unexpected { .. } => Broken::Unexpected,
        _ => Broken::Stream,
    }
}
