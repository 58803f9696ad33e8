//! The two HTTP servers of an operator: probes and metrics.
//!
//! Owns addresses, routes and the bounds on what clients may cost; what is answered comes from
//! `health` and `metrics`. Plain HTTP, GET only, one request per connection.

mod listener;

#[cfg(test)]
mod tests;

use std::io;

use axum::Router;
use axum::extract::{Path, State};
use axum::middleware::map_response;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use http::header::{CONNECTION, CONTENT_TYPE};
use http::{HeaderValue, StatusCode, Uri};
use tokio::net::TcpListener;

use crate::health::{Health, Which};
use crate::metrics::Metrics;
use listener::Bounded;

const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Why there is no server.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ServerError {
    #[error(
        "`{0}` is not an address to listen on; write \":8081\" for all addresses of the machine, \
         \"127.0.0.1:8081\" for one of them, or \"0\" for no server"
    )]
    Address(String),
    #[error(
        "cannot listen on `{address}`; choose an address of this machine and a port that is free and \
         above 1023"
    )]
    Bind {
        address: String,
        #[source]
        source: io::Error,
    },
}

/// Listens on `address`, which is written as for Kubebuilder's programs: `:8081` (all addresses),
/// `127.0.0.1:8081`, `[::1]:8081`, `localhost:8081`; port 0 takes one that is free. `0` and nothing
/// mean that there shall be no server.
pub(crate) async fn bind(address: &str) -> Result<Option<TcpListener>, ServerError> {
    let address = address.trim();
    if address.is_empty() || address == "0" {
        return Ok(None);
    }
    let unusable = || ServerError::Address(address.to_owned());
    let (host, port) = address.rsplit_once(':').ok_or_else(unusable)?;
    let port: u16 = port.parse().map_err(|_| unusable())?;
    let bound = match host {
        "" => bind_all(port).await,
        _ => TcpListener::bind(address).await,
    };
    let failed = |source| ServerError::Bind { address: address.to_owned(), source };
    bound.map(Some).map_err(failed)
}

/// IPv6 and, as Linux does it by default, IPv4 with it; IPv4 alone where there is no IPv6.
async fn bind_all(port: u16) -> io::Result<TcpListener> {
    use std::net::{Ipv4Addr, Ipv6Addr};
    match TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).await {
        Ok(listener) => Ok(listener),
        // These two have the same cause with IPv4, and a server on half of the addresses is no answer.
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied
            ) =>
        {
            Err(error)
        }
        Err(_) => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).await,
    }
}

/// Answers `/healthz` and `/readyz`, and `/healthz/<check>` and `/readyz/<check>`, until `stop`.
pub(crate) async fn serve_health(
    listener: TcpListener,
    health: Health,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let mut router = Router::new();
    for which in [Which::Live, Which::Ready] {
        let endpoint = which.endpoint();
        let all = move |State(health): State<Health>, uri: Uri| async move {
            report(&health, which, uri.query().is_some_and(is_verbose))
        };
        let one = move |State(health): State<Health>, Path(name): Path<String>| async move {
            check(&health, which, &name)
        };
        router = router
            .route(&format!("/{endpoint}"), get(all))
            .route(&format!("/{endpoint}/{{name}}"), get(one));
    }
    serve(listener, router.with_state(health), stop).await;
}

/// Answers `/metrics` until `stop`.
pub(crate) async fn serve_metrics(
    listener: TcpListener,
    metrics: Metrics,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    let scrape =
        async |State(metrics): State<Metrics>| ([(CONTENT_TYPE, OPENMETRICS)], metrics.render());
    serve(listener, Router::new().route("/metrics", get(scrape)).with_state(metrics), stop).await;
}

fn is_verbose(query: &str) -> bool {
    query.split('&').any(|pair| pair.split('=').next() == Some("verbose"))
}

fn report(health: &Health, which: Which, verbose: bool) -> Response {
    let report = health.report(which);
    match (report.ok, verbose) {
        (true, false) => "ok".into_response(),
        (true, true) => report.text.into_response(),
        (false, _) => (StatusCode::INTERNAL_SERVER_ERROR, report.text).into_response(),
    }
}

fn check(health: &Health, which: Which, name: &str) -> Response {
    match health.check(which, name) {
        Some(Ok(())) => "ok".into_response(),
        Some(Err(reason)) => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("failed: {reason}\n")).into_response()
        }
        None => (StatusCode::NOT_FOUND, "there is no such check\n").into_response(),
    }
}

/// Connections that are open when `stop` comes are ended, at the latest by their own deadline.
async fn serve(
    listener: TcpListener,
    router: Router,
    stop: impl Future<Output = ()> + Send + 'static,
) {
    // A connection that is kept would hold one of the few places between two scrapes.
    let router = router.layer(map_response(async |mut response: Response| {
        response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
        response
    }));
    // It never fails: an accept that fails is logged and repeated.
    let _ = axum::serve(Bounded::new(listener), router).with_graceful_shutdown(stop).await;
}
