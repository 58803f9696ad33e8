//! The files of a kind's webhooks, and the edits that declare them.

use std::path::Path;

use anyhow::Context as _;
use kubewright::project::{Api, Project};
use toml_edit::{Array, DocumentMut, InlineTable, Item, Value};

use super::edit::{self, EditError};
use super::kind::{NewKind, article, cannot};
use super::names::GroupVersionKind;
use super::plan::Plan;
use super::{record, render};

const CARGO: &str = "Cargo.toml";
const FEATURE: &str = "webhook";
/// What `kubewright.toml` calls them.
pub(crate) const DEFAULTING: &str = "defaulting";
pub(crate) const VALIDATION: &str = "validation";

/// Webhooks to be added to a kind that is there.
#[derive(Debug)]
pub(crate) struct NewWebhooks<'a> {
    pub(crate) project: &'a Project,
    pub(crate) kind: &'a GroupVersionKind,
    /// The kind as it is recorded.
    pub(crate) api: &'a Api,
    pub(crate) defaulting: bool,
    pub(crate) validation: bool,
    /// Other versions of the kind.
    pub(crate) spokes: &'a [String],
}

impl NewWebhooks<'_> {
    /// Everything that changes.
    pub(crate) fn plan(&self, root: &Path) -> anyhow::Result<Plan> {
        let mut plan = Plan::new(root);
        let module = NewKind::new(self.project, self.kind, self.api).module().to_owned();
        let mut declarations = Vec::new();
        let mut tests = Vec::new();
        if self.defaulting || self.validation {
            self.admission(&mut plan, &module)?;
            declarations.push("mod webhook;".to_owned());
            tests.push(format!("{module}_webhook"));
        }
        for spoke in self.spokes {
            self.spoke(&mut plan, &module, spoke)?;
            declarations.push(format!("pub mod {spoke};"));
            tests.push(format!("{module}_{spoke}"));
        }
        change(&mut plan, &format!("src/{module}.rs"), |text| edit::declare(text, &declarations))?;
        let controller = format!("src/{module}/controller.rs");
        change(&mut plan, &controller, |text| edit::wired(text, &self.calls()))?;
        tests.push("beside".to_owned());
        let tests: Vec<_> = tests.iter().map(|name| format!("mod {name};")).collect();
        change(&mut plan, "tests/it/main.rs", |text| edit::declare(text, &tests))?;
        let beside = include_str!("../../templates/webhook/beside.rs");
        plan.provide("tests/it/beside.rs", self.render(beside, &module, ""))?;
        let text = plan.read(CARGO)?.with_context(|| format!("{CARGO} is not there"))?;
        plan.replace(CARGO, with_feature(&text)?)?;
        let text = plan.read(record::FILE)?.unwrap_or_default();
        plan.replace(record::FILE, record::with_api(&text, &self.recorded())?)?;
        Ok(plan)
    }

    /// What is filled in and what is looked at, in one file.
    fn admission(&self, plan: &mut Plan, module: &str) -> anyhow::Result<()> {
        let path = format!("src/{module}/webhook.rs");
        let head = self.render(include_str!("../../templates/webhook/webhook.rs"), module, "");
        let mut text = plan.read(&path)?.unwrap_or(head);
        for (is_wanted, name, template) in [
            (self.defaulting, "Default", include_str!("../../templates/webhook/default.rs")),
            (self.validation, "Validate", include_str!("../../templates/webhook/validate.rs")),
        ] {
            if is_wanted && !text.contains(&format!("{name} for ")) {
                text += &self.render(template, module, "");
            }
        }
        plan.replace(&path, text)?;
        let tests = self.render(include_str!("../../templates/webhook/tests.rs"), module, "");
        plan.provide(&format!("tests/it/{module}_webhook.rs"), tests)
    }

    /// Another version, which begins as a copy of the stored one.
    fn spoke(&self, plan: &mut Plan, module: &str, spoke: &str) -> anyhow::Result<()> {
        let path = format!("src/{module}.rs");
        let text = plan.read(&path)?.with_context(|| format!("{path} is not there any more"))?;
        let (spec, fields) = edit::fields(&text, &format!("{}Spec", self.kind.kind))
            .map_err(|error| cannot(&path, error))?;
        let version = format!("version = \"{}\"", self.kind.version);
        let spec = spec.replace(&version, &format!("version = \"{spoke}\""));
        let template = include_str!("../../templates/webhook/spoke.rs");
        let text = render(template, &[("spec", &spec), ("fields", &fields.join(", "))]);
        plan.create(&format!("src/{module}/{spoke}.rs"), self.render(&text, module, spoke))?;
        let tests = include_str!("../../templates/webhook/tests_spoke.rs");
        plan.provide(&format!("tests/it/{module}_{spoke}.rs"), self.render(tests, module, spoke))?;
        self.sample(plan, spoke)
    }

    /// An example of each version, for whoever installs the operator through OLM: that of the stored one, if
    /// it is still there.
    fn sample(&self, plan: &mut Plan, spoke: &str) -> anyhow::Result<()> {
        let other = self.kind.other_version(spoke).map_err(anyhow::Error::msg)?;
        let Some(stored) = plan.read(&self.kind.sample())? else { return Ok(()) };
        let [version, its] = [self.kind, &other].map(GroupVersionKind::api_version);
        plan.provide(&other.sample(), stored.replacen(&version, &its, 1))?;
        let call = format!(".sample(include_str!(\"../{}\"))", other.sample());
        change(plan, "src/lib.rs", |text| edit::describe(text, &[call]))
    }

    /// What the controller's `wire` is to say.
    fn calls(&self) -> Vec<String> {
        let mut calls = Vec::new();
        if self.validation {
            calls.push("validates()".to_owned());
        }
        if self.defaulting {
            calls.push("defaults()".to_owned());
        }
        let kind = &self.kind.kind;
        calls.extend(
            self.spokes.iter().map(|spoke| format!("converts::<super::{spoke}::{kind}>()")),
        );
        calls
    }

    fn recorded(&self) -> Api {
        let mut api = self.api.clone();
        let added = [(self.defaulting, DEFAULTING), (self.validation, VALIDATION)];
        let added = added.into_iter().filter(|(is_new, _)| *is_new);
        api.webhooks.extend(added.map(|(_, word)| word.to_owned()));
        api.spokes.extend(self.spokes.iter().cloned());
        api
    }

    fn render(&self, template: &str, module: &str, spoke: &str) -> String {
        let kind = &self.kind.kind;
        let api = |kind: &str| {
            if self.api.cluster {
                format!("kubewright::kube::Api::<{kind}>::all(env.client())")
            } else {
                format!("env.api::<{kind}>()")
            }
        };
        let a = article(kind);
        render(
            template,
            &[
                ("Kind", kind),
                ("module", module),
                ("a", a),
                ("A", if a == "an" { "An" } else { "A" }),
                ("crate", &self.project.name.replace('-', "_")),
                ("version", &self.kind.version),
                ("spoke", spoke),
                ("sample", &self.kind.sample()),
                ("api", &api(kind)),
                ("spoke_api", &api(&format!("{spoke}::{kind}"))),
            ],
        )
    }
}

