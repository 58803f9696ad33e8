//! What a wish for a kind or a controller comes to, given what the project has already.

use anyhow::Context as _;
use kubewright::project::{Api, Project};

use super::ask::Wanted;
use crate::project::Project as Place;
use crate::scaffold::format::format;
use crate::scaffold::kind::NewKind;
use crate::scaffold::names::GroupVersionKind;
use crate::scaffold::plan::Plan;
use crate::verbs::summary::Ending;

/// A kind in a project.
pub(super) struct Request<'a> {
    pub(super) place: &'a Place,
    pub(super) project: &'a Project,
    pub(super) kind: &'a GroupVersionKind,
    pub(super) ending: Ending,
}

impl Request<'_> {
    /// A kind, with its controller if that is wanted.
    pub(super) fn add(&self, api: &Api, wanted: Wanted) -> anyhow::Result<()> {
        let Self { kind, .. } = self;
        if let Some(there) = self.there()? {
            return if wanted.controller && !there.controller {
                self.add_controller()
            } else {
                self.say_there(there)
            };
        }
        if !wanted.kind {
            anyhow::ensure!(!wanted.controller, "{}", self.missing());
            return self.ending.nothing("nothing was asked for, and nothing was done");
        }
        let new = NewKind::new(self.project, kind, api);
        let plan = new.plan(self.place.root())?;
        let closing = format!(
            "{kind} is there: {}. Next:\n\n  kubewright generate    definitions, roles, manifests\n  \
             kubewright test        on a real API server\n  kubewright dev up      a Kubernetes of your own to run it on\n",
            new.path()
        );
        self.finish(plan, &closing)
    }

    /// The controller of a kind that is there.
    pub(super) fn add_controller(&self) -> anyhow::Result<()> {
        let there = self.there()?.with_context(|| self.missing())?;
        if there.controller {
            return self.say_there(there);
        }
        let api = Api { controller: true, ..there.clone() };
        let new = NewKind::new(self.project, self.kind, &api);
        let plan = new.controller_plan(self.place.root())?;
        let closing = format!("{} has a controller now. Next:\n\n  kubewright test\n", self.kind);
        self.finish(plan, &closing)
    }

    /// The kind as it is recorded. One of another version is in the way.
    fn there(&self) -> anyhow::Result<Option<&Api>> {
        let GroupVersionKind { group, version, kind } = self.kind;
        let there = self.project.api.iter().find(|api| api.group == *group && api.kind == *kind);
        if let Some(Api { version: other, .. }) = there.filter(|api| api.version != *version) {
            anyhow::bail!(
                "{kind} is there already as {group}/{other}: for a second version, `kubewright add webhook --api-version \
                 {group}/{other} --kind {kind} --conversion --spoke {version}`; to move to {version}, change `version` in its \
                 `#[kube(…)]` and in kubewright.toml"
            );
        }
        Ok(there)
    }

    /// The kind as it is recorded, which must have a controller.
    pub(super) fn controlled(&self) -> anyhow::Result<&Api> {
        let there = self.there()?.with_context(|| self.missing())?;
        anyhow::ensure!(
            there.controller,
            "{} has no controller, in which its webhooks are declared: `kubewright add controller` writes it",
            self.kind
        );
        Ok(there)
    }

    fn say_there(&self, api: &Api) -> anyhow::Result<()> {
        let path = NewKind::new(self.project, self.kind, api).path();
        let what = if api.controller { ", with its controller" } else { "" };
        self.ending.nothing(&format!("{} is there already: {path}{what}", self.kind))
    }

    fn missing(&self) -> String {
        let GroupVersionKind { kind, .. } = self.kind;
        format!(
            "there is no {} in this project: `kubewright add api --api-version {} --kind {kind}` writes it",
            self.kind,
            self.kind.api_version()
        )
    }

    pub(super) fn finish(&self, mut plan: Plan, closing: &str) -> anyhow::Result<()> {
        format(&mut plan, self.place.root());
        self.ending.finish(&plan, closing)
    }
}
