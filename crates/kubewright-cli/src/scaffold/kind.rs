//! The files of a kind, and the edits that make it part of its project.

use std::path::Path;

use anyhow::Context as _;
use kubewright::project::{Api, Project};

use super::edit::{self, EditError};
use super::names::GroupVersionKind;
use super::plan::Plan;
use super::{record, render};

/// Whom the pods run as unless another number is asked for. An image often names its user, and by a name
/// alone the kubelet cannot tell that it is not root.
pub(crate) const USER: i64 = 1001;

/// A kind to be added.
#[derive(Debug)]
pub(crate) struct NewKind<'a> {
    pub(crate) project: &'a Project,
    pub(crate) kind: &'a GroupVersionKind,
    pub(crate) api: &'a Api,
    module: String,
}

impl<'a> NewKind<'a> {
    pub(crate) fn new(project: &'a Project, kind: &'a GroupVersionKind, api: &'a Api) -> Self {
        let is_own = |other: &&Api| other.kind == kind.kind && other.group == kind.group;
        let earlier = project.api.iter().take_while(|other| !is_own(other));
        // The first of that name has the short one.
        let is_taken = earlier.filter(|other| other.kind == kind.kind).count() > 0;
        let module = if is_taken { kind.longer_module() } else { kind.module() };
        Self { project, kind, api, module }
    }

    /// The module of the type.
    pub(crate) fn module(&self) -> &str {
        &self.module
    }

    /// The file of the type.
    pub(crate) fn path(&self) -> String {
        format!("src/{}.rs", self.module)
    }

    /// The environment variable that names its image.
    fn image_variable(&self) -> String {
        format!("{}_IMAGE", self.module.to_uppercase())
    }

    /// The type, with its controller if that is wanted.
    pub(crate) fn plan(&self, root: &Path) -> anyhow::Result<Plan> {
        let mut plan = Plan::new(root);
        let template = match self.api.image {
            Some(_) => include_str!("../../templates/kind/kind_image.rs"),
            None => include_str!("../../templates/kind/kind.rs"),
        };
        plan.create(&self.path(), self.render(template))?;
        plan.provide(
            &self.kind.sample(),
            self.render(include_str!("../../templates/kind/sample.yaml")),
        )?;
        let GroupVersionKind { kind, .. } = self.kind;
        let mut calls = Vec::new();
        if self.api.controller {
            self.controller_files(&mut plan)?;
            calls.push(format!(".controller::<{}::{kind}Controller>()", self.module));
        } else {
            calls.push(format!(".kind::<{}::{kind}>()", self.module));
        }
        if self.api.image.is_some() {
            calls.push(format!(
                ".environment(\"{}\", {}::IMAGE)",
                self.image_variable(),
                self.module
            ));
        }
        calls.push(format!(".sample(include_str!(\"../{}\"))", self.kind.sample()));
        self.register(&mut plan, &calls)?;
        self.record(&mut plan)?;
        Ok(plan)
    }

    /// The controller of a type that is there.
    pub(crate) fn controller_plan(&self, root: &Path) -> anyhow::Result<Plan> {
        let mut plan = Plan::new(root);
        let GroupVersionKind { kind, .. } = self.kind;
        self.controller_files(&mut plan)?;
        let path = self.path();
        let text = plan.read(&path)?.with_context(|| format!("{path} is not there any more"))?;
        let text =
            edit::declare(&text, &self.declarations()).map_err(|error| cannot(&path, error))?;
        plan.replace(&path, text)?;
        self.register(&mut plan, &[format!(".controller::<{}::{kind}Controller>()", self.module)])?;
        self.record(&mut plan)?;
        Ok(plan)
    }

    fn controller_files(&self, plan: &mut Plan) -> anyhow::Result<()> {
        let Self { module, api, .. } = self;
        let (controller, tests) = match (&api.image, api.cluster) {
            (Some(_), _) => (
                include_str!("../../templates/kind/controller_image.rs"),
                include_str!("../../templates/kind/tests_image.rs"),
            ),
            (None, true) => (
                include_str!("../../templates/kind/controller.rs"),
                include_str!("../../templates/kind/tests_cluster.rs"),
            ),
            (None, false) => (
                include_str!("../../templates/kind/controller.rs"),
                include_str!("../../templates/kind/tests.rs"),
            ),
        };
        plan.create(&format!("src/{module}/controller.rs"), self.render(controller))?;
        if api.image.is_some() {
            let deployment = self.render(include_str!("../../templates/kind/deployment.rs"));
            plan.create(&format!("src/{module}/deployment.rs"), deployment)?;
        }
        plan.create(&format!("tests/it/{module}.rs"), self.render(tests))?;
        let main = "tests/it/main.rs";
        match plan.read(main)? {
            None => {
                plan.create(main, self.render(include_str!("../../templates/kind/tests_main.rs")))
            }
            Some(text) => {
                let declaration = [format!("mod {module};")];
                let text =
                    edit::declare(&text, &declaration).map_err(|error| cannot(main, error))?;
                plan.replace(main, text)
            }
        }
    }

