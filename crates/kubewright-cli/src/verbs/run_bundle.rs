//! `kubewright run bundle` and `run bundle-upgrade`: a release through an OLM that runs. Owns their definitions for
//! the command line, and the order of the steps; each step is in `steps`.

mod standing;
mod steps;
mod upgrade;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};
use k8s_openapi::api::core::v1::Namespace;
use kube::{Api, Client, Error};
use kubewright::cluster::{self, Step};
use serde::Serialize;

use super::ignored::BundleFlags;
use super::olm::Limit;
use crate::cluster::{Cluster, note, print};
use crate::olm::catalogue::Catalogue;
use crate::olm::group::{self, Mode};
use crate::olm::interrupt::unless_interrupted;
use crate::olm::look::subscription::Next;
use crate::olm::objects::{Kind, Objects};
use crate::olm::source::{self, Release};
use crate::olm::{MANAGER, installed};
use crate::output::Format;
use steps::Steps;

/// What was typed after `kubewright run`.
#[derive(Debug, Parser)]
#[command(name = "kubewright run", disable_version_flag = true, max_term_width = 100)]
pub(super) struct RunBundle {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Install a bundle through OLM, and wait until its operator runs
    ///
    /// Makes a catalogue with the bundle in it, subscribes to it, approves the plan that OLM makes, and says what
    /// it waits for meanwhile. Interrupted, the same command goes on; `kubewright cleanup PACKAGE` takes
    /// everything back.
    ///
    /// With `-o json` the keys are `package`, `release` and `namespace`. Needs OLM on the cluster: `kubewright olm
    /// install`.
    #[command(
        after_help = "Example:\n  kubewright run bundle example.com/operator-bundle:v0.0.1\n  kubewright run bundle ./bundle --namespace operators"
    )]
    Bundle(Bundle),
    /// Replace a release that `run bundle` installed by a newer one
    ///
    /// Puts the bundle into the same catalogue, behind the release that is installed, and approves the plan.
    ///
    /// With `-o json` the keys are `package`, `release` and `namespace`.
    #[command(
        after_help = "Example:\n  kubewright run bundle-upgrade example.com/operator-bundle:v0.0.2"
    )]
    BundleUpgrade(Upgrade),
}

#[derive(Debug, Args)]
struct Bundle {
    #[command(flatten)]
    what: What,
    /// Which namespaces the operator looks after: `AllNamespaces`, `OwnNamespace`, `SingleNamespace=NAME`,
    /// `MultiNamespace=NAME,NAME` [default: the first that the bundle supports]
    #[arg(long, value_name = "MODE")]
    install_mode: Option<Mode>,
}

#[derive(Debug, Args)]
struct Upgrade {
    #[command(flatten)]
    what: What,
}

/// What both are told.
#[derive(Debug, Args)]
struct What {
    /// The bundle: an image in a registry that this machine and the nodes reach, or a folder
    #[arg(value_name = "IMAGE|FOLDER")]
    bundle: String,
    /// The namespace of the operator [default: the kubeconfig's]
    #[arg(short, long)]
    namespace: Option<String>,
    /// Speak HTTP to a registry that is not on this machine: everybody on the way can read along
    #[arg(long)]
    plain_http: bool,
    #[command(flatten)]
    limit: Limit,
    #[command(flatten)]
    cluster: Cluster,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    ignored: BundleFlags,
}

/// What runs now.
#[derive(Debug, Serialize)]
struct Running<'a> {
    package: &'a str,
    release: &'a str,
    namespace: &'a str,
}

impl RunBundle {
    /// What was typed after `kubewright run`, if it is about a bundle.
    pub(super) fn asked_for(arguments: &[String]) -> Option<Result<Self, clap::Error>> {
        let first = arguments.first()?;
        matches!(first.as_str(), "bundle" | "bundle-upgrade").then(|| {
            let words = std::iter::once("kubewright run".to_owned()).chain(arguments.to_vec());
            Self::try_parse_from(words)
        })
    }

    pub(super) fn run(self) -> anyhow::Result<()> {
        match self.verb {
            Verb::Bundle(Bundle { what, install_mode }) => {
                what.run(async |steps, release| install(steps, release, install_mode).await)
            }
            Verb::BundleUpgrade(Upgrade { what }) => what.run(upgrade::upgrade),
        }
    }
}

