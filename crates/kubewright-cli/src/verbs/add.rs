//! `kubewright add` and `kubewright create`: a kind and its controller in a project that is there.

mod ask;
mod request;
mod webhook;

use std::str::FromStr as _;

use anyhow::Context as _;
use clap::{ArgAction, Args, Subcommand};
use kubewright::project::{Api as Recorded, Project};

use super::ignored::KindFlags;
use super::summary::Ending;
use crate::project;
use crate::registry::Reference;
use crate::scaffold::kind::USER;
use crate::scaffold::names::{self, ApiVersion, GroupVersionKind};
use crate::scaffold::{record, warnings};
use crate::style;
use ask::Wanted;
use request::Request;
use webhook::Webhook;

#[derive(Debug, Subcommand)]
pub(super) enum Add {
    /// A kind, and the controller that looks after it
    ///
    /// Writes the type, the controller, a sample and tests that pass, and makes the operator know them.
    /// What you have changed is never overwritten. With --image the controller is complete: it runs that
    /// image in a Deployment for each object, with conditions, events and a finalizer.
    #[command(after_help = EXAMPLES)]
    Api(Box<Api>),
    /// The controller of a kind that is there without one
    #[command(
        after_help = "Example:\n  kubewright add controller --api-version cache.example.com/v1alpha1 --kind Memcached"
    )]
    Controller(AddController),
    /// What is looked at, filled in or converted before an object of a kind is taken
    ///
    /// Writes the functions for you to fill in, with tests, and declares them in the controller. The server, its
    /// certificate, the Service and the configurations follow from that.
    #[command(after_help = WEBHOOKS)]
    Webhook(Webhook),
}

#[derive(Debug, Subcommand)]
pub(super) enum Create {
    /// A kind, and the controller that looks after it: as `kubewright add api`
    #[command(after_help = EXAMPLES)]
    Api(Box<Api>),
    /// What is looked at, filled in or converted before an object is taken: as `kubewright add webhook`
    #[command(after_help = WEBHOOKS)]
    Webhook(Webhook),
}

const WEBHOOKS: &str = "Examples:
  kubewright add webhook --group cache --version v1alpha1 --kind Memcached --defaulting --validation
  kubewright add webhook --group cache --version v1alpha1 --kind Memcached --conversion --spoke v1beta1";

const EXAMPLES: &str = "Examples:
  kubewright add api --group webapp --version v1 --kind Guestbook
  kubewright add api --group cache --version v1alpha1 --kind Memcached \\
      --image memcached:1.6.45 --image-container-port 11211 \\
      --image-container-command memcached,--memory-limit=64,-o,modern,-v";

#[derive(Debug, Args)]
pub(super) struct Api {
    #[command(flatten)]
    what: What,
    /// What the group ends in, where the project has no domain yet
    #[arg(long, value_parser = names::domain)]
    domain: Option<String>,
    /// What objects of the kind are called in URLs and on the command line [default: the usual plural]
    #[arg(long, value_parser = names::plural)]
    plural: Option<String>,
    /// Objects of the kind belong to no namespace
    #[arg(long)]
    cluster: bool,
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    namespaced: Option<bool>,
    /// Write the type only
    #[arg(long)]
    no_controller: bool,
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    resource: Option<bool>,
    #[arg(long, hide = true, action = ArgAction::Set, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    controller: Option<bool>,
    /// Run this image for each object
    #[arg(long)]
    image: Option<String>,
    /// How the image is started, its words separated by commas [default: as the image says]
    #[arg(long, requires = "image", value_name = "WORDS", value_delimiter = ',')]
    image_container_command: Vec<String>,
    /// The port that the image serves on: becomes a field of the spec
    #[arg(long, requires = "image", value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    image_container_port: Option<u16>,
    /// The number of the user that the image runs as [default: 1001]
    #[arg(long, requires = "image", value_name = "UID", value_parser = clap::value_parser!(i64).range(1..=2_147_483_647))]
    run_as_user: Option<i64>,
    #[command(flatten)]
    ending: Ending,
    #[command(flatten)]
    ignored: KindFlags,
}

