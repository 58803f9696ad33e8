//! The HTTPS server: accepts, shakes hands, and hands requests on. Owns the bounds on connections; what a
//! request may cost is [`super::answer`]'s.
//!
//! HTTP/1.1 only, as Kubebuilder's programs have it: HTTP/2 lets one connection ask for any amount of work.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::ServerConfig;
use rustls::server::NoServerSessionStorage;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
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

/// Answers until it is dropped.
pub(crate) async fn serve(listener: TcpListener, current: Arc<Current>, routes: Arc<Routes>) {
    let Some(acceptor) = acceptor(current) else { return };
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let place = places.clone().acquire_owned().await.ok(); // nobody closes it
        match listener.accept().await {
            Ok((stream, _)) => {
                let (acceptor, routes) = (acceptor.clone(), routes.clone());
                connections.spawn(async move {
                    let _place = place;
                    connection(stream, acceptor, routes).await;
                });
            }
            Err(error) => {
                warn!(%error, "cannot accept a connection to the webhooks");
                sleep(PAUSE).await;
            }
        }
        while connections.try_join_next().is_some() {}
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

async fn connection(stream: TcpStream, acceptor: TlsAcceptor, routes: Arc<Routes>) {
    let _ = stream.set_nodelay(true);
    let stream = match timeout(HANDSHAKE, acceptor.accept(stream)).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => return debug!(%error, "no handshake"),
        Err(_) => return debug!("no handshake within {HANDSHAKE:?}"),
    };
    let was_used = AtomicBool::new(false);
    let service = service_fn(|request| {
        was_used.store(true, Ordering::Relaxed);
        routes.answer(request)
    });
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(IDLE).max_buf_size(BUFFER);
    let serving = builder.serve_connection(TokioIo::new(Stall::new(stream)), service);
    let unused = async {
        sleep(FIRST_REQUEST).await;
        if was_used.load(Ordering::Relaxed) {
            std::future::pending::<()>().await;
        }
    };
    tokio::select! {
        ended = serving => if let Err(error) = ended {
            debug!(%error, "a connection to the webhooks ended");
        },
        () = unused => debug!("nothing was asked within {FIRST_REQUEST:?}"),
    }
}
