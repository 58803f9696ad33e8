//! The subcommand `generate`: gathers what the artefacts are made from, and prints them.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::sync::Arc;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::Operator;
use super::arguments::{
    Artefact, BundleArguments, GenerateArguments, InstallArguments, InstallationArguments, Reach,
    TreeArguments,
};
use super::files::Tree;
use crate::error::chain;
use crate::generate::bundle::{self, Bundle, Release};
use crate::generate::chart::{self, Chart};
use crate::generate::crd::bounds::{self, Bounds};
use crate::generate::dashboard::dashboard_file;
use crate::generate::files::{self, File};
use crate::generate::rbac::Scope;
use crate::generate::yaml::documents;
use crate::generate::{Installation, Related, docs, install, manager, own_namespace};
use crate::project::{Project, ProjectError};
use crate::registration::Registered;
use crate::registry::Registry;

impl Operator {
    /// The definitions of the operator's kinds, each field of `bounds` narrowed.
    pub fn definitions_within(
        &self,
        bounds: &[Bounds],
    ) -> Result<Vec<CustomResourceDefinition>, bounds::Error> {
        let mut definitions = self.definitions();
        bounds::narrow(&mut definitions, bounds)?;
        Ok(definitions)
    }

    /// What the files to install this operator are made from, as `generate install` takes it without
    /// a flag; change what is to be different.
    pub fn installation(&self) -> Result<Installation, ProjectError> {
        Ok(Installation {
            operator: self.name.clone(),
            definitions: self.definitions(),
            related: self.related(),
            access: self.access_without_certificate(),
            finalizes: self.finalizes(),
            environment: self.environment.clone(),
            namespace: own_namespace(&self.name),
            image: self.described()?.default_image(),
            scope: Scope::Cluster,
            #[cfg(feature = "webhook")]
            webhooks: self.webhooks(),
        })
    }

    /// What installing takes where the operator runs beside the API server and not in the cluster: definitions
    /// and configurations whose webhooks are called at `address`, as `127.0.0.1:9443`. For tests.
    #[cfg(feature = "webhook")]
    pub fn beside(&self, address: &str) -> Result<Vec<serde_json::Value>, ProjectError> {
        use crate::generate::webhook::{at_address, configurations};
        let installation = self.installation()?;
        let definitions = installation.definitions.iter().map(|one| serde_json::json!(one));
        let documents = definitions.chain(configurations(&installation)).collect();
        Ok(at_address(documents, address))
    }

    fn related(&self) -> BTreeMap<String, Vec<Related>> {
        let registry = Arc::new(Registry::new(&self.name));
        let related = |controller: &dyn Registered| {
            let name = controller.definition().metadata.name.unwrap_or_default();
            let sources = controller.wire(&registry).asked.sources;
            let kinds = sources.iter().map(|source| &source.store.kind);
            let event = Related { kind: "Event".to_owned(), version: "v1".to_owned() };
            let kinds = kinds
                .map(|kind| Related { kind: kind.kind.clone(), version: kind.version.clone() });
            let kinds: BTreeSet<_> = kinds.chain([event]).collect();
            (name, kinds.into_iter().collect())
        };
        self.controllers.iter().map(|controller| related(&**controller)).collect()
    }

    /// The project as its file describes it, or by its name alone.
    fn described(&self) -> Result<Project, ProjectError> {
        match self.project {
            Some(text) => Project::of(&self.name, text),
            None => Ok(Project::named(&self.name)),
        }
    }

    pub(super) fn generate(&self, arguments: GenerateArguments) -> Result<(), String> {
        let GenerateArguments { what, tree } = arguments;
        let text = match what.unwrap_or(Artefact::All(tree)) {
            Artefact::Crd { definitions } => {
                let definitions = self.definitions_within(&definitions.bounds);
                documents(&definitions.map_err(|error| chain(&error))?)
            }
            Artefact::Rbac(arguments) => documents(&install::access(&self.installed(arguments)?)),
            Artefact::Manager(arguments) => {
                documents(&manager::manager(&self.installed(arguments)?))
            }
            Artefact::Install(arguments) => {
                documents(&install::install(&self.installed(arguments)?))
            }
            Artefact::Docs => Ok(docs::docs(&self.definitions())),
            Artefact::Chart(arguments) => return self.kept(&self.chart()?, &arguments),
            Artefact::Dashboards(arguments) => {
                let file = dashboard_file(&self.name, &self.command());
                return self.kept(&[file], &arguments);
            }
            Artefact::All(arguments) => return self.kept(&self.all()?, &arguments),
            Artefact::DeepCopies(arguments) => {
                return self.instead("Rust needs no deep copies", &arguments);
            }
            Artefact::OpenApi(arguments) => {
                return self.instead("schemas are a part of the definitions", &arguments);
            }
            Artefact::Definitions(arguments) => {
                return self.instead("definitions come with the rest", &arguments);
            }
            Artefact::Bundle(arguments) => return self.bundle(arguments),
        };
        print(&text.map_err(|error| chain(&error))?)
    }

