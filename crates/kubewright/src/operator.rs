//! What an operator's `main` is made of: its name, its controllers, and the subcommands that follow from
//! them. Running is [`crate::manager`]'s.

mod arguments;
mod files;
mod generate;
mod installation;
mod leave;

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use clap::{CommandFactory as _, FromArgMatches as _};
use k8s_openapi::api::rbac::v1::PolicyRule;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use tracing::info;

use crate::clock::Clock;
use crate::controller::Controller;
use crate::error::chain;
use crate::flags::Flags;
use crate::generate::manager_name;
use crate::generate::rbac::{self, Access, rule};
#[cfg(feature = "webhook")]
use crate::generate::webhook::{converted, with_certificate};
use crate::kind::Primary;
use crate::manager::{Manager, Parts, RunError};
use crate::registration::{Registered, Registration, definition};
use crate::registry::Registry;
use crate::runnable::{Runnable, Runnables};
use crate::telemetry;
use arguments::{Arguments, Verb};

/// An operator: one or several controllers in one process.
///
/// ```no_run
/// # use kubewright::prelude::*;
/// # fn with<Guestbooks: Controller>() -> ExitCode {
/// Operator::new("guestbook-operator").controller::<Guestbooks>().main()
/// # }
/// ```
pub struct Operator {
    name: String,
    controllers: Vec<Box<dyn Registered>>,
    kinds: Vec<fn() -> CustomResourceDefinition>,
    runnables: Runnables,
    clock: Clock,
    version: Option<&'static str>,
    project: Option<&'static str>,
    samples: Vec<&'static str>,
    environment: Vec<(String, String)>,
}

