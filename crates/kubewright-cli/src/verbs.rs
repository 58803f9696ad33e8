//! The verbs of `kubewright`: their definitions for the command line, and which code answers each.

mod add;
mod build;
mod bundle;
mod catalog;
mod cleanup;
mod completion;
mod deploy;
mod dev;
mod help;
mod ignored;
mod image;
mod new;
mod olm;
mod operator;
mod run_bundle;
mod scorecard;
mod summary;
mod test;
mod undeploy;
mod up;
mod version;

use clap::{Command, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

/// Write Kubernetes operators in Rust, and have a real Kubernetes to try them on.
#[derive(Debug, Parser)]
#[command(name = "kubewright", version, max_term_width = 100)]
pub(crate) struct Kubewright {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Make a project: a folder with an operator in it
    ///
    /// Little is written, and it is yours. Nothing is fetched until it is built.
    #[command(after_help = "Example:\n  kubewright new memcached-operator --domain example.com")]
    New(new::New),
    /// Make a project in the current folder
    #[command(after_help = "Example:\n  kubewright init --domain example.com")]
    Init(new::Init),
    /// Add a kind, or a controller, to a project
    #[command(
        subcommand,
        after_help = "Example:\n  kubewright add api --group cache --version v1alpha1 --kind Memcached"
    )]
    Add(add::Add),
    /// The same, in Kubebuilder's words
    #[command(
        subcommand,
        after_help = "Example:\n  kubewright create api --group cache --version v1alpha1 --kind Memcached"
    )]
    Create(add::Create),
    /// A real Kubernetes on this machine: no Docker, no steps by hand
    #[command(
        subcommand,
        after_help = "Example:\n  sudo kubewright dev up\n  export KUBECONFIG=$(kubewright dev kubeconfig)"
    )]
    Dev(dev::Dev),
    /// The operator's image: build, push, give to the nodes of `dev`
    #[command(
        subcommand,
        after_help = "Example:\n  kubewright image build\n  kubewright image push"
    )]
    Image(image::Image),
    /// Run the operator in the cluster of the current kubeconfig
    ///
    /// Applies everything that the operator says it needs, waits until it is available, and says why if
    /// it does not become so.
    ///
    /// Needs a project, that is a folder with kubewright.toml, and an image that the cluster can get.
    ///
    /// With `-o json` it answers with `namespace`, `deployment`, `image` and `ready`, the number of pods
    /// that are.
    #[command(
        after_help = "Example:\n  kubewright deploy\n  kubewright deploy --image example.com/operator:v1 --namespace operators"
    )]
    Deploy(deploy::Deploy),
    /// Take it out again, with its kinds and all their objects
    ///
    /// Says first how many objects go. The operator ends first, then nothing is left to wait for it.
    /// With --keep-crd the objects and what runs for them stay.
    ///
    /// Needs a project, that is a folder with kubewright.toml.
    #[command(after_help = "Example:\n  kubewright undeploy --keep-crd")]
    Undeploy(undeploy::Undeploy),
    /// Put the operator's kinds on the cluster of the current kubeconfig
    ///
    /// Or bring them up to date. Needs a project, that is a folder with kubewright.toml, whose operator
    /// does the work; `kubewright install -- --help` tells its flags.
    #[command(
        after_help = "Example:\n  kubewright install\n  kubewright install --bounds spec.size=1..5"
    )]
    Install(operator::Passed),
    /// Take them off again, with all objects of these kinds
    ///
    /// Works where no operator runs any more, too. Needs a project, that is a folder with kubewright.toml,
    /// whose operator does the work.
    #[command(after_help = "Example:\n  kubewright uninstall")]
    Uninstall(operator::Passed),
    /// Run the operator on this machine, against that cluster
    ///
    /// Until Ctrl-C. Needs a project, that is a folder with kubewright.toml, and its kinds on the cluster:
    /// `kubewright install`. `kubewright run -- --help` tells the operator's flags. With `--local` it does what
    /// `kubewright up local` does.
    ///
    /// `kubewright run bundle` and `kubewright run bundle-upgrade` install a bundle through OLM instead, from any
    /// folder; `kubewright run bundle --help` tells all about them.
    #[command(
        after_help = "Example:\n  kubewright run\n  kubewright run --namespace=default --log-level=debug\n  kubewright run bundle example.com/operator-bundle:v0.0.1"
    )]
    Run(operator::Passed),
    /// Write all files that follow from the operator's code, or print one
    ///
    /// Definitions, roles, manifests, Helm chart, dashboard and reference, as the operator says them: what is
    /// written in deploy/, charts/ and docs/ is never edited by hand. With a word it prints or writes that
    /// part; `kubewright generate -- --help` lists them.
    ///
    /// Needs a project, that is a folder with kubewright.toml.
    #[command(
        after_help = "Example:\n  kubewright generate\n  kubewright generate --check\n  kubewright generate install --image example.com/operator:v1"
    )]
    Generate(operator::Passed),
    /// Run the project's tests on a real API server
    ///
    /// Says what tests can run on here and what is missing for the rest, gets the programs of Kubernetes if
    /// they are not there yet, then runs `cargo test`, whose exit code is the answer. Tests for which
    /// something is missing say LEFT OUT; with `KUBEWRIGHT_ALL_TIERS=1` that is a failure.
    ///
    /// Needs a project, that is a folder with kubewright.toml, and Linux. Minutes the first time, when
    /// Kubernetes is downloaded, or built with Go.
    #[command(
        after_help = "Example:\n  kubewright test\n  kubewright test -- --test it -- --nocapture"
    )]
    Test(test::Test),
    /// Build the operator's program, or with IMAGE its image
    ///
    /// Without IMAGE it is `cargo build --release`; with IMAGE it is `kubewright image build --image IMAGE`,
    /// which needs no Docker.
    ///
    /// Needs a project, that is a folder with kubewright.toml.
    #[command(
        after_help = "Example:\n  kubewright build\n  kubewright build example.com/operator:v0.0.1"
    )]
    Build(build::Build),
    /// A release for the Operator Lifecycle Manager: make, check, build, push
    ///
    /// Without another verb the operator writes its bundle, from its own code, and it is checked as `bundle
    /// validate` does. What code cannot know, as the icon, is in [bundle] of kubewright.toml.
    ///
    /// Needs a project, that is a folder with kubewright.toml.
    #[command(
        after_help = "Example:\n  kubewright bundle --version 0.0.1 --channels stable\n  kubewright bundle validate"
    )]
    Bundle(bundle::Bundle),
    /// Do the static tests of Operator SDK's scorecard on a bundle
    ///
    /// The six tests that need no cluster, here and at once. The bundle has the configuration for the real one,
    /// too: `tests/scorecard/config.yaml`. A test that fails makes the exit code 1; a suggestion does not.
    ///
    /// With `-o json` it answers with a list; the keys of each test are `name`, `state` (`pass` or `fail`),
    /// `errors` and `suggestions`. Needs nothing but the folder.
    #[command(
        after_help = "Example:\n  kubewright scorecard\n  kubewright scorecard bundle -o json"
    )]
    Scorecard(scorecard::Scorecard),
    /// Put the bundle into a catalogue of your own
    ///
    /// Writes CATALOG/PACKAGE/catalog.yaml, a file-based catalogue, and the Dockerfile of its image. Releases that
    /// are in it already stay; a new one replaces the newest before it in each of its channels.
    ///
    /// Needs a project, that is a folder with kubewright.toml, and the bundle.
    #[command(
        after_help = "Example:\n  kubewright catalog\n  kubewright catalog --bundle-image example.com/operator-bundle:v0.0.1"
    )]
    Catalog(catalog::Catalog),
    /// The Operator Lifecycle Manager on the cluster: install, look, take off
    #[command(
        subcommand,
        after_help = "Example:\n  kubewright olm install\n  kubewright olm status"
    )]
    Olm(olm::Olm),
    /// Take off what `kubewright run bundle` installed
    ///
    /// The operator with its kinds and all their objects, and what was made to install it. Works from any state: after
    /// an interruption, with an operator that never came up, without OLM. What hangs on a finalizer that nobody
    /// takes off is freed after half a minute, and named.
    ///
    /// Needs nothing but the cluster.
    #[command(
        after_help = "Example:\n  kubewright cleanup memcached-operator --namespace operators"
    )]
    Cleanup(cleanup::Cleanup),
    /// Install what is missing and run: `operator-sdk up local`
    #[command(subcommand, after_help = "Example:\n  kubewright up local --namespace=default")]
    Up(up::Up),
    /// Tell the versions of all that is in play
    ///
    /// The first version of Kubernetes is the default of `kubewright dev up` and of tests. With `-o json` the
    /// keys are `kubewright`, `kubernetes` (a list), `kube`, `k8sOpenapi` and `rustc` (null if there is no
    /// compiler). Needs nothing.
    #[command(after_help = "Example:\n  kubewright version\n  kubewright version -o json")]
    Version(version::Version),
    /// Print a script that makes your shell complete verbs and flags
    ///
    /// Needs nothing. To have it in every new shell:
    ///
    ///   bash: add to ~/.bashrc
    ///     source <(kubewright completion bash)
    ///   zsh: add to ~/.zshrc, after compinit
    ///     source <(kubewright completion zsh)
    ///   fish: type once
    ///     kubewright completion fish >~/.config/fish/completions/kubewright.fish
    ///   elvish: add to ~/.config/elvish/rc.elv
    ///     eval (kubewright completion elvish | slurp)
    ///   powershell: add to $PROFILE
    ///     kubewright completion powershell | Out-String | Invoke-Expression
    #[command(
        verbatim_doc_comment,
        after_help = "Example:\n  source <(kubewright completion bash)"
    )]
    Completion(completion::Completion),
}

