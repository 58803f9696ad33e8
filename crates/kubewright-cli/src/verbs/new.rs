//! `kubewright new` and `kubewright init`: a project, in a folder of its own or in the current one.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;

use super::ignored::ProjectFlags;
use super::summary::Ending;
use crate::scaffold::format::format;
use crate::scaffold::library::Library;
use crate::scaffold::names;
use crate::scaffold::plan::Plan;
use crate::scaffold::project::New as NewProject;
use crate::scaffold::record;

#[derive(Debug, Args)]
pub(super) struct New {
    /// The folder to make; its name is the operator's
    #[arg(value_name = "NAME")]
    folder: PathBuf,
    #[command(flatten)]
    project: Project,
}

#[derive(Debug, Args)]
pub(super) struct Init {
    /// The operator's name [default: that of the folder]
    #[arg(long, alias = "project-name", value_name = "NAME")]
    name: Option<String>,
    #[command(flatten)]
    project: Project,
}

/// What both ask for.
#[derive(Debug, Args)]
struct Project {
    /// What the groups of your kinds end in: with example.com, `cache` becomes cache.example.com. May
    /// wait until the first kind
    #[arg(long, value_parser = names::domain)]
    domain: Option<String>,
    /// Where the sources will be, as github.com/me/memcached-operator
    #[arg(long, value_name = "ADDRESS")]
    repo: Option<String>,
    /// Where the library is: the folder of its sources, or a git repository [default: where this
    /// program was built]
    #[arg(long, value_name = "PATH|GIT", value_parser = Library::parse)]
    kubewright: Option<Library>,
    #[command(flatten)]
    ending: Ending,
    #[command(flatten)]
    ignored: ProjectFlags,
}

impl New {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let folder = &self.folder;
        let name = folder.file_name().and_then(|name| name.to_str());
        let name =
            name.with_context(|| format!("`{}` is no name for a folder", folder.display()))?;
        check(name)?;
        let is_empty = std::fs::read_dir(folder).map(|mut entries| entries.next().is_none());
        anyhow::ensure!(
            is_empty.unwrap_or(!folder.exists()),
            "{} is there already: to make a project in it, go there and use `kubewright init`",
            folder.display()
        );
        let here = std::env::current_dir().context("cannot tell the current folder")?;
        let opening = format!("{name} is there. Next:\n\n  cd {}\n", folder.display());
        self.project.write(name, &here.join(folder), &opening)
    }
}

impl Init {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let here = std::env::current_dir().context("cannot tell the current folder")?;
        let folder = here.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let name = self.name.as_deref().unwrap_or(folder);
        if here.join(record::FILE).exists() {
            let sentence = format!("{} is there already: this is a project", record::FILE);
            return self.project.ending.nothing(&sentence);
        }
        let way_out = "say with --name what the operator is to be called";
        check(name).with_context(|| way_out.to_owned())?;
        self.project.write(name, &here, &format!("{name} is there. Next:\n\n"))
    }
}

impl Project {
    fn write(&self, name: &str, root: &Path, opening: &str) -> anyhow::Result<()> {
        self.ignored.say();
        let library = match &self.kubewright {
            Some(library) => library.clone(),
            None => Library::built_from()?,
        };
        let project = NewProject {
            name,
            domain: self.domain.as_deref(),
            repository: self.repo.as_deref(),
            library: &library,
        };
        let mut plan: Plan = project.plan(root)?;
        format(&mut plan, root);
        let next = "  kubewright add api --group cache --version v1alpha1 --kind Memcached\n";
        self.ending.finish(&plan, &format!("{opening}{next}"))
    }
}

fn check(name: &str) -> anyhow::Result<()> {
    names::project(name).map_err(anyhow::Error::msg)
}
