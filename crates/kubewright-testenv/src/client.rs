//! A `kube::Client` out of a kubeconfig file, with deadlines for connecting, for writing and for the
//! beginning of an answer. What follows has none, because tests watch with this client.

use std::path::Path;
use std::time::Duration;

use http::HeaderValue;
use kube::client::ClientBuilder;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use tower::timeout::TimeoutLayer;

use crate::error::Error;

/// Everything that is spoken to is on this machine.
const DEADLINE: Duration = Duration::from_secs(10);

/// The API server ends what it works on after a minute by itself; a server that is paused says nothing.
const ANSWER: Duration = Duration::from_secs(70);

/// How the environment's own clients call themselves in the audit log.
const USER_AGENT: &str = concat!("kubewright-testenv/", env!("CARGO_PKG_VERSION"));

/// A client for the current context of `kubeconfig`.
pub(crate) async fn client(kubeconfig: &Path) -> Result<kube::Client, Error> {
    let unusable = |error| Error::Kubeconfig(Box::new(error));
    let kubeconfig = Kubeconfig::read_from(kubeconfig).map_err(unusable)?;
    let options = KubeConfigOptions::default();
    let mut config =
        Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(unusable)?;
    config.connect_timeout = Some(DEADLINE);
    config.write_timeout = Some(DEADLINE);
    config.proxy_url = None; // the API server is on this machine
    config.headers.push((http::header::USER_AGENT, HeaderValue::from_static(USER_AGENT)));
    config.default_retry = false; // the caller waits and says for what
    let builder = ClientBuilder::try_from(config).map_err(Error::api("make a client"))?;
    Ok(builder.with_layer(&TimeoutLayer::new(ANSWER)).build())
}
