//! A proxy with faults between one client and a real kube-apiserver: delays, cuts, expired watches.
//!
//! Owns the listener, the handle and what the caller says in [`ProxyConfig`]. Each fault is a state
//! of the whole proxy: one proxy per client makes it a fault of that client only. A [`Hook`] decides on
//! single requests and events. Without one it never answers in the API server's place, except to say
//! that it could not be reached (502); never stores or changes an object.
//!
//! Caveats: who can reach the port acts with the identity of [`ProxyConfig::client`], so the proxy
//! listens on loopback only. A watch over a WebSocket passes as opaque bytes and is not a watch here.

mod connection;
mod exchange;
mod faults;
pub mod hook;
mod stream;
#[cfg(test)]
mod tests;
mod tls;
mod upstream;
mod watch;

use std::fmt;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rustls::pki_types::{InvalidDnsNameError, pem};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;

use faults::Faults;
use hook::Hook;
use upstream::Upstream;

/// Pause after a failed accept: out of file descriptors, for one, it fails again at once, and
/// without a pause the loop would take a whole core.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// A certificate chain and the key of its first certificate, both PEM.
#[derive(Clone)]
pub struct Identity {
    /// The certificate, followed by those between it and the authority, if any.
    pub certificate_chain: String,
    /// The private key of the first certificate.
    pub key: String,
}

/// Between whom a proxy stands.
#[derive(Clone)]
pub struct ProxyConfig {
    /// What the proxy shows to its client: a certificate for `127.0.0.1`.
    pub server: Identity,
    /// The authority that the API server's certificate must come from, PEM.
    pub ca: String,
    /// What the proxy shows to the API server, whoever its client is. `None` for a client with a
    /// token: the API server looks at a certificate first, and would not read the token.
    pub client: Option<Identity>,
    /// Where the API server listens.
    pub upstream: SocketAddr,
    /// The name (or address) that the API server's certificate must be for.
    pub upstream_name: String,
}

/// Why a proxy did not start.
#[derive(Debug, thiserror::Error)]
pub enum ProxyError {
    /// No port on loopback, or no file descriptor left.
    #[error("cannot listen on a port of 127.0.0.1 for the proxy")]
    Listen(#[source] io::Error),
    /// Text that should be PEM is not, or holds something else.
    #[error("cannot read {what} of the proxy as PEM")]
    Pem {
        /// Which text.
        what: &'static str,
        /// What is wrong with it.
        #[source]
        source: pem::Error,
    },
    /// The PEM is fine, what it holds is of no use for TLS: a key that belongs to another
    /// certificate, for one.
    #[error("cannot use {what} of the proxy for TLS")]
    Tls {
        /// Which part.
        what: &'static str,
        /// What is wrong with it.
        #[source]
        source: rustls::Error,
    },
    /// The API server's name is neither a DNS name nor an address.
    #[error("cannot expect an API server certificate for the name {name:?}")]
    UpstreamName {
        /// The name as given.
        name: String,
        /// What is wrong with it.
        #[source]
        source: InvalidDnsNameError,
    },
}

/// A running proxy. Clones are handles of the same one; with the last handle it ends, and with it
/// its port and all its connections.
#[derive(Clone)]
pub struct Proxy {
    handle: Arc<Handle>,
}

impl Proxy {
    /// Listens on a free port of 127.0.0.1 and forwards, without faults at first. The proxy lives on
    /// the tokio runtime that this is awaited on.
    pub async fn start(config: ProxyConfig) -> Result<Self, ProxyError> {
        let shared = Arc::new(Shared {
            faults: Arc::new(Faults::default()),
            requests: AtomicU64::new(0),
            hook: RwLock::default(),
            acceptor: RwLock::new(tls::acceptor(&config.server)?),
            upstream: Upstream::new(&config)?,
        });
        let listener =
            TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(ProxyError::Listen)?;
        let address = listener.local_addr().map_err(ProxyError::Listen)?;
        let mut acceptor = JoinSet::new();
        acceptor.spawn(accept(listener, Arc::clone(&shared)));
        Ok(Self { handle: Arc::new(Handle { address, shared, _acceptor: acceptor }) })
    }

    /// Where the client finds the proxy.
    pub fn address(&self) -> SocketAddr {
        self.handle.address
    }

    /// From now on each request waits that long before it is sent on, and each part of a watch
    /// before it is handed back: later, but as fast after one another as they came. What waits
    /// already, waits by the new length.
    pub fn delay(&self, delay: Duration) {
        self.handle.shared.faults.delay(delay);
    }

    /// Drops all connections, without a good-bye to either side, and closes new ones as soon as
    /// they come, until [`Self::heal`].
    pub fn cut(&self) {
        self.handle.shared.faults.cut();
    }

    /// Takes new connections again and forgets the delay. What was cut stays cut.
    pub fn heal(&self) {
        self.handle.shared.faults.heal();
    }

    /// Ends every watch that is open now with the event for "410 Gone, Expired", after which a client
    /// must list anew, and returns how many there were. Events that [`Self::delay`] still held are
    /// lost. A watch that is not in JSON ends without the event.
    pub fn expire_watches(&self) -> usize {
        self.handle.shared.faults.expire_watches()
    }

    /// From now on `hook` decides on every request, and on every event of watches that begin from now on.
    /// Connections that leave HTTP (exec, port-forward) do not work then.
    pub fn set_hook(&self, hook: Option<Arc<dyn Hook>>) {
        *self.handle.shared.hook.write().unwrap_or_else(PoisonError::into_inner) = hook;
    }

    /// From now on new connections are shown another certificate, as those of an API server whose keys were
    /// replaced are. Connections that are there stay; [`Self::cut`] ends them.
    pub fn show(&self, server: &Identity) -> Result<(), ProxyError> {
        let acceptor = tls::acceptor(server)?;
        *self.handle.shared.acceptor.write().unwrap_or_else(PoisonError::into_inner) = acceptor;
        Ok(())
    }

    /// How many requests were sent on to the API server since the start.
    pub fn requests(&self) -> u64 {
        self.handle.shared.requests.load(Ordering::Relaxed)
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Proxy").field("address", &self.address()).finish_non_exhaustive()
    }
}

/// What all clones of a [`Proxy`] share, and nothing else holds: the tasks end when it is dropped.
struct Handle {
    address: SocketAddr,
    shared: Arc<Shared>,
    _acceptor: JoinSet<()>,
}

/// What all connections of a proxy share.
struct Shared {
    faults: Arc<Faults>,
    requests: AtomicU64,
    hook: RwLock<Option<Arc<dyn Hook>>>,
    acceptor: RwLock<TlsAcceptor>,
    upstream: Upstream,
}

impl Shared {
    fn acceptor(&self) -> TlsAcceptor {
        self.acceptor.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn hook(&self) -> Option<Arc<dyn Hook>> {
        self.hook.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((client, _)) => {
                    if let Some(generation) = shared.faults.admit() {
                        connections.spawn(connection::serve(client, Arc::clone(&shared), generation));
                    }
                }
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