impl Kubewright {
    /// The command line as it is defined, with its help.
    fn definition() -> Command {
        help::grouped(Self::command())
    }

    /// What was typed; ends the program if it is wrong, or if help was asked for.
    pub(crate) fn from_command_line() -> Self {
        let typed = Self::definition().get_matches();
        Self::from_arg_matches(&typed).unwrap_or_else(|error| error.exit())
    }

    /// Does what was asked for.
    pub(crate) fn run(self) -> anyhow::Result<()> {
        match self.verb {
            Verb::New(new) => new.run(),
            Verb::Init(init) => init.run(),
            Verb::Add(add) => add.run(),
            Verb::Create(create) => create.run(),
            Verb::Dev(dev) => dev.run(),
            Verb::Image(image) => image.run(),
            Verb::Deploy(deploy) => deploy.run(),
            Verb::Undeploy(undeploy) => undeploy.run(),
            Verb::Install(passed) => passed.run("install"),
            Verb::Uninstall(passed) => passed.run("uninstall"),
            Verb::Run(passed) => passed.run_operator(),
            Verb::Generate(passed) => passed.generate(),
            Verb::Test(test) => test.run(),
            Verb::Build(build) => build.run(),
            Verb::Bundle(bundle) => bundle.run(),
            Verb::Scorecard(scorecard) => scorecard.run(),
            Verb::Catalog(catalog) => catalog.run(),
            Verb::Olm(olm) => olm.run(),
            Verb::Cleanup(cleanup) => cleanup.run(),
            Verb::Up(up) => up.run(),
            Verb::Version(version) => version.run(),
            Verb::Completion(completion) => completion.run(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_defined() {
        Kubewright::definition().debug_assert();
    }
}
