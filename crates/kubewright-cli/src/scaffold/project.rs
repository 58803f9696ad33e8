//! The files of a new project.

use std::path::Path;

use super::library::Library;
use super::plan::Plan;
use super::{record, render};

/// What a project is made from.
#[derive(Debug)]
pub(crate) struct New<'a> {
    pub(crate) name: &'a str,
    pub(crate) domain: Option<&'a str>,
    /// Where its sources will be, without `https://`.
    pub(crate) repository: Option<&'a str>,
    pub(crate) library: &'a Library,
}

impl New<'_> {
    /// Everything that is written into `root`.
    pub(crate) fn plan(&self, root: &Path) -> anyhow::Result<Plan> {
        let image = self.image();
        let repository = self.repository.map(|repository| {
            let address = format!("https://{}", repository.trim_start_matches("https://"));
            format!("\nrepository = {}", toml_edit::Value::from(address))
        });
        let crate_name = self.name.replace('-', "_");
        let values = [
            ("name", self.name),
            ("crate", crate_name.as_str()),
            ("image", image.as_str()),
            ("repository", repository.as_deref().unwrap_or_default()),
            ("kubewright", &self.library.dependency("kubewright")),
            ("kubewright-testenv", &self.library.dependency("kubewright-testenv")),
        ];
        let mut plan = Plan::new(root);
        for (path, template) in [
            ("Cargo.toml", include_str!("../../templates/project/Cargo.toml")),
            ("src/lib.rs", include_str!("../../templates/project/lib.rs")),
            ("src/main.rs", include_str!("../../templates/project/main.rs")),
        ] {
            plan.create(path, render(template, &values))?;
        }
        if is_in_workspace(root) {
            let text = plan.read("Cargo.toml")?.unwrap_or_default();
            plan.replace(
                "Cargo.toml",
                format!("{text}\n[workspace] # not a part of the one around it\n"),
            )?;
        }
        plan.create(record::FILE, self.record(&image, &values)?)?;
        for (path, template) in [
            (".gitignore", include_str!("../../templates/project/gitignore")),
            ("Makefile", include_str!("../../templates/project/Makefile")),
            ("README.md", include_str!("../../templates/project/README.md")),
        ] {
            plan.provide(path, render(template, &values))?;
        }
        Ok(plan)
    }

    /// Where the image will be pushed to, as Operator SDK guesses it.
    fn image(&self) -> String {
        match self.domain {
            Some(domain) => format!("{domain}/{}", self.name),
            None => self.name.to_owned(),
        }
    }

    fn record(&self, image: &str, values: &[(&str, &str)]) -> anyhow::Result<String> {
        let text = render(include_str!("../../templates/project/kubewright.toml"), values);
        let text = format!("{text}image = {}\n", toml_edit::Value::from(image));
        match self.domain {
            Some(domain) => record::with_domain(&text, domain),
            None => Ok(text),
        }
    }
}

/// True if Cargo would take a package in `root` for a member of a workspace around it.
fn is_in_workspace(root: &Path) -> bool {
    let mut above = root.ancestors().skip(1);
    above.any(|folder| folder.join("Cargo.toml").is_file())
}
