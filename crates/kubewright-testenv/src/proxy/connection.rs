//! One connection of the client: its requests go, one after another, over one connection of its own
//! to the API server, and the answers come back as they are.
//!
//! Owns the way of a request through the proxy. Both bodies are streamed and never collected. What
//! fails once a request is on its way closes the client's connection: that is what the client would
//! see without a proxy, and whether the request took effect is as unknown as it would be then.

use std::sync::atomic::Ordering;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use http::response::Parts;
use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Body as _, Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::{self, OnUpgrade};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::Shared;
use super::faults::Generation;
use super::hook::Broken;
use super::upstream::{ConnectError, Session};
use super::watch::{self, WatchBody};

/// A client on loopback greets at once; one that never does must not keep its task alive.
const GREETING_LIMIT: Duration = Duration::from_secs(5);

pub(super) type ReplyBody = UnsyncBoxBody<Bytes, Broken>;

/// Serves `client` until it leaves, the API server fails it, or its `generation` is cut.
pub(super) async fn serve(client: TcpStream, shared: Arc<Shared>, generation: Generation) {
    let faults = Arc::clone(&shared.faults);
    let connection =
        Connection { shared, generation, session: Mutex::default(), upgraded: OnceLock::new() };
    // `None`: something failed. The client has noticed, and nobody else is there to be told.
    let work = async { connection.run(client).await.unwrap_or_default() };
    faults.until_cut(generation, work).await;
}

pub(super) struct Connection {
    pub(super) shared: Arc<Shared>,
    pub(super) generation: Generation,
    /// None until the first request, and anew after the API server has closed it.
    pub(super) session: Mutex<Option<Session>>,
    /// Client and API server, once they have left HTTP (exec, port-forward): then bytes, both ways.
    upgraded: OnceLock<(OnUpgrade, OnUpgrade)>,
}

impl Connection {
    async fn run(self, client: TcpStream) -> Option<()> {
        client.set_nodelay(true).ok()?;
        let greeting = tokio::time::timeout(GREETING_LIMIT, self.shared.acceptor().accept(client));
        let client = TokioIo::new(greeting.await.ok()?.ok()?);
        let service = service_fn(|request| self.forward(request));
        http1::Builder::new().serve_connection(client, service).with_upgrades().await.ok()?;
        let (client, server) = self.upgraded.into_inner()?;
        let mut client = TokioIo::new(client.await.ok()?);
        let mut server = TokioIo::new(server.await.ok()?);
        tokio::io::copy_bidirectional(&mut client, &mut server).await.ok()?;
        Some(())
    }

    async fn forward(&self, mut request: Request<Incoming>) -> Result<Response<ReplyBody>, Broken> {
        self.shared.faults.hold(Instant::now()).await;
        if let Some(hook) = self.shared.hook() {
            return self.hooked(request, hook).await;
        }
        let is_watch = watch::is_requested_by(&request);
        let client = upgrade::on(&mut request);
        let mut slot = self.session.lock().await;
        let session = match self.open(&mut slot).await {
            Ok(session) => session,
            Err(error) => return Ok(refusal(&error)),
        };
        self.shared.requests.fetch_add(1, Ordering::Relaxed);
        let mut response = session.send(request.map(BodyExt::boxed_unsync)).await?;
        if response.status() == StatusCode::SWITCHING_PROTOCOLS {
            // Set before only if this was so before, and then the connection is no longer HTTP.
            self.upgraded.set((client, upgrade::on(&mut response))).ok();
        }
        let is_stream = response.body().size_hint().exact().is_none();
        if is_watch && is_stream && response.status() == StatusCode::OK {
            return Ok(self.watched(response));
        }
        Ok(response.map(|body| body.map_err(Broken::Http).boxed_unsync()))
    }

    /// The connection to the API server: the one that is there, if it still is, else a new one.
    pub(super) async fn open<'a>(
        &self,
        slot: &'a mut Option<Session>,
    ) -> Result<&'a mut Session, ConnectError> {
        if let Some(mut session) = slot.take()
            && session.is_open().await
        {
            return Ok(slot.insert(session));
        }
        let shared = &self.shared;
        let session = shared.upstream.connect(&shared.faults, self.generation).await?;
        Ok(slot.insert(session))
    }

    fn watched(&self, response: Response<Incoming>) -> Response<ReplyBody> {
        let (head, body) = self.watch_parts(response);
        Response::from_parts(head, body.map_err(Broken::Http).boxed_unsync())
    }

    /// The head, and the events as the faults of the whole proxy leave them.
    pub(super) fn watch_parts(&self, response: Response<Incoming>) -> (Parts, WatchBody) {
        let faults = Arc::clone(&self.shared.faults);
        let expiry = faults.watch_begun(self.generation);
        let (head, body) = response.into_parts();
        let body = WatchBody::new(body, &head.headers, faults, expiry);
        (head, body)
    }
}

pub(super) fn refusal(error: &ConnectError) -> Response<ReplyBody> {
    error.response().map(|body| body.map_err(|never| match never {}).boxed_unsync())
}
