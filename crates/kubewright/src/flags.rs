//! The flags of an operator, with Kubebuilder's names, so that manifests and habits carry over.
//!
//! Owns names, defaults, bounds and help; what a flag does is done elsewhere. A value that comes out
//! of here is ready to use: nothing has to be parsed or checked again.

mod duration;
mod log;
pub(crate) mod names;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::time::Duration;

use clap::ArgAction;
use clap::builder::BoolishValueParser;

pub use log::{LogFormat, LogLevel};
pub use names::Namespaces;

/// The flags that every operator has. Flatten them into your own:
///
/// ```
/// use clap::Parser;
/// use kubewright::flags::Flags;
///
/// #[derive(Parser)]
/// struct Arguments {
///     #[command(flatten)]
///     operator: Flags,
///     /// Which colour the pods get.
///     #[arg(long, default_value = "green")]
///     colour: String,
/// }
///
/// let arguments = Arguments::parse_from(["example", "--leader-elect", "--max-backoff=1m30s"]);
/// assert!(arguments.operator.leader_elect);
/// assert_eq!(arguments.operator.max_backoff.as_secs(), 90);
/// ```
#[derive(Clone, Debug, PartialEq, clap::Args)]
#[command(about = None, long_about = None)] // else this text describes programs that have none
#[non_exhaustive]
pub struct Flags {
    /// Where Prometheus finds /metrics, for example ":8080" (all addresses) or "127.0.0.1:8080" (only
    /// from this machine or pod); "0" turns it off. The answer is plain HTTP and open to whoever
    /// reaches it.
    #[arg(long, env, value_name = "ADDRESS", default_value = OFF)]
    pub metrics_bind_address: String,

    /// Where the kubelet finds /healthz and /readyz; "0" turns it off, and then the Deployment must not
    /// have probes.
    #[arg(long, env, value_name = "ADDRESS", default_value = PROBES)]
    pub health_probe_bind_address: String,

    /// Where the API server finds the operator's webhooks; "0" turns them off. Of no meaning to an operator
    /// that has none.
    #[cfg(feature = "webhook")]
    #[arg(long, env, value_name = "ADDRESS", default_value = WEBHOOKS)]
    pub webhook_bind_address: String,

    /// The folder with the certificate that the webhooks are served with, as cert-manager mounts it
    /// [default: where the Operator Lifecycle Manager mounts one, else the operator makes its own].
    #[cfg(feature = "webhook")]
    #[arg(long, env, value_name = "FOLDER")]
    pub webhook_cert_path: Option<PathBuf>,

    /// The file of the certificate in that folder.
    #[cfg(feature = "webhook")]
    #[arg(long, env, value_name = "FILE", default_value = "tls.crt")]
    pub webhook_cert_name: String,

    /// The file of its key in that folder.
    #[cfg(feature = "webhook")]
    #[arg(long, env, value_name = "FILE", default_value = "tls.key")]
    pub webhook_cert_key: String,

