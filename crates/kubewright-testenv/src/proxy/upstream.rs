//! Connections to the API server: TCP, TLS with the configured identity, HTTP/1.1.
//!
//! Opens them and drives them; does not decide what is sent.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::faults::{Faults, Generation};
use super::{ProxyConfig, ProxyError, tls};

/// On loopback a connection is there in milliseconds. An API server that is stopped still has its
/// socket open, and would be waited for without end.
const CONNECT_LIMIT: Duration = Duration::from_secs(5);

/// Why a request could not be sent. The client reads it in the 502.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("the API server at {0} did not take a connection within {CONNECT_LIMIT:?}")]
    Timeout(SocketAddr),
    #[error("cannot connect to the API server at {0}")]
    Tcp(SocketAddr, #[source] io::Error),
    #[error("cannot agree on TLS with the API server at {0}")]
    Tls(SocketAddr, #[source] io::Error),
    #[error("cannot start HTTP with the API server at {0}")]
    Http(SocketAddr, #[source] hyper::Error),
}

impl ConnectError {
    /// The answer to a request that was not sent, in the form that Kubernetes clients understand.
    pub(super) fn response(&self) -> Response<Full<Bytes>> {
        let status = serde_json::json!({
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.with_causes(),
            "reason": "InternalError",
            "code": StatusCode::BAD_GATEWAY.as_u16(),
        });
        let mut response = Response::new(Full::from(status.to_string()));
        *response.status_mut() = StatusCode::BAD_GATEWAY;
        let json = HeaderValue::from_static("application/json");
        response.headers_mut().insert(CONTENT_TYPE, json);
        response
    }

    fn with_causes(&self) -> String {
        let mut text = self.to_string();
        let mut cause = self.source();
        while let Some(error) = cause {
            text.push_str(": ");
            text.push_str(&error.to_string());
            cause = error.source();
        }
        text
    }
}

pub(super) type RequestBody = UnsyncBoxBody<Bytes, hyper::Error>;
type Connection = http1::Connection<TokioIo<TlsStream<TcpStream>>, RequestBody>;

/// How to reach the API server.
pub(super) struct Upstream {
    address: SocketAddr,
    name: ServerName<'static>,
    connector: TlsConnector,
}

/// A connection to the API server, closed when dropped.
pub(super) struct Session {
    sender: SendRequest<RequestBody>,
    _driver: JoinSet<()>,
}

impl Upstream {
    pub(super) fn new(config: &ProxyConfig) -> Result<Self, ProxyError> {
        let name = ServerName::try_from(config.upstream_name.clone()).map_err(|source| {
            ProxyError::UpstreamName { name: config.upstream_name.clone(), source }
        })?;
        let connector = tls::connector(&config.ca, config.client.as_ref())?;
        Ok(Self { address: config.upstream, name, connector })
    }

    /// Opens a connection that ends with those of `generation`.
    pub(super) async fn connect(
        &self,
        faults: &Arc<Faults>,
        generation: Generation,
    ) -> Result<Session, ConnectError> {
        let handshake = tokio::time::timeout(CONNECT_LIMIT, self.handshake());
        let (sender, connection) =
            handshake.await.map_err(|_| ConnectError::Timeout(self.address))??;
        let faults = Arc::clone(faults);
        let mut driver = JoinSet::new();
        driver.spawn(async move {
            // How a connection ended shows in the request that was using it.
            let exchange = async { drop(connection.with_upgrades().await) };
            faults.until_cut(generation, exchange).await;
        });
        Ok(Session { sender, _driver: driver })
    }

    async fn handshake(&self) -> Result<(SendRequest<RequestBody>, Connection), ConnectError> {
        let address = self.address;
        let tcp = |source| ConnectError::Tcp(address, source);
        let stream = TcpStream::connect(address).await.map_err(tcp)?;
        stream.set_nodelay(true).map_err(tcp)?;
        let stream = self.connector.connect(self.name.clone(), stream).await;
        let stream = stream.map_err(|source| ConnectError::Tls(address, source))?;
        let handshake = http1::handshake(TokioIo::new(stream)).await;
        handshake.map_err(|source| ConnectError::Http(address, source))
    }
}

impl Session {
    /// Waits until the answer before this is done with. False if the API server has closed the
    /// connection since.
    pub(super) async fn is_open(&mut self) -> bool {
        self.sender.ready().await.is_ok()
    }

    pub(super) async fn send(
        &mut self,
        request: Request<RequestBody>,
    ) -> hyper::Result<Response<Incoming>> {
        self.sender.send_request(request).await
    }
}
