//! The command line of an operator. Only says what there is; what a verb does is done elsewhere.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::installation::Cluster;
use crate::flags::{Flags, names};
use crate::generate::crd::bounds::Bounds;

#[derive(Parser)]
pub(super) struct Arguments {
    #[command(subcommand)]
    pub(super) verb: Option<Verb>,
    #[command(flatten)]
    pub(super) flags: Flags,
}

#[derive(Subcommand)]
pub(super) enum Verb {
    /// Run the operator (also what happens without a subcommand).
    Run(Box<Flags>),
    /// Print or write what installing the operator takes, from the code itself; without a word, all
    /// files that a project keeps.
    #[command(args_conflicts_with_subcommands = true)]
    Generate(GenerateArguments),
    /// Put the definitions of the operator's kinds on the cluster, or bring them up to date.
    Install(InstallArguments),
    /// Take them off again, with all objects of these kinds, also where no operator runs any more.
    Uninstall(Cluster),
    /// Take the operator's own Deployment off the cluster, and its finalizers off all objects: what is to
    /// happen before its roles go. The Helm chart does it in `helm uninstall`.
    Leave(Box<Flags>),
}

/// Which definitions, and where.
#[derive(Args)]
pub(super) struct InstallArguments {
    #[command(flatten)]
    pub(super) definitions: DefinitionArguments,
    #[command(flatten)]
    pub(super) cluster: Cluster,
}

/// What is generated: everything, unless something is named.
#[derive(Args)]
pub(super) struct GenerateArguments {
    #[command(subcommand)]
    pub(super) what: Option<Artefact>,
    #[command(flatten)]
    pub(super) tree: TreeArguments,
}

/// What can be generated.
#[derive(Subcommand)]
pub(super) enum Artefact {
    /// The custom resource definitions.
    Crd {
        #[command(flatten)]
        definitions: DefinitionArguments,
    },
    /// The account, and roles with exactly the permissions that the controllers ask for; and the
    /// roles for people: admin, editor and viewer of each kind.
    Rbac(InstallationArguments),
    /// The Deployment, its namespace, and what surrounds it.
    Manager(InstallationArguments),
    /// Everything, ready for `kubectl apply --server-side -f -`.
    Install(InstallationArguments),
    /// A reference of the kinds, for people, as Markdown.
    Docs,
    /// Write a Helm chart: charts/.
    Chart(TreeArguments),
    /// Write a Grafana dashboard: deploy/dashboards/.
    Dashboards(TreeArguments),
    /// Write all files that a project keeps: deploy/, charts/ and docs/reference/.
    All(TreeArguments),
    #[command(hide = true, name = "k8s")]
    DeepCopies(TreeArguments),
    #[command(hide = true, name = "openapi")]
    OpenApi(TreeArguments),
    #[command(hide = true, name = "crds")]
    Definitions(TreeArguments),
    /// Write a bundle for the Operator Lifecycle Manager, and the `bundle.Dockerfile` beside it.
    Bundle(BundleArguments),
}

/// Which release a bundle is, and where it goes.
#[derive(Args, Clone)]
pub(super) struct BundleArguments {
    /// The folder of the bundle.
    #[arg(long, default_value = "bundle", value_name = "FOLDER")]
    pub(super) output: PathBuf,
    /// The operator's image [default: that of kubewright.toml, with `v` and the version as its tag].
    #[arg(long)]
    pub(super) image: Option<String>,
    /// The version of the release.
    #[arg(long, default_value = "0.0.1")]
    pub(super) version: String,
    /// The channels that it is published in.
    #[arg(long, default_value = "alpha", value_delimiter = ',')]
    pub(super) channels: Vec<String>,
    /// The channel of whoever asks for none [default: the first].
    #[arg(long)]
    pub(super) default_channel: Option<String>,
    /// Write nothing, and fail if something would be written: for CI.
    #[arg(long)]
    pub(super) check: bool,
}

/// Where files are written to.
#[derive(Args, Clone)]
pub(super) struct TreeArguments {
    /// The root of the project.
    #[arg(long, default_value = ".", value_name = "FOLDER")]
    pub(super) output: PathBuf,
    /// Write nothing, and fail if something would be written: for CI.
    #[arg(long)]
    pub(super) check: bool,
}

/// How definitions may differ from what the code says.
#[derive(Args, Clone, Default)]
pub(super) struct DefinitionArguments {
    /// Narrow an integer field, for example spec.size=1..5; can be repeated. A field never gets wider
    /// than the code says.
    #[arg(long, value_name = "FIELD=MIN..MAX")]
    pub(super) bounds: Vec<Bounds>,
}

/// What whoever installs the operator decides.
#[derive(Args, Clone)]
pub(super) struct InstallationArguments {
    /// The operator's image [default: that of kubewright.toml].
    #[arg(long)]
    pub(super) image: Option<String>,
    /// The namespace that the operator is to run in [default: its name and `-system`].
    #[arg(long, value_parser = names::label)]
    pub(super) namespace: Option<String>,
    /// Which namespaces it looks after.
    #[arg(long, default_value = "cluster")]
    pub(super) scope: Reach,
    #[command(flatten)]
    pub(super) definitions: DefinitionArguments,
}

#[derive(ValueEnum, Clone, Copy, PartialEq)]
pub(super) enum Reach {
    /// All of them, by a `ClusterRole`.
    Cluster,
    /// The one that it runs in, by a Role there.
    Namespaced,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Arguments::command().debug_assert();
    }

    /// What a command line asks to be generated.
    fn asked(text: &str) -> GenerateArguments {
        let arguments = Arguments::try_parse_from(text.split(' '));
        match arguments.unwrap_or_else(|error| panic!("{text}: {error}")).verb {
            Some(Verb::Generate(arguments)) => arguments,
            _ => panic!("{text}"),
        }
    }

    #[test]
    fn without_a_word_everything_is_generated() {
        let GenerateArguments { what, tree } = asked("a generate --check --output there");
        assert!(what.is_none() && tree.check);
        assert_eq!(tree.output, PathBuf::from("there"));
        assert!(
            matches!(asked("a generate all --check").what, Some(Artefact::All(tree)) if tree.check)
        );
    }

    #[test]
    fn the_words_of_the_old_sdk_are_understood() {
        assert!(matches!(asked("a generate k8s").what, Some(Artefact::DeepCopies(_))));
        assert!(matches!(asked("a generate openapi").what, Some(Artefact::OpenApi(_))));
        assert!(matches!(asked("a generate crds --check").what, Some(Artefact::Definitions(_))));
    }

    #[test]
    fn a_release_has_the_defaults_of_operator_sdk() {
        let Some(Artefact::Bundle(bundle)) = asked("a generate bundle").what else { panic!() };
        assert_eq!((&*bundle.version, &bundle.channels[..]), ("0.0.1", &["alpha".to_owned()][..]));
        let text =
            "a generate bundle --version 1.0.0 --channels stable,fast --default-channel fast";
        let Some(Artefact::Bundle(bundle)) = asked(text).what else { panic!() };
        assert_eq!(bundle.channels, ["stable", "fast"]);
    }

    #[test]
    fn a_namespace_that_cannot_be_is_refused() {
        for text in ["a generate install --namespace A", "a generate crd --bounds spec.size=1"] {
            assert!(Arguments::try_parse_from(text.split(' ')).is_err(), "{text}");
        }
    }
}