    /// Makes it known to the operator.
    fn register(&self, plan: &mut Plan, calls: &[String]) -> anyhow::Result<()> {
        let path = "src/lib.rs";
        let text = plan.read(path)?.with_context(|| {
            format!("{path} is not there, where the operator is made: nothing was changed")
        })?;
        let edited = self.registered(&text, calls).map_err(|error| cannot(path, error))?;
        plan.replace(path, edited)
    }

    fn registered(&self, text: &str, calls: &[String]) -> Result<String, EditError> {
        let mut text = edit::declare(text, &[format!("pub mod {};", self.module)])?;
        if self.api.controller {
            // With a controller the kind is known by that.
            text =
                edit::without_call(&text, "kind", &format!("{}::{}", self.module, self.kind.kind))?;
        }
        edit::describe(&text, calls)
    }

    fn record(&self, plan: &mut Plan) -> anyhow::Result<()> {
        let text = plan.read(record::FILE)?.unwrap_or_default();
        let text = match self.kind.group.split_once('.') {
            Some((_, domain)) => record::with_domain(&text, domain)?,
            None => text,
        };
        plan.replace(record::FILE, record::with_api(&text, self.api)?)
    }

    /// What connects the type with its controller.
    fn declarations(&self) -> Vec<String> {
        let GroupVersionKind { kind, .. } = self.kind;
        if !self.api.controller {
            return Vec::new();
        }
        if self.api.image.is_none() {
            return vec![
                "mod controller;".to_owned(),
                format!("pub use controller::{kind}Controller;"),
            ];
        }
        vec![
            "mod controller;".to_owned(),
            "mod deployment;".to_owned(),
            format!("pub use controller::{{IMAGE, {kind}Controller}};"),
        ]
    }

    fn render(&self, template: &str) -> String {
        let Self { project, kind, api, module } = self;
        let declarations = self.declarations();
        let (modules, uses): (Vec<_>, Vec<_>) =
            declarations.iter().map(String::as_str).partition(|line| line.starts_with("mod "));
        let modules = if declarations.is_empty() {
            String::new()
        } else {
            format!("\n{}\n\n{}\n", modules.join("\n"), uses.join("\n"))
        };
        let variable = kind.variable();
        let port = api.port.map(|port| port.to_string());
        let with_port =
            |text: &str| port.as_deref().map_or(String::new(), |port| text.replace("PORT", port));
        let with_kind = |text: &str| with_port(text).replace("KIND", &variable);
        let words: Vec<_> = api.command.iter().map(|word| format!("{word:?}")).collect();
        let with_command = |text: &str| {
            let text = text.replace("COUNT", &words.len().to_string());
            if words.is_empty() { String::new() } else { text.replace("WORDS", &words.join(", ")) }
        };
        let plural = api.plural.as_ref().map(|plural| format!(", plural = \"{plural}\""));
        let spec = match &api.image {
            Some(_) => format!("\n  size: 1{}", with_port("\n  containerPort: PORT")),
            None => " {}".to_owned(),
        };
        render(
            template,
            &[
                ("Kind", &kind.kind),
                ("kind", &variable),
                ("module", module),
                ("a", article(&kind.kind)),
                ("crate", &project.name.replace('-', "_")),
                ("group", &kind.group),
                ("version", &kind.version),
                ("scope", if api.cluster { "" } else { ", namespaced" }),
                ("plural", plural.as_deref().unwrap_or_default()),
                ("object", &kind.dashed()),
                ("modules", &modules),
                ("IMAGE", &self.image_variable()),
                ("image", api.image.as_deref().unwrap_or_default()),
                ("spec", &spec),
                (
                    "command",
                    &with_command(
                        "\n/// How the image is started.\nconst COMMAND: [&str; COUNT] = [WORDS];\n",
                    ),
                ),
                ("command_field", &with_command(COMMAND_FIELD)),
                ("user", &api.run_as_user.unwrap_or(USER).to_string()),
                ("port_field", &with_port(PORT_FIELD)),
                ("port_default", &with_port("\nfn default_port() -> i32 {\n    PORT\n}\n")),
                ("port_import", &with_port("ContainerPort, ")),
                ("port_value", &with_port(", container_port: PORT")),
                ("ports", &with_kind(PORTS)),
            ],
        )
    }
}

const PORT_FIELD: &str = r#"

    /// The port that the instances serve on.
    #[serde(default = "default_port")]
    #[schemars(range(min = 1, max = 65535))]
    pub container_port: i32,"#;

const COMMAND_FIELD: &str = "
        command: Some(COMMAND.map(str::to_owned).to_vec()),";

const PORTS: &str = "
        ports: Some(vec![ContainerPort { container_port: KIND.spec.container_port, ..Default::default() }]),";

pub(super) fn cannot(path: &str, error: EditError) -> anyhow::Error {
    anyhow::Error::new(error).context(format!("{path} cannot be edited, so nothing was changed"))
}

/// As it is spelt, not as it is spoken.
pub(super) fn article(word: &str) -> &'static str {
    if word.starts_with(['A', 'E', 'I', 'O', 'U']) { "an" } else { "a" }
}