/// Changes a file that must be there.
fn change(
    plan: &mut Plan,
    path: &str,
    edited: impl FnOnce(&str) -> Result<String, EditError>,
) -> anyhow::Result<()> {
    let text = plan.read(path)?.with_context(|| format!("{path} is not there any more"))?;
    let text = edited(&text).map_err(|error| cannot(path, error))?;
    plan.replace(path, text)
}

/// `text` with the feature of the library turned on.
fn with_feature(text: &str) -> anyhow::Result<String> {
    let mut document: DocumentMut = text.parse().with_context(|| format!("cannot edit {CARGO}"))?;
    let dependency = document
        .get_mut("dependencies")
        .and_then(|dependencies| dependencies.get_mut("kubewright"))
        .with_context(|| format!("{CARGO} does not depend on kubewright"))?;
    if let Some(version) = dependency.as_str() {
        let mut table = InlineTable::new();
        table.insert("version", version.into());
        *dependency = Item::Value(Value::InlineTable(table));
    }
    let table = dependency
        .as_table_like_mut()
        .with_context(|| format!("`kubewright` of {CARGO} is no table"))?;
    let features = table.entry("features").or_insert(Item::Value(Value::Array(Array::new())));
    let features = features
        .as_array_mut()
        .with_context(|| format!("`features` of kubewright in {CARGO} are no list"))?;
    if !features.iter().any(|feature| feature.as_str() == Some(FEATURE)) {
        features.push(FEATURE);
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_feature_is_turned_on_once_and_the_rest_stays() {
        for (before, after) in [
            (
                "kubewright = \"1\" # why",
                "kubewright = { version = \"1\" , features = [\"webhook\"] }",
            ),
            (
                "kubewright = { path = \"a\" }",
                "kubewright = { path = \"a\" , features = [\"webhook\"] }",
            ),
        ] {
            let text = with_feature(&format!("[dependencies]\n{before}\n")).unwrap();
            let words = |text: &str| text.replace(' ', "");
            assert!(words(&text).contains(&words(after)), "{text}");
            assert_eq!(with_feature(&text).unwrap(), text);
        }
        assert!(with_feature("[dependencies]\n").is_err());
    }
}
