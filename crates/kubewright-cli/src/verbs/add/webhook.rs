//! `kubewright add webhook` and `kubewright create webhook`.

use clap::Args;

use super::What;
use super::request::Request;
use crate::project;
use crate::scaffold::record;
use crate::scaffold::webhook::{DEFAULTING, NewWebhooks, VALIDATION};
use crate::verbs::ignored::KindFlags;
use crate::verbs::summary::Ending;

#[derive(Debug, Args)]
pub(in crate::verbs) struct Webhook {
    #[command(flatten)]
    what: What,
    /// Fill in what the schema cannot
    #[arg(long)]
    defaulting: bool,
    /// Refuse what the schema cannot, and warn
    #[arg(long, alias = "programmatic-validation")]
    validation: bool,
    /// Serve the kind in another version as well, which --spoke names
    #[arg(long, requires = "spoke")]
    conversion: bool,
    /// That version, as v1beta1; the kind's own stays the one that is stored
    #[arg(long, value_name = "VERSION", requires = "conversion", value_delimiter = ',')]
    spoke: Vec<String>,
    #[command(flatten)]
    ending: Ending,
    #[command(flatten)]
    ignored: KindFlags,
}

impl Webhook {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.defaulting || self.validation || self.conversion,
            "which? Say it with --defaulting, --validation, or --conversion --spoke VERSION"
        );
        let place = project::Project::find()?;
        let project = record::read(&place.read(record::FILE)?)?;
        let kind = self.what.kind(&project, None)?;
        self.ignored.say();
        let request =
            Request { place: &place, project: &project, kind: &kind, ending: self.ending };
        let api = request.controlled()?;
        let has = |word: &str| api.webhooks.iter().any(|known| known == word);
        let defaulting = self.defaulting && !has(DEFAULTING);
        let validation = self.validation && !has(VALIDATION);
        let spokes: Vec<_> =
            self.spoke.iter().filter(|spoke| !api.spokes.contains(spoke)).cloned().collect();
        for spoke in &spokes {
            kind.other_version(spoke).map_err(anyhow::Error::msg)?;
        }
        if !defaulting && !validation && spokes.is_empty() {
            return self.ending.nothing(&format!("{kind} has these webhooks already"));
        }
        let new = NewWebhooks {
            project: &project,
            kind: &kind,
            api,
            defaulting,
            validation,
            spokes: &spokes,
        };
        let plan = new.plan(place.root())?;
        let closing = format!(
            "{kind} has webhooks now. Next:\n\n  kubewright generate    Service, configurations, roles\n  \
             kubewright test        they are called by a real API server\n"
        );
        request.finish(plan, &closing)
    }
}
