//! The subcommand `generate`: gathers what the artefacts are made from, and prints them.

use std::io::Write as _;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;

use super::Operator;
use super::arguments::{Artefact, InstallArguments, InstallationArguments, Reach};
use crate::error::chain;
use crate::generate::crd::bounds::{self, Bounds};
use crate::generate::rbac::Scope;
use crate::generate::yaml::documents;
use crate::generate::{Installation, install, manager, own_namespace};
use crate::project::{Project, ProjectError};

impl Operator {
    /// The definitions of the reconciled kinds, each field of `bounds` narrowed.
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
            access: self.access(),
            environment: self.environment.clone(),
            namespace: own_namespace(&self.name),
            image: self.described()?.default_image(),
            scope: Scope::Cluster,
        })
    }

    /// The project as its file describes it, or by its name alone.
    fn described(&self) -> Result<Project, ProjectError> {
        match self.project {
            Some(text) => Project::of(&self.name, text),
            None => Ok(Project::named(&self.name)),
        }
    }

    pub(super) fn generate(&self, what: Artefact) -> Result<(), String> {
        let text = match what {
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
        };
        let text = text.map_err(|error| chain(&error))?;
        std::io::stdout().write_all(text.as_bytes()).map_err(|error| error.to_string())
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
        if scope == Reach::Namespaced {
            installation.scope = Scope::Namespaces(vec![installation.namespace.clone()]);
        }
        Ok(installation)
    }
}
