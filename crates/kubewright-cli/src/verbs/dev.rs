//! `kubewright dev`: a local Kubernetes for people. Owns the definitions of its verbs for the command
//! line; what each does is in the file of its name.

mod api;
mod check;
mod down;
mod kubeconfig;
mod kubectl;
mod load;
mod logs;
mod observed;
mod place;
mod process;
mod record;
mod status;
mod summary;
mod up;

use anyhow::Context as _;
use clap::Subcommand;

/// A real Kubernetes on this machine.
#[derive(Debug, Subcommand)]
pub(super) enum Dev {
    /// Start it, and leave it running
    ///
    /// Starts etcd, kube-apiserver, kube-controller-manager, kube-scheduler and nodes that run real
    /// pods, waits until everything is ready and returns. It outlives the terminal; `kubewright dev
    /// down` ends it. If it already runs, this says so and changes nothing.
    ///
    /// Needs Linux, and root for nodes; `--nodes 0` is a control plane without nodes and works as
    /// any user. What is missing is downloaded, or built with Go, once: minutes the first time,
    /// seconds after that.
    #[command(after_help = "Example:\n  sudo kubewright dev up --nodes 2")]
    Up(up::Up),
    /// End it and remove everything that belongs to it
    ///
    /// Ends every process and removes interfaces, cgroups and data: the cluster and all that is in
    /// it are gone. Does nothing if it is not up. Needs the same user that started it.
    #[command(after_help = "Example:\n  kubewright dev down")]
    Down,
    /// Tell how it is: nodes and components
    ///
    /// Prints the version, the server, each node and each component with its process id, state and
    /// memory. Exits with 0 if all is well, else with 1 and a sentence on what to do. Needs the same
    /// user that started it.
    ///
    /// With `-o json` the keys are `kubernetes`, `server`, `ready`, `kubeconfig`, `upSeconds`, `nodes` (each
    /// with `name` and `state`), `components` (each with `name`, `pid`, `state` and `memoryKilobytes`) and
    /// `trouble`, which is null if all is well.
    #[command(after_help = "Example:\n  kubewright dev status\n  kubewright dev status -o json")]
    Status(status::Status),
    /// Print where its kubeconfig is
    ///
    /// The kubeconfig has all rights. Needs it to be up.
    #[command(after_help = "Example:\n  export KUBECONFIG=$(kubewright dev kubeconfig)")]
    Kubeconfig(kubeconfig::Kubeconfig),
    /// Ask it with kubectl, whatever kubeconfig is the current one
    ///
    /// Runs the kubectl that came with it, so there need be none in PATH. Needs it to be up.
    #[command(after_help = "Example:\n  kubewright dev kubectl get pods -A")]
    Kubectl(kubectl::Kubectl),
    /// Show the log of a component
    ///
    /// Without a component it lists the components and the size of their logs. Needs it to
    /// be up, or starting; the logs of components that died are there until `dev down` or `dev up`.
    #[command(after_help = "Example:\n  kubewright dev logs node-1/kubelet -f")]
    Logs(logs::Logs),
    /// Give an image to all nodes, from a tar or a registry
    ///
    /// Nodes reach nothing outside this machine, so they pull no images themselves. This gives them
    /// one: a docker-archive or OCI tar (as `docker save` writes it), or a name, which is then pulled
    /// by this command with this machine's network. Pods use it with `imagePullPolicy: IfNotPresent`.
    ///
    /// Needs root and a cluster with nodes.
    #[command(
        after_help = "Example:\n  kubewright dev load image.tar\n  kubewright dev load docker.io/library/nginx:1.29"
    )]
    Load(load::Load),
    /// Tell what this machine can run
    ///
    /// One line for the control plane and one for nodes and pods, with a sentence for each thing that
    /// is missing. Changes nothing and needs nothing. Exits with 0, unless `KUBEWRIGHT_ALL_TIERS=1`
    /// is set and something cannot run.
    #[command(after_help = "Example:\n  kubewright dev check")]
    Check,
}

impl Dev {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Up(up) => up.run(),
            Self::Down => down::run(),
            Self::Status(status) => status.run(),
            Self::Kubeconfig(kubeconfig) => kubeconfig.run(),
            Self::Kubectl(kubectl) => kubectl.run(),
            Self::Load(load) => load.run(),
            Self::Logs(logs) => logs.run(),
            Self::Check => check::run(),
        }
    }
}

/// An error if there are no nodes to give an image to: to be known before minutes are spent on one.
pub(super) fn expect_nodes() -> anyhow::Result<()> {
    load::takers().map(drop)
}

/// Gives the image in the file `archive` to all nodes.
pub(super) fn give(archive: &str) -> anyhow::Result<()> {
    load::Load::of(archive).run()
}

/// Verbs are plain functions, so that progress and locks, which block, stay out of async code; what
/// talks to the API server runs on this.
fn runtime() -> anyhow::Result<tokio::runtime::Runtime> {
    tokio::runtime::Runtime::new().context("cannot start the runtime for network requests")
}
