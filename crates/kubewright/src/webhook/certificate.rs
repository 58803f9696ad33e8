//! Certificates: making one with an authority of its own, reading one, and the one that is served now.
//!
//! The key of the authority signs one certificate and is forgotten: whoever reads the Secret can serve for
//! the operator, but cannot sign for anybody else.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose, SanType,
};
use rustls::RootCertStore;
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// A certificate and its key, as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

/// A new certificate, and the authority that signed it.
pub(super) struct Made {
    pub(super) authority: String,
    pub(super) pair: Pair,
}

/// Why a certificate cannot be served.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CertificateError {
    #[error("cannot read the certificate")]
    Certificate(#[source] rustls::pki_types::pem::Error),
    #[error("there is no certificate in it")]
    None,
    #[error("cannot read the key of the certificate")]
    Key(#[source] rustls::pki_types::pem::Error),
    #[error("certificate and key do not belong together")]
    Mismatch(#[source] rustls::Error),
    #[error("cannot read the certificate of the authority")]
    Authority(#[source] rustls::Error),
    #[error("nobody can be called like this")]
    Host(#[source] rustls::pki_types::InvalidDnsNameError),
    #[error("the authority has not signed it, or not for this host or time")]
    Untrusted(#[source] rustls::Error),
}

/// The one crypto library that the operator has.
pub(super) fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// A certificate for `hosts` and for this machine, valid from the day before `now` on, for `days`.
pub(super) fn make(hosts: &[String], now: Timestamp, days: i32) -> Result<Made, rcgen::Error> {
    let mut params = parameters("kubewright webhook authority", now, days)?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
    let key = KeyPair::generate()?;
    let authority = params.self_signed(&key)?.pem();
    let issuer = Issuer::new(params, key);

    let name = hosts.first().map_or("kubewright webhook", String::as_str);
    let mut params = parameters(name.get(..64).unwrap_or(name), now, days)?;
    for host in hosts.iter().map(String::as_str).chain(["localhost"]) {
        params.subject_alt_names.push(SanType::DnsName(host.try_into()?));
    }
    // For an API server beside the operator, as in tests and on a developer's machine.
    params.subject_alt_names.push(SanType::IpAddress(IpAddr::V4(Ipv4Addr::LOCALHOST)));
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &issuer)?.pem();
    Ok(Made { authority, pair: Pair { certificate, key: key.serialize_pem() } })
}

fn parameters(name: &str, now: Timestamp, days: i32) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let today = now.to_zoned(TimeZone::UTC).date();
    let day = |offset: i32| {
        let date = today.saturating_add(offset.days());
        let (month, day) = (date.month().unsigned_abs(), date.day().unsigned_abs());
        rcgen::date_time_ymd(date.year().into(), month, day)
    };
    params.not_before = day(-1); // clocks differ
    params.not_after = day(days);
    Ok(params)
}

/// Reads a certificate with those that it is signed by, and its key.
pub(super) fn certified(certificate: &[u8], key: &[u8]) -> Result<CertifiedKey, CertificateError> {
    let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(certificate).collect();
    let chain = chain.map_err(CertificateError::Certificate)?;
    if chain.is_empty() {
        return Err(CertificateError::None);
    }
    let key = PrivateKeyDer::from_pem_slice(key).map_err(CertificateError::Key)?;
    CertifiedKey::from_der(chain, key, &provider()).map_err(CertificateError::Mismatch)
}

/// Whether who trusts `authority` and calls `host` at the time `now` takes this certificate.
pub(super) fn verify(
    pair: &Pair,
    authority: &str,
    host: &str,
    now: Timestamp,
) -> Result<(), CertificateError> {
    let certified = certified(pair.certificate.as_bytes(), pair.key.as_bytes())?;
    let (serving, between) = certified.cert.split_first().ok_or(CertificateError::None)?;
    let authority = CertificateDer::from_pem_slice(authority.as_bytes());
    let mut roots = RootCertStore::empty();
    roots
        .add(authority.map_err(CertificateError::Certificate)?)
        .map_err(CertificateError::Authority)?;
    let supported = provider().signature_verification_algorithms;
    let seconds = Duration::from_secs(now.as_second().try_into().unwrap_or_default());
    let read = ParsedCertificate::try_from(serving).map_err(CertificateError::Untrusted)?;
    let time = UnixTime::since_unix_epoch(seconds);
    verify_server_cert_signed_by_trust_anchor(&read, &roots, between, time, supported.all)
        .map_err(CertificateError::Untrusted)?;
    let host = ServerName::try_from(host).map_err(CertificateError::Host)?;
    verify_server_name(&read, &host).map_err(CertificateError::Untrusted)
}

/// The certificate that new connections get; those that are open keep theirs.
#[derive(Debug, Default)]
pub(crate) struct Current(RwLock<Option<Arc<CertifiedKey>>>);

impl Current {
    /// Serves this one from now on.
    pub(super) fn set(&self, certificate: &[u8], key: &[u8]) -> Result<(), CertificateError> {
        let certified = certified(certificate, key)?;
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(certified));
        Ok(())
    }

    /// The certificate itself.
    #[cfg(test)]
    pub(super) fn served(&self) -> Option<Vec<u8>> {
        let current = self.0.read().unwrap_or_else(PoisonError::into_inner);
        current.as_ref().map(|certified| certified.cert[0].to_vec())
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