    /// Work only while holding a Lease, so that of several replicas one works and the others stand by.
    /// Needed with more than one replica, and useful with one: during an update there are two for a
    /// moment.
    #[arg(
        long, env, value_name = "BOOL", default_value = "false", default_missing_value = "true",
        num_args = 0..=1, require_equals = true, action = ArgAction::Set,
        value_parser = BoolishValueParser::new()
    )]
    pub leader_elect: bool,

    /// The name of the Lease [default: the name of the operator]. Two installations of one operator
    /// that look after different namespaces need different names if their Leases are in one namespace.
    #[arg(long, env, value_name = "NAME", value_parser = names::subdomain)]
    pub leader_election_id: Option<String>,

    /// The namespace of the Lease [default: that of the pod]. Outside of a cluster there is no pod, and
    /// the namespace of the kubeconfig's context is used.
    #[arg(long, env, value_name = "NAMESPACE", value_parser = names::label)]
    pub leader_election_namespace: Option<String>,

    /// The kubeconfig file [default: what KUBECONFIG names, else ~/.kube/config, else the service
    /// account of the pod].
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// `--namespace`: which namespaces to look after.
    #[command(flatten)]
    pub namespaces: Namespaces,

    /// How many objects are worked on at the same time, 1 to 1024, for each controller. One object is
    /// never worked on twice at a time.
    #[arg(long, env, value_name = "COUNT", default_value = "4", value_parser = count)]
    pub max_concurrent_reconciles: usize,

    /// The longest pause before an object that keeps failing is tried again, 1s to 1000s. The first
    /// pauses are milliseconds, and each is twice the one before.
    #[arg(long, env, value_name = "DURATION", default_value = "5m", value_parser = duration::backoff)]
    pub max_backoff: Duration,

    /// How long one look at one object may take, 1s to 1h, before it is ended and counts as failed.
    #[arg(long, env, value_name = "DURATION", default_value = "30s", value_parser = duration::timeout)]
    pub reconcile_timeout: Duration,

    /// How often every object is looked at again without a reason, from the cache; at least 1m, and 0
    /// turns it off. It finds what no event tells, such as a change outside of the cluster.
    #[arg(long, env, value_name = "DURATION", default_value = "10h", value_parser = duration::resync)]
    pub resync: Duration,

    /// Whether objects get a finalizer, so that they stay until the operator has cleaned up after them.
    /// With --finalizer=false none is added; one that is there already is still removed when its object
    /// is deleted.
    #[arg(
        long, env, value_name = "BOOL", default_value = "true", default_missing_value = "true",
        num_args = 0..=1, require_equals = true, action = ArgAction::Set,
        value_parser = BoolishValueParser::new()
    )]
    pub finalizer: bool,

    /// The name of the operator's own Deployment, in its own namespace [default: it has none]. Whoever
    /// deletes that Deployment or that namespace removes the operator for good: it then takes its
    /// finalizers off all objects before it ends, so that these can still be deleted. Without the flag,
    /// as on a developer's machine, they stay until an operator runs again or `uninstall` takes them off.
    #[arg(long, env, value_name = "NAME", value_parser = names::subdomain)]
    pub own_deployment: Option<String>,

    /// What is logged: error, warn, info, debug, trace or off; also for parts of the program, as in
    /// "info,kube=debug".
    #[arg(long, env, value_name = "LEVEL", default_value = "info")]
    pub log_level: LogLevel,

    /// How it is logged: text for people, or json, one object per line, for programs.
    #[arg(long, env, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

const OFF: &str = "0";
const PROBES: &str = ":8081";
#[cfg(feature = "webhook")]
const WEBHOOKS: &str = ":9443";

impl Flags {
    /// The flags of a test: it has a namespace to itself, and no port, so that tests run side by side.
    pub fn for_test(namespace: &str) -> Self {
        Self {
            namespaces: [namespace.to_owned()].into_iter().collect(),
            health_probe_bind_address: OFF.to_owned(),
            #[cfg(feature = "webhook")]
            webhook_bind_address: OFF.to_owned(),
            ..Self::default()
        }
    }
}

/// What an operator gets that was started without flags and without their environment variables.
impl Default for Flags {
    fn default() -> Self {
        Self {
            metrics_bind_address: OFF.to_owned(),
            health_probe_bind_address: PROBES.to_owned(),
            #[cfg(feature = "webhook")]
            webhook_bind_address: WEBHOOKS.to_owned(),
            #[cfg(feature = "webhook")]
            webhook_cert_path: None,
            #[cfg(feature = "webhook")]
            webhook_cert_name: "tls.crt".to_owned(),
            #[cfg(feature = "webhook")]
            webhook_cert_key: "tls.key".to_owned(),
            leader_elect: false,
            leader_election_id: None,
            leader_election_namespace: None,
            kubeconfig: None,
            namespaces: Namespaces::default(),
            max_concurrent_reconciles: 4,
            max_backoff: Duration::from_mins(5),
            reconcile_timeout: Duration::from_secs(30),
            resync: Duration::from_hours(10),
            finalizer: true,
            own_deployment: None,
            log_level: LogLevel::default(),
            log_format: LogFormat::Text,
        }
    }
}

fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().map_err(|_| "write a whole number".to_owned())?;
    if (1..=1024).contains(&count) { Ok(count) } else { Err("it must be 1 to 1024".to_owned()) }
}
