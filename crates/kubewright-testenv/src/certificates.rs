//! The environment's own certificate authority, and the certificates and keys it hands out. All made
//! in this process, valid for a year, never used outside the environment.

use std::net::IpAddr;

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, SanType,
};

use crate::error::Error;

/// Certificates start a day ago and last a year: clocks differ, environments are short-lived.
const DAYS_VALID: i64 = 365;
const YESTERDAY: i64 = -1;

/// A certificate authority.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// The certificate that everybody trusts, as PEM.
    pub(crate) certificate: String,
}

/// A certificate and its key, as PEM.
#[derive(Clone, Debug)]
pub(crate) struct Pair {
    pub(crate) certificate: String,
    pub(crate) key: String,
}

impl Authority {
    pub(crate) fn new() -> Result<Self, Error> {
        let failed = failed("the certificate authority");
        let mut params = parameters("kubewright-ca", None).map_err(&failed)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate().map_err(&failed)?;
        let certificate = params.self_signed(&key).map_err(&failed)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), certificate })
    }

    /// A server certificate for host names and addresses.
    pub(crate) fn server(
        &self,
        name: &str,
        hosts: &[&str],
        addresses: &[IpAddr],
    ) -> Result<Pair, Error> {
        self.server_from(YESTERDAY, name, hosts, addresses)
    }

    /// One that is valid from so many days after today on.
    pub(crate) fn server_from(
        &self,
        first: i64,
        name: &str,
        hosts: &[&str],
        addresses: &[IpAddr],
    ) -> Result<Pair, Error> {
        let failed = failed(name);
        let mut params = parameters(name, None).map_err(&failed)?;
        set_validity(&mut params, first);
        for host in hosts {
            let host = (*host).try_into().map_err(&failed)?;
            params.subject_alt_names.push(SanType::DnsName(host));
        }
        params.subject_alt_names.extend(addresses.iter().copied().map(SanType::IpAddress));
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        self.sign(&params).map_err(&failed)
    }

    /// A client certificate: to Kubernetes the common name is the user, the organization its group.
    pub(crate) fn client(&self, user: &str, group: Option<&str>) -> Result<Pair, Error> {
        let failed = failed(user);
        let mut params = parameters(user, group).map_err(&failed)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(&params).map_err(&failed)
    }

    fn sign(&self, params: &CertificateParams) -> Result<Pair, rcgen::Error> {
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(Pair { certificate, key: key.serialize_pem() })
    }
}

/// A key for signing ServiceAccount tokens: (private, public), as PEM.
pub(crate) fn signing_key() -> Result<(String, String), Error> {
    let key = KeyPair::generate().map_err(failed("the token signer"))?;
    Ok((key.serialize_pem(), key.public_key_pem()))
}

fn parameters(name: &str, group: Option<&str>) -> Result<CertificateParams, rcgen::Error> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    if let Some(group) = group {
        params.distinguished_name.push(DnType::OrganizationName, group);
    }
    set_validity(&mut params, YESTERDAY);
    Ok(params)
}

/// From so many days after today on.
fn set_validity(params: &mut CertificateParams, first: i64) {
    let today = jiff::Zoned::now().date();
    let day = |offset: i64| {
        let date = today.saturating_add(jiff::Span::new().days(offset));
        rcgen::date_time_ymd(
            date.year().into(),
            date.month().unsigned_abs(),
            date.day().unsigned_abs(),
        )
    };
    params.not_before = day(first);
    params.not_after = day(DAYS_VALID);
}

fn failed(name: &str) -> impl Fn(rcgen::Error) -> Error + use<> {
    let name = name.to_owned();
    move |source| Error::Certificate { name: name.clone(), source }
}