/// Which kind is meant.
#[derive(Debug, Args)]
struct What {
    /// The group, without the domain
    #[arg(long)]
    group: Option<String>,
    /// The version, as v1 or v1alpha1
    #[arg(long, required_unless_present = "api_version")]
    version: Option<String>,
    /// Group and version in one, as cache.example.com/v1alpha1; writes the type only
    #[arg(long, value_name = "GROUP/VERSION", conflicts_with_all = ["group", "version"])]
    api_version: Option<ApiVersion>,
    /// The kind, as Memcached
    #[arg(long)]
    kind: String,
}

#[derive(Debug, Args)]
pub(super) struct AddController {
    #[command(flatten)]
    what: What,
    #[command(flatten)]
    ending: Ending,
}

impl Add {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Api(api) => api.run(false),
            Self::Controller(controller) => controller.run(),
            Self::Webhook(webhook) => webhook.run(),
        }
    }
}

impl Create {
    pub(super) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Api(api) => api.run(true),
            Self::Webhook(webhook) => webhook.run(),
        }
    }
}

impl What {
    fn kind(&self, project: &Project, domain: Option<&str>) -> anyhow::Result<GroupVersionKind> {
        if let Some(ApiVersion { group, version }) = &self.api_version {
            return GroupVersionKind::new(group, version, &self.kind).map_err(anyhow::Error::msg);
        }
        let domain = domain.or(project.domain.as_deref()).context(
            "which domain? A group is GROUP.DOMAIN: say it with --domain example.com, once for the project",
        )?;
        let group = self.group.as_deref();
        let group = group.map_or(domain.to_owned(), |group| format!("{group}.{domain}"));
        let version = self.version.as_deref().unwrap_or_default();
        GroupVersionKind::new(&group, version, &self.kind).map_err(anyhow::Error::msg)
    }
}

impl Api {
    /// `asks` as Kubebuilder does, where nothing says what is wanted and somebody is there to answer.
    fn run(&self, asks: bool) -> anyhow::Result<()> {
        let place = project::Project::find()?;
        let project = record::read(&place.read(record::FILE)?)?;
        let kind = self.what.kind(&project, self.domain.as_deref())?;
        let wanted = self.wanted(asks)?;
        let api = self.recorded(&kind, wanted)?;
        self.ignored.say();
        if let Some(warning) = warnings::command(&api.command) {
            style::warn(&warning);
        }
        Request { place: &place, project: &project, kind: &kind, ending: self.ending }
            .add(&api, wanted)
    }

    fn wanted(&self, asks: bool) -> anyhow::Result<Wanted> {
        let says_nothing = self.resource.is_none()
            && self.controller.is_none()
            && !self.no_controller
            && self.image.is_none();
        if asks && says_nothing {
            return ask::wanted();
        }
        let controller = match (self.no_controller, self.controller) {
            (true, _) => false,
            (false, Some(controller)) => controller,
            // The old SDK has two commands for the two.
            (false, None) => self.what.api_version.is_none() || self.image.is_some(),
        };
        Ok(Wanted { kind: self.resource.unwrap_or(true), controller })
    }

    fn recorded(&self, kind: &GroupVersionKind, wanted: Wanted) -> anyhow::Result<Recorded> {
        let cluster = self.cluster || self.namespaced == Some(false);
        anyhow::ensure!(
            !cluster || self.image.is_none(),
            "--image needs a kind in namespaces: its pods run in the namespace of their object"
        );
        anyhow::ensure!(
            self.image.is_none() || wanted.controller,
            "--image is about the controller: leave out --no-controller"
        );
        if let Some(image) = &self.image {
            Reference::from_str(image).map_err(anyhow::Error::msg)?;
        }
        Ok(Recorded {
            group: kind.group.clone(),
            version: kind.version.clone(),
            kind: kind.kind.clone(),
            plural: self.plural.clone(),
            cluster,
            controller: wanted.controller,
            image: self.image.clone(),
            command: self.image_container_command.clone(),
            port: self.image_container_port,
            run_as_user: self.image.as_ref().map(|_| self.run_as_user.unwrap_or(USER)),
            ..Recorded::default()
        })
    }
}

impl AddController {
    fn run(&self) -> anyhow::Result<()> {
        let place = project::Project::find()?;
        let project = record::read(&place.read(record::FILE)?)?;
        let kind = self.what.kind(&project, None)?;
        Request { place: &place, project: &project, kind: &kind, ending: self.ending }
            .add_controller()
    }
}
