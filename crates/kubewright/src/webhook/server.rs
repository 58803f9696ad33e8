//! The HTTPS server: accepts, shakes hands, and hands requests on. Owns the bounds on connections; what a
//! request may cost is [`super::answer`]'s.
//!
//! HTTP/1.1 only, as Kubebuilder's programs have it: HTTP/2 lets one connection ask for any amount of work.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderValue;
use http::header::CONNECTION;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::server::NoServerSessionStorage;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsAcceptor;
use tracing::{debug, warn};

use super::answer::Routes;
use super::certificate::{Current, provider};
use super::stall::Stall;

/// So many at a time, each some ten kilobytes; the rest wait in the kernel.
const CONNECTIONS: usize = 1024;
/// How long a client may take to say who it is, and then to ask for something.
const HANDSHAKE: Duration = Duration::from_secs(5);
const FIRST_REQUEST: Duration = Duration::from_secs(10);
/// How long a connection may be idle that has been used. Longer than the 90 s of the API server: if both end
/// it at the same moment, a call may be lost.
const IDLE: Duration = Duration::from_mins(2);
/// A call of the API server has less than 1 kB of headers.
const BUFFER: usize = 64 << 10;
/// After an accept that failed: files have run out, and come back.
const PAUSE: Duration = Duration::from_millis(200);

/// How far the server's end has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Phase {
    Open,
    /// Every connection ends with its next answer, so that the next call looks for somebody else.
    Leaving,
    /// Calls under way are answered, and nobody is let in.
    Closed,
}

/// Answers until it is dropped, or closed and all calls are answered.
pub(crate) async fn serve(
    listener: TcpListener,
    current: Arc<Current>,
    routes: Arc<Routes>,
    phase: watch::Receiver<Phase>,
) {
    let Some(acceptor) = acceptor(current) else { return };
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let next = async {
            let place = places.clone().acquire_owned().await.ok(); // nobody closes it
            (place, listener.accept().await)
        };
        let (place, accepted) = tokio::select! {
            next = next => next,
            () = until(phase.clone(), Phase::Closed) => break,
        };
        match accepted {
            Ok((stream, _)) => {
                let (acceptor, routes, phase) = (acceptor.clone(), routes.clone(), phase.clone());
                connections.spawn(async move {
                    let _place = place;
                    connection(stream, acceptor, routes, phase).await;
                });
            }
            Err(error) => {
                warn!(%error, "cannot accept a connection to the webhooks");
                sleep(PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
    }
    drop(listener);
    while connections.join_next().await.is_some() {}
}

/// Resolves when the end has come so far.
async fn until(mut phase: watch::Receiver<Phase>, wanted: Phase) {
    if phase.wait_for(|phase| *phase >= wanted).await.is_err() {
        std::future::pending::<()>().await; // nobody is there any more who could end it
    }
}

fn acceptor(current: Arc<Current>) -> Option<TlsAcceptor> {
    let builder =
        ServerConfig::builder_with_provider(provider()).with_safe_default_protocol_versions();
    let mut config = match builder {
        Ok(builder) => builder.with_no_client_auth().with_cert_resolver(current),
        Err(error) => {
            warn!(%error, "cannot serve the webhooks"); // no known protocol: cannot happen with ring's
            return None;
        }
    };
    // The API server resumes no session; what is kept for others is wasted.
    config.session_storage = Arc::new(NoServerSessionStorage {});
    config.send_tls13_tickets = 0;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Some(TlsAcceptor::from(Arc::new(config)))
}

async fn connection(
    stream: TcpStream,
    acceptor: TlsAcceptor,
    routes: Arc<Routes>,
    phase: watch::Receiver<Phase>,
) {
    let _ = stream.set_nodelay(true);
    let stream = match timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return debug!(%error, "no handshake"),
        Err(_) => return debug!("no handshake within {HANDSHAKE:?}"),
    };
    let was_used = AtomicBool::new(false);
    let service = service_fn(async |request| {
        was_used.store(true, Ordering::Relaxed);
        let mut answer = routes.answer(request).await;
        if let Ok(answer) = &mut answer
            && *phase.borrow() >= Phase::Leaving
        {
            answer.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        }
        answer
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(BUFFER);
    let mut serving = pin!(builder.serve_connection(TokioIo::new(Stall::new(stream)), service));
    let unused = async {
        let _ = timeout(FIRST_REQUEST, until(phase.clone(), Phase::Closed)).await;
        if was_used.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
    let leaving = async {
        until(phase.clone(), Phase::Leaving).await;
        if !was_used.load(Ordering::Relaxed) {
            std::future::pending::<()>().await; // its first call is about to come
        }
    };
    tokio::select! {
        ended = serving.as_mut() => return told(ended),
        () = unused => return debug!("nothing was asked within {FIRST_REQUEST:?}"),
        () = leaving => serving.as_mut().graceful_shutdown(),
    }
    told(serving.await);
}

fn told(ended: hyper::Result<()>) {
    if let Err(error) = ended {
        debug!(%error, "a connection to the webhooks ended");
    }
}