impl What {
    /// Reads the bundle, then does `work` on the cluster; interrupted, it says what to do.
    fn run(
        &self,
        work: impl AsyncFnOnce(&Steps<'_>, &Release) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.ignored.say();
        let release = source::read(&self.bundle, self.plain_http || self.ignored.is_plain())?;
        self.cluster.connected(async |client| {
            let namespace =
                self.namespace.as_deref().unwrap_or(client.default_namespace()).to_owned();
            let package = release.package.as_str();
            let way_out = format!(
                "what is there so far stays, and the same command goes on with it; \
                 `kubewright cleanup {package} --namespace {namespace}` removes it"
            );
            let tell: fn(Step) = if self.format.is_json() { note } else { print };
            let steps =
                Steps { client: &client, namespace: &namespace, limit: self.limit.timeout, tell };
            let done = async {
                installed::required(&client).await?;
                expect_namespace(&client, &namespace).await?;
                work(&steps, &release).await
            };
            unless_interrupted(&way_out, done).await?;
            let running = Running { package, release: &release.name, namespace: &namespace };
            self.format
                .answer(&running, || format!("{} runs in namespace {namespace}\n", release.name))
        })
    }
}

/// A release that is not there yet, or is on its way.
async fn install(steps: &Steps<'_>, release: &Release, asked: Option<Mode>) -> anyhow::Result<()> {
    let Release { bundle, image, package, name, .. } = release;
    let within = Objects::within(steps.client, steps.namespace);
    let subscriptions = within.all(Kind::Subscription).await;
    let subscriptions = subscriptions.context("cannot look at the Subscriptions")?;
    standing::may_install(&subscriptions, release)?;
    let mode = Mode::chosen(asked, bundle)?;
    let groups = within.all(Kind::OperatorGroup).await;
    let groups = groups.context("cannot look at the OperatorGroups")?;
    let group = group::needed(&mode, package, steps.namespace, &groups)?;
    let catalogue = Catalogue::with(bundle, image.as_deref(), &[], steps.namespace)?;
    let group: Vec<_> = group.into_iter().collect();
    let mut tell = steps.tell;
    cluster::apply(steps.client, MANAGER, &group, &mut tell).await?;
    steps.serve(&catalogue).await?;
    steps.connect(&catalogue).await?;
    steps.subscribe(release).await?;
    follow(steps, package, name).await?;
    steps.sweep(&catalogue).await
}

/// From the Subscription to an operator that runs.
async fn follow(steps: &Steps<'_>, package: &str, release: &str) -> anyhow::Result<()> {
    if let Next::Approve(plan) = steps.plan(package, release).await? {
        steps.approve(&plan).await?;
        steps.carried_out(&plan).await?;
    }
    steps.succeeded(release).await
}

/// An error that says what to do if there is no such namespace. Who may not look is not stopped by that.
async fn expect_namespace(client: &Client, namespace: &str) -> anyhow::Result<()> {
    let api: Api<Namespace> = Api::all(client.clone());
    match api.get(namespace).await {
        Err(Error::Api(status)) if status.code == 404 => anyhow::bail!(
            "there is no namespace {namespace}: `kubectl create namespace {namespace}` makes it, or name another \
             with --namespace"
        ),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    fn asked(line: &str) -> Option<Result<RunBundle, clap::Error>> {
        let words: Vec<_> = line.split_whitespace().map(str::to_owned).collect();
        RunBundle::asked_for(&words)
    }

    #[test]
    fn a_line_of_operator_sdk_s_is_taken() {
        let line = "bundle a:1 --timeout 2m0s --skip-tls --index-image b:1 -n c";
        assert!(asked(line).unwrap().is_ok());
    }

    #[test]
    fn the_command_line_is_well_defined() {
        RunBundle::command().debug_assert();
    }

    #[test]
    fn only_what_is_about_a_bundle_is_taken_from_the_operator() {
        assert!(asked("bundle a:1 --install-mode OwnNamespace").unwrap().is_ok());
        assert!(asked("bundle-upgrade a:1 --timeout 90s -n b").unwrap().is_ok());
        assert!(asked("bundle").unwrap().is_err());
        assert!(asked("--namespace bundle").is_none() && asked("").is_none());
    }
}