    /// What the first line of a file that a project keeps names.
    fn command(&self) -> String {
        format!("{} generate all", self.name)
    }

    /// Every file that a project keeps; samples are the author's own.
    fn all(&self) -> Result<Vec<File>, String> {
        let installation = self.installation().map_err(|error| chain(&error))?;
        let mut files = files::files(&installation).map_err(|error| chain(&error))?;
        files.push(dashboard_file(&self.name, &self.command()));
        files.extend(self.chart()?);
        Ok(files)
    }

    fn chart(&self) -> Result<Vec<File>, String> {
        let installation = self.installation().map_err(|error| chain(&error))?;
        let project = self.described().map_err(|error| chain(&error))?;
        let chart = Chart {
            installation: &installation,
            about: &project.bundle,
            image: project.image.unwrap_or(project.name),
            version: self.version.unwrap_or("0.0.1").to_owned(),
        };
        chart::chart(&chart, &self.command()).map_err(|error| chain(&error))
    }

    /// Writes or checks these of the files that a project keeps.
    fn kept(&self, files: &[File], arguments: &TreeArguments) -> Result<(), String> {
        self.keep(files, &self.command(), arguments)
    }

    /// For a word of the old Operator SDK that has no meaning of its own here.
    fn instead(&self, why: &str, arguments: &TreeArguments) -> Result<(), String> {
        let _ = writeln!(std::io::stderr(), "{why}: this is `generate all`");
        self.kept(&self.all()?, arguments)
    }

    fn bundle(&self, arguments: BundleArguments) -> Result<(), String> {
        let BundleArguments { output, image, version, channels, default_channel, check } =
            arguments;
        let project = self.described().map_err(|error| chain(&error))?;
        let mut installation = self.installation().map_err(|error| chain(&error))?;
        installation.image = image.unwrap_or_else(|| project.image_of(&version));
        let output = match output.file_name() {
            Some(_) => output,
            None => std::path::absolute(&output).map_err(|error| error.to_string())?,
        };
        let (Some(root), Some(folder)) = (output.parent(), output.file_name()) else {
            return Err(format!("{} cannot be the folder of a bundle", output.display()));
        };
        let bundle = Bundle {
            installation: &installation,
            about: &project.bundle,
            samples: &self.samples,
            release: Release { version, channels, default_channel },
            folder: folder.to_string_lossy().into_owned(),
        };
        let files = bundle::bundle(&bundle).map_err(|error| chain(&error))?;
        let tree = TreeArguments { output: root.to_owned(), check };
        self.keep(&files, &bundle::command(&self.name), &tree)
    }

    /// Writes the files, or says which differ.
    fn keep(&self, files: &[File], command: &str, arguments: &TreeArguments) -> Result<(), String> {
        let TreeArguments { output, check } = arguments;
        let root = output.strip_prefix(".").unwrap_or(output); // reads better in what is said
        let tree = Tree { root, command };
        if !check {
            let done = tree.write(files).map_err(|error| chain(&error))?;
            return print(&done.into_iter().map(|line| line + "\n").collect::<String>());
        }
        let mut said = tree.check(files).map_err(|error| chain(&error))?;
        if said.is_empty() {
            return Ok(());
        }
        said.push(format!(
            "run `{command}` (from the source: `cargo run --package {} -- …`)",
            self.name
        ));
        Err(said.join("\n"))
    }

    pub(super) fn install(&self, arguments: &InstallArguments) -> Result<(), String> {
        let InstallArguments { definitions, cluster } = arguments;
        let definitions = self.definitions_within(&definitions.bounds);
        cluster.install(&self.name, &definitions.map_err(|error| chain(&error))?)
    }

    fn installed(&self, arguments: InstallationArguments) -> Result<Installation, String> {
        let InstallationArguments { image, namespace, scope, definitions } = arguments;
        let mut installation = self.installation().map_err(|error| chain(&error))?;
        installation.definitions =
            self.definitions_within(&definitions.bounds).map_err(|error| chain(&error))?;
        installation.image = image.unwrap_or(installation.image);
        installation.namespace = namespace.unwrap_or(installation.namespace);
        #[cfg(feature = "webhook")]
        installation.converts_at_home();
        if scope == Reach::Namespaced {
            installation.scope = Scope::Namespaces(vec![installation.namespace.clone()]);
        }
        Ok(installation)
    }
}

fn print(text: &str) -> Result<(), String> {
    std::io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())
}
