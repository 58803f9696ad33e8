//! TLS on both sides of the proxy, from PEM text. No IO.

use std::sync::Arc;

use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::pem::{self, PemObject as _};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

use super::{Identity, ProxyError};

/// The only protocol that the proxy speaks; without it an API server may choose HTTP/2.
const HTTP_1_1: &[u8] = b"http/1.1";

/// The side towards the client. Asks it for no certificate: who it is to the API server is the
/// configuration's to say.
pub(super) fn acceptor(server: &Identity) -> Result<TlsAcceptor, ProxyError> {
    let what = "the server certificate";
    let unusable = |source| ProxyError::Tls { what, source };
    let (chain, key) = parse(server, what, "the server key")?;
    let mut config = ServerConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(unusable)?;
    config.alpn_protocols = vec![HTTP_1_1.to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

/// The side towards the API server.
pub(super) fn connector(ca: &str, client: Option<&Identity>) -> Result<TlsConnector, ProxyError> {
    let what = "the client certificate";
    let unusable = |source| ProxyError::Tls { what, source };
    let builder = ClientConfig::builder_with_provider(provider())
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .with_root_certificates(roots(ca)?);
    let mut config = match client {
        None => builder.with_no_client_auth(),
        Some(client) => {
            let (chain, key) = parse(client, what, "the client key")?;
            builder.with_client_auth_cert(chain, key).map_err(unusable)?
        }
    };
    config.alpn_protocols = vec![HTTP_1_1.to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

/// Named rather than taken from the process: a second provider anywhere in the build would leave
/// the process without a default.
fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn roots(ca: &str) -> Result<RootCertStore, ProxyError> {
    let what = "the CA certificate";
    let mut roots = RootCertStore::empty();
    for certificate in certificates(ca, what)? {
        roots.add(certificate).map_err(|source| ProxyError::Tls { what, source })?;
    }
    Ok(roots)
}

fn parse(
    identity: &Identity,
    certificate: &'static str,
    key: &'static str,
) -> Result<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>), ProxyError> {
    let chain = certificates(&identity.certificate_chain, certificate)?;
    let key = PrivateKeyDer::from_pem_slice(identity.key.as_bytes())
        .map_err(|source| ProxyError::Pem { what: key, source })?;
    Ok((chain, key))
}

fn certificates(
    text: &str,
    what: &'static str,
) -> Result<Vec<CertificateDer<'static>>, ProxyError> {
    let certificates = CertificateDer::pem_slice_iter(text.as_bytes())
        .collect::<Result<Vec<_>, _>>()
        .map_err(|source| ProxyError::Pem { what, source })?;
    if certificates.is_empty() {
        return Err(ProxyError::Pem { what, source: pem::Error::NoItemsFound });
    }
    Ok(certificates)
}