impl Operator {
    /// An operator called `name`, a DNS label such as `guestbook-operator`: the field manager of its
    /// writes, the value of the label `app.kubernetes.io/managed-by`, the name of its Lease.
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            controllers: Vec::new(),
            kinds: Vec::new(),
            runnables: Runnables::default(),
            clock: Clock::system(),
            version: None,
            project: None,
            samples: Vec::new(),
            environment: Vec::new(),
        }
    }

    /// The version of the program, for `--version` and the log.
    #[must_use]
    pub fn version(mut self, version: &'static str) -> Self {
        self.version = Some(version);
        self
    }

    /// Adds a controller.
    #[must_use]
    pub fn controller<C: Controller>(mut self) -> Self {
        self.controllers.push(Box::new(Registration::<C>::new()));
        self
    }

    /// Adds a kind that no controller looks after: its definition is installed with the others.
    #[must_use]
    pub fn kind<K: Primary>(mut self) -> Self {
        self.kinds.push(definition::<K>);
        self
    }

    /// Adds a task of your own. It starts when this instance leads and is dropped when the operator
    /// stops; if it fails, the operator stops.
    #[must_use]
    pub fn runnable<R: Runnable>(mut self, name: &'static str, run: R) -> Self {
        self.runnables.add(name, run);
        self
    }

    /// Says what the code does not: the image, and what a catalogue shows. `text` is the project's
    /// `kubewright.toml`, as `include_str!` reads it; see [`crate::project`].
    #[must_use]
    pub fn project(mut self, text: &'static str) -> Self {
        self.project = Some(text);
        self
    }

    /// Adds an example of a kind, as YAML: what a catalogue offers to people to begin with.
    #[must_use]
    pub fn sample(mut self, yaml: &'static str) -> Self {
        self.samples.push(yaml);
        self
    }

    /// Gives the operator's container a variable, such as an image that it uses: one whose name ends in
    /// `_IMAGE` is also listed as such in a bundle.
    #[must_use]
    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Tells the time that conditions and events carry: for tests that compare whole objects.
    #[must_use]
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// The definitions of the operator's kinds, fit to be installed.
    pub fn definitions(&self) -> Vec<CustomResourceDefinition> {
        let reconciled = self.controllers.iter().map(|controller| controller.definition());
        let mut definitions: Vec<_> = reconciled.collect();
        for definition in self.kinds.iter().map(|definition| definition()) {
            if !definitions.iter().any(|other| other.metadata.name == definition.metadata.name) {
                definitions.push(definition);
            }
        }
        #[cfg(feature = "webhook")]
        {
            let home = crate::generate::own_namespace(&self.name);
            converted(&mut definitions, &self.name, &home, &self.webhooks());
        }
        definitions
    }

    /// What the controllers have declared, ready to answer.
    #[cfg(feature = "webhook")]
    fn hooks(&self) -> Vec<crate::webhook::Hook> {
        let registry = Arc::new(Registry::new(&self.name));
        let wired = self.controllers.iter().map(|controller| controller.wire(&registry));
        wired.flat_map(|wired| wired.asked.webhooks).collect()
    }

    /// The webhooks that the controllers have declared.
    #[cfg(feature = "webhook")]
    pub fn webhooks(&self) -> Vec<crate::generate::webhook::Webhook> {
        self.hooks().into_iter().map(|hook| hook.about).collect()
    }

    /// The permissions that follow from what the controllers ask for, merged and sorted.
    pub fn access(&self) -> Access {
        let access = self.access_without_certificate();
        #[cfg(feature = "webhook")]
        let access = with_certificate(&access, &self.name, &self.webhooks());
        access
    }

    /// The same for an operator whose certificate, if it needs one, is made by others.
    fn access_without_certificate(&self) -> Access {
        let registry = Arc::new(Registry::new(&self.name));
        let (mut rules, mut cluster_rules, mut own_namespace) =
            (Vec::new(), Vec::new(), Vec::new());
        for wired in self.controllers.iter().map(|controller| controller.wire(&registry)) {
            rules.extend(wired.asked.rules);
            cluster_rules.extend(wired.asked.cluster_rules);
            if wired.finalizes {
                own_namespace.extend(self.home_rules());
            }
        }
        let mut lease = rule("coordination.k8s.io", "leases", &["get", "update", "watch"]);
        lease.resource_names = Some(vec![self.name.clone()]);
        own_namespace.extend([lease, rule("coordination.k8s.io", "leases", &["create"])]);
        Access {
            rules: rbac::merge(rules),
            cluster_rules: rbac::merge(cluster_rules),
            own_namespace: rbac::merge(own_namespace),
        }
    }

    /// Whether objects of any kind wait for it when they are deleted.
    fn finalizes(&self) -> bool {
        let registry = Arc::new(Registry::new(&self.name));
        self.controllers.iter().any(|controller| controller.wire(&registry).finalizes)
    }

    /// To see that it is being removed for good: see [`Flags::own_deployment`]. A role in a namespace that
    /// speaks of namespaces speaks of that one alone.
    fn home_rules(&self) -> [PolicyRule; 2] {
        let mut deployment = rule("apps", "deployments", &["get"]);
        deployment.resource_names = Some(vec![manager_name(&self.name)]);
        [deployment, rule("", "namespaces", &["watch"])]
    }

    /// Runs until `stop` resolves: for programs with a `main` of their own, and for tests.
    pub async fn run(
        self,
        config: kube::Config,
        flags: Flags,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), RunError> {
        #[cfg(feature = "webhook")]
        let webhooks = self.hooks();
        let Self { name, controllers, runnables, clock, .. } = self;
        let parts = Parts {
            controllers,
            runnables,
            clock,
            #[cfg(feature = "webhook")]
            webhooks,
        };
        Manager::start(&name, parts, config, flags).await?.run(stop).await
    }

    /// The whole program: parses the command line, and runs or prints.
    pub fn main(self) -> ExitCode {
        let name: &'static str = self.name.clone().leak(); // once, and clap keeps it
        let command = Arguments::command().name(name).bin_name(name).version(self.version);
        let arguments = Arguments::from_arg_matches(&command.get_matches())
            .unwrap_or_else(|error| error.exit());
        let result = match arguments.verb {
            None => self.run_to_the_end(arguments.flags),
            Some(Verb::Run(flags)) => self.run_to_the_end(*flags),
            Some(Verb::Generate(what)) => self.generate(what),
            Some(Verb::Install(install)) => self.install(&install),
            Some(Verb::Leave(flags)) => self.leave(&flags),
            Some(Verb::Uninstall(cluster)) => cluster.uninstall(&self.name, &self.definitions()),
        };
        match result {
            Ok(()) => ExitCode::SUCCESS,
            Err(text) => {
                let _ = writeln!(std::io::stderr(), "{text}");
                ExitCode::FAILURE
            }
        }
    }

    fn run_to_the_end(self, flags: Flags) -> Result<(), String> {
        telemetry::install(&flags.log_level, flags.log_format);
        info!(name = self.name, version = self.version, "starting");
        // One thread for all of the library's work, so that memory stays small; the author's code has
        // threads of its own.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| format!("cannot start: {error}"))?;
        runtime.block_on(async {
            let config = crate::manager::configuration(flags.kubeconfig.as_deref()).await;
            let config = config.map_err(|error| chain(&error))?;
            self.run(config, flags, crate::shutdown::signal()).await.map_err(|error| chain(&error))
        })
    }
}
