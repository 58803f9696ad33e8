//! An upstream that speaks real TLS and HTTP, whose watch says what the test says; and a client.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use http::header::{AUTHORIZATION, CONNECTION, CONTENT_TYPE, UPGRADE};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::client::conn::http1::SendRequest;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::super::{Identity, Proxy, ProxyConfig, tls};

pub(super) const WATCH: &str = "/api/v1/pods?watch=true&resourceVersion=7";
pub(super) const WHO_AM_I: &str = "/whoami";
pub(super) const ECHO: &str = "/echo";

pub(super) struct Fixture {
    pub(super) proxy: Proxy,
    /// What the upstream's watch says next.
    pub(super) events: mpsc::Sender<Bytes>,
    /// What the upstream must see as the client's certificate.
    pub(super) certificate: CertificateDer<'static>,
    ca: String,
    /// The upstream lives as long as this.
    upstream: JoinSet<()>,
}

impl Fixture {
    pub(super) async fn start() -> Self {
        let authority = authority();
        let (server, client) = (issue(&authority), issue(&authority));
        let (events, said) = mpsc::channel(8);
        let mut upstream = JoinSet::new();
        let config = ProxyConfig {
            server: server.clone(),
            ca: authority.pem(),
            client: Some(client.clone()),
            upstream: serve(&mut upstream, acceptor(&server, authority.der()), said).await,
            upstream_name: "127.0.0.1".to_owned(),
        };
        Self {
            proxy: Proxy::start(config).await.unwrap(),
            events,
            certificate: CertificateDer::from_pem_slice(client.certificate_chain.as_bytes())
                .unwrap(),
            ca: authority.pem(),
            upstream,
        }
    }

    pub(super) async fn say(&self, text: &'static str) {
        self.events.send(Bytes::from_static(text.as_bytes())).await.unwrap();
    }

    pub(super) async fn stop_upstream(&mut self) {
        self.upstream.shutdown().await;
    }

    /// Drops all but the upstream.
    pub(super) fn into_upstream(self) -> JoinSet<()> {
        self.upstream
    }

    pub(super) async fn connect(&self) -> std::io::Result<Client> {
        let stream = TcpStream::connect(self.proxy.address()).await?;
        let connector = tls::connector(&self.ca, None).unwrap();
        let stream = connector.connect("127.0.0.1".try_into().unwrap(), stream).await?;
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
        let (sender, connection) = handshake.unwrap();
        tokio::spawn(connection.with_upgrades());
        Ok(Client { sender })
    }
}

pub(super) struct Client {
    sender: SendRequest<Empty<Bytes>>,
}

impl Client {
    pub(super) async fn get(&mut self, path: &str) -> hyper::Result<Response<Incoming>> {
        let request = Request::get(path).header(AUTHORIZATION, "Bearer abc").header("host", "h");
        self.send(request).await
    }

    pub(super) async fn send(
        &mut self,
        request: http::request::Builder,
    ) -> hyper::Result<Response<Incoming>> {
        self.sender.ready().await?;
        self.sender.send_request(request.body(Empty::new()).unwrap()).await
    }
}

/// The next piece of a stream as text; `None` at its proper end.
pub(super) async fn heard(body: &mut Incoming) -> Option<hyper::Result<String>> {
    let frame = body.frame().await?;
    Some(frame.map(|frame| String::from_utf8(frame.into_data().unwrap().to_vec()).unwrap()))
}

type Authority = CertifiedIssuer<'static, KeyPair>;

fn authority() -> Authority {
    let mut parameters = CertificateParams::default();
    parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(parameters, KeyPair::generate().unwrap()).unwrap()
}

fn issue(authority: &Authority) -> Identity {
    let key = KeyPair::generate().unwrap();
    let parameters = CertificateParams::new(["127.0.0.1".to_owned()]).unwrap();
    let certificate = parameters.signed_by(&key, authority).unwrap();
    Identity { certificate_chain: certificate.pem(), key: key.serialize_pem() }
}

fn acceptor(server: &Identity, ca: &CertificateDer<'static>) -> TlsAcceptor {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = RootCertStore::empty();
    roots.add(ca.clone()).unwrap();
    let roots = Arc::new(roots);
    let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider));
    let chain = CertificateDer::from_pem_slice(server.certificate_chain.as_bytes()).unwrap();
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_client_cert_verifier(verifier.build().unwrap())
        .with_single_cert(
            vec![chain],
            PrivateKeyDer::from_pem_slice(server.key.as_bytes()).unwrap(),
        );
    TlsAcceptor::from(Arc::new(config.unwrap()))
}

async fn serve(
    tasks: &mut JoinSet<()>,
    acceptor: TlsAcceptor,
    said: mpsc::Receiver<Bytes>,
) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let said = Arc::new(Mutex::new(Some(said)));
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        loop {
            let (stream, _) = listener.accept().await.unwrap();
            connections.spawn(converse(acceptor.clone(), stream, Arc::clone(&said)));
        }
    });
    address
}

type Said = Arc<Mutex<Option<mpsc::Receiver<Bytes>>>>;

async fn converse(acceptor: TlsAcceptor, stream: TcpStream, said: Said) {
    let stream: TlsStream<_> = acceptor.accept(stream).await.unwrap();
    let certificate = stream.get_ref().1.peer_certificates().unwrap()[0].clone();
    let service = service_fn(|request| {
        let response = answer(request, &certificate, &said);
        async { Ok::<_, Infallible>(response) }
    });
    let builder = hyper::server::conn::http1::Builder::new();
    builder.serve_connection(TokioIo::new(stream), service).with_upgrades().await.ok();
}

fn answer(
    mut request: Request<Incoming>,
    certificate: &CertificateDer<'_>,
    said: &Said,
) -> Response<UnsyncBoxBody<Bytes, Infallible>> {
    let response = Response::builder();
    match request.uri().path() {
        WHO_AM_I => response
            .header(AUTHORIZATION, &request.headers()[AUTHORIZATION])
            .body(Full::from(certificate.to_vec()).boxed_unsync()),
        ECHO => {
            tokio::spawn(echo(hyper::upgrade::on(&mut request)));
            let response = response.status(StatusCode::SWITCHING_PROTOCOLS);
            let response = response.header(CONNECTION, "Upgrade").header(UPGRADE, "echo");
            response.body(Empty::new().boxed_unsync())
        }
        _ => response
            .header(CONTENT_TYPE, "application/json")
            .body(Piped(said.lock().unwrap().take().unwrap()).boxed_unsync()),
    }
    .unwrap()
}

async fn echo(upgraded: hyper::upgrade::OnUpgrade) {
    let stream = TokioIo::new(upgraded.await.unwrap());
    let (mut read, mut write) = tokio::io::split(stream);
    tokio::io::copy(&mut read, &mut write).await.ok();
}

struct Piped(mpsc::Receiver<Bytes>);

impl Body for Piped {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.poll_recv(context).map(|data| data.map(|data| Ok(Frame::data(data))))
    }
}
