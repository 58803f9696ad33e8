//! Hands out credentials: certificates for users, tokens for service accounts, and proxies that speak
//! for either.

use std::net::{IpAddr, Ipv4Addr};
use std::path::PathBuf;

use k8s_openapi::api::authentication::v1::{TokenRequest, TokenRequestSpec};
use k8s_openapi::api::core::v1::ServiceAccount;
use kube::Api;
use kube::api::PostParams;

use crate::certificates::Authority;
use crate::control_plane::ControlPlane;
use crate::error::Error;
use crate::kubeconfig::{Credentials, Identity};
use crate::proxy::{self, Proxy, ProxyConfig};
use crate::workspace::Workspace;

/// Longer than any test, short enough to be no secret worth keeping.
const TOKEN_SECONDS: i64 = 24 * 3600;

/// A client's way to the API server that can be disturbed.
#[derive(Debug)]
pub struct Disturbed {
    /// Does the disturbing.
    pub proxy: Proxy,
    /// Leads through it.
    pub kubeconfig: PathBuf,
}

/// What a server may show to its clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Showing {
    /// A certificate with a new key.
    Renewed,
    /// One that is valid from the day after tomorrow on, as it looks to a client whose clock is late.
    NotYetValid,
    /// One of an authority that nobody knows yet.
    OtherAuthority,
}

/// A certificate for `127.0.0.1` and `localhost`, and the authority that it comes from, as PEM.
#[derive(Clone)]
pub struct Shown {
    /// For [`Proxy::show`].
    pub server: proxy::Identity,
    /// Whom a client has to trust.
    pub authority: String,
}

/// What a proxy may show in the place of its first certificate.
pub(crate) fn shown(control_plane: &ControlPlane, showing: Showing) -> Result<Shown, Error> {
    let other;
    let authority = if showing == Showing::OtherAuthority {
        other = Authority::new()?;
        &other
    } else {
        &control_plane.authority
    };
    let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
    let (name, hosts) = ("kubewright-proxy", ["localhost"]);
    let pair = match showing {
        Showing::NotYetValid => authority.server_from(2, name, &hosts, &loopback)?,
        Showing::Renewed | Showing::OtherAuthority => authority.server(name, &hosts, &loopback)?,
    };
    let server = proxy::Identity { certificate_chain: pair.certificate, key: pair.key };
    Ok(Shown { server, authority: authority.certificate.clone() })
}

/// Proof of `identity`.
pub(crate) async fn credentials(
    control_plane: &ControlPlane,
    identity: Identity<'_>,
) -> Result<Credentials, Error> {
    let none = Credentials::default();
    Ok(match identity {
        Identity::Admin => Credentials { certificate: Some(control_plane.admin.clone()), ..none },
        Identity::User { name, groups: groups @ ([] | [_]) } => {
            let pair = control_plane.authority.client(name, groups.first().copied())?;
            Credentials { certificate: Some(pair), ..none }
        }
        // A certificate of ours names one group only; the API server lets an admin be anybody.
        Identity::User { name, groups } => {
            let groups = groups.iter().map(ToString::to_string).collect();
            let certificate = Some(control_plane.admin.clone());
            Credentials { certificate, impersonate: Some((name.to_owned(), groups)), ..none }
        }
        Identity::ServiceAccount { namespace, name } => {
            Credentials { token: Some(token(control_plane, namespace, name).await?), ..none }
        }
    })
}

async fn token(control_plane: &ControlPlane, namespace: &str, name: &str) -> Result<String, Error> {
    let api: Api<ServiceAccount> = Api::namespaced(control_plane.client.clone(), namespace);
    let spec =
        TokenRequestSpec { expiration_seconds: Some(TOKEN_SECONDS), ..TokenRequestSpec::default() };
    let request = TokenRequest { spec, ..TokenRequest::default() };
    let answer = api.create_token_request(name, &PostParams::default(), &request).await;
    let answer =
        answer.map_err(Error::api(format!("get a token for ServiceAccount {namespace}/{name}")))?;
    Ok(answer.status.map(|status| status.token).unwrap_or_default())
}

/// A proxy that speaks as `identity`, and the kubeconfig that leads through it.
pub(crate) async fn disturbed(
    workspace: &Workspace,
    control_plane: &ControlPlane,
    identity: Identity<'_>,
) -> Result<Disturbed, Error> {
    let mut credentials = credentials(control_plane, identity).await?;
    let loopback = [IpAddr::V4(Ipv4Addr::LOCALHOST)];
    let server = control_plane.authority.server("kubewright-proxy", &["localhost"], &loopback)?;
    let in_proxy = |pair: crate::certificates::Pair| proxy::Identity {
        certificate_chain: pair.certificate,
        key: pair.key,
    };
    let in_certificate = credentials.certificate.is_some();
    let proxy = Proxy::start(ProxyConfig {
        server: in_proxy(server),
        ca: control_plane.authority.certificate.clone(),
        client: credentials.certificate.take().map(in_proxy), // TLS ends in the proxy, so it shows it
        upstream: control_plane.endpoint,
        upstream_name: "kubernetes".to_owned(),
    })
    .await?;
    if in_certificate {
        // kubectl asks for a password when it has nothing to show; the certificate comes first anyway.
        credentials.token = Some("unused".to_owned());
    }
    let label = format!("{}-by-{}", identity.label(), proxy.address().port());
    let address = format!("https://{}", proxy.address());
    let kubeconfig = control_plane.write_kubeconfig(workspace, &label, &address, &credentials)?;
    Ok(Disturbed { proxy, kubeconfig })
}
