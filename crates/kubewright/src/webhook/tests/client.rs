//! A client that says what a well-behaved one would not.

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::super::certificate::provider;

pub(super) const VALIDATE: &str = "/validate-test-kubewright-dev-v1-jug";

/// A connection that trusts `authority`.
pub(super) async fn connect(port: u16, authority: &str) -> TlsStream<TcpStream> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(authority.as_bytes()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap()
}

/// Sends these bytes and reads until the server ends or says nothing for `patience`.
pub(super) async fn say(port: u16, authority: &str, bytes: &[u8], patience: Duration) -> String {
    let mut stream = connect(port, authority).await;
    let _ = stream.write_all(bytes).await; // it may have refused already
    let _ = stream.flush().await; // else the end may stay here
    let mut said = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(Ok(length)) = tokio::time::timeout(patience, stream.read(&mut buffer)).await {
        if length == 0 {
            break;
        }
        said.extend_from_slice(&buffer[..length]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

/// A call with this body.
pub(super) fn call(body: &[u8]) -> Vec<u8> {
    call_of(VALIDATE, body)
}

/// A call of another webhook.
pub(super) fn call_of(path: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n\
         Connection: close\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}
