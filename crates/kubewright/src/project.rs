//! `kubewright.toml`, the file at the root of a project: what the code of an operator does not say.
//!
//! Parses and checks; reads no file, because the text is compiled into the operator.

use serde::Deserialize;

/// A project as its `kubewright.toml` describes it.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Project {
    /// The operator's name, the same as that of [`crate::Operator::new`].
    pub name: String,
    /// The operator's image, without a tag: where it is pushed to and installed from.
    pub image: Option<String>,
    /// What the groups of its kinds end in, as `example.com`.
    pub domain: Option<String>,
    /// The kinds that were scaffolded, as they were asked for.
    #[serde(default)]
    pub api: Vec<Api>,
    /// What a catalogue of operators shows.
    #[serde(default)]
    pub bundle: Bundle,
}

/// A section `[[api]]`: a kind, as it was asked for. The code decides, not this; it is for later
/// upgrades of what was scaffolded.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Api {
    /// The whole group, as `cache.example.com`.
    pub group: String,
    /// The version, as `v1alpha1`.
    pub version: String,
    /// The kind, as `Memcached`.
    pub kind: String,
    /// The plural, where it is not the usual one.
    pub plural: Option<String>,
    /// True if its objects belong to no namespace.
    pub cluster: bool,
    /// True if it has a controller.
    pub controller: bool,
    /// The image that is run for each object.
    pub image: Option<String>,
    /// How the image is started.
    pub command: Vec<String>,
    /// The port that it serves on.
    pub port: Option<u16>,
    /// Whom it runs as.
    pub run_as_user: Option<i64>,
    /// Its webhooks: `defaulting`, `validation`.
    pub webhooks: Vec<String>,
    /// The other versions that it is served in.
    pub spokes: Vec<String>,
}

/// The section `[bundle]`. All of it is optional until a bundle is made.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Bundle {
    /// The name that people read.
    pub display_name: Option<String>,
    /// What the operator does: the first line stands for it where there is little room; Markdown.
    pub description: Option<String>,
    /// Who publishes it.
    pub provider: Option<Provider>,
    /// Whom to write to.
    pub maintainers: Vec<Maintainer>,
    /// An SVG as text, or any picture as a `data:` URL.
    pub icon: Option<String>,
    /// Words to find it by.
    pub keywords: Vec<String>,
    /// Where it is filed, in the words of `OperatorHub`.
    pub categories: Vec<String>,
    /// How far it is: `alpha`, `beta`, `stable`.
    pub maturity: Option<String>,
    /// What it can do, in the words of `OperatorHub`: `Basic Install` and up.
    pub capabilities: Option<String>,
    /// Further reading.
    pub links: Vec<Link>,
    /// Where the source is.
    pub repository: Option<String>,
}

/// Who publishes an operator.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Provider {
    /// The name of a person or an organisation.
    pub name: String,
    /// Their site.
    pub url: Option<String>,
}

/// Somebody who looks after an operator.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Maintainer {
    /// The name of a person or a team.
    pub name: String,
    /// Their address.
    pub email: String,
}

/// Further reading.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Link {
    /// What it is.
    pub name: String,
    /// Where it is.
    pub url: String,
}

/// Why a `kubewright.toml` cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ProjectError {
    /// It is not TOML, or has a key that means nothing.
    #[error("cannot read kubewright.toml")]
    Read(#[source] Box<toml::de::Error>),
    /// It belongs to another operator.
    #[error("kubewright.toml is of `{found}`, but the operator is called `{expected}`")]
    Name {
        /// The name in the file.
        found: String,
        /// The name in the code.
        expected: String,
    },
}

impl Project {
    /// The project that `text` describes.
    pub fn parse(text: &str) -> Result<Self, ProjectError> {
        toml::from_str(text).map_err(|error| ProjectError::Read(Box::new(error)))
    }

    /// The project of the operator called `name`; `text` must be of the same name.
    pub fn of(name: &str, text: &str) -> Result<Self, ProjectError> {
        let project = Self::parse(text)?;
        if project.name != name {
            let (found, expected) = (project.name, name.to_owned());
            return Err(ProjectError::Name { found, expected });
        }
        Ok(project)
    }

    /// A project of which nothing but the name is known.
    pub fn named(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            image: None,
            domain: None,
            api: Vec::new(),
            bundle: Bundle::default(),
        }
    }

    /// The image that is installed unless another is asked for.
    pub fn default_image(&self) -> String {
        self.tagged("latest")
    }

    /// The image of a release.
    pub fn image_of(&self, version: &str) -> String {
        self.tagged(&format!("v{version}"))
    }

    fn tagged(&self, tag: &str) -> String {
        let image = self.image.as_deref().unwrap_or(&self.name);
        let last = image.rsplit('/').next().unwrap_or_default();
        if last.contains([':', '@']) { image.to_owned() } else { format!("{image}:{tag}") }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::error::chain;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Any text, and a good file that was cut or has something else in it.
        #[test]
        fn any_text_is_a_project_or_refused(
            text in ".*", from in 0..WHOLE.len(), to in 0..WHOLE.len()
        ) {
            let _ = Project::parse(&text);
            if let (Some(start), Some(end)) = (WHOLE.get(..from), WHOLE.get(to..)) {
                let odd = format!("{start}{text}{end}");
                if let Ok(project) = Project::parse(&odd) {
                    let _ = (project.default_image(), project.image_of(&text));
                }
            }
        }
    }

    const WHOLE: &str = r#"
        name = "guestbook-operator"
        image = "registry.example.com:5000/guestbook-operator"
        domain = "example.com"

        [[api]]
        group = "webapp.example.com"
        version = "v1"
        kind = "Guestbook"
        controller = true
        image = "example.com/guestbook:1"
        command = ["guestbook", "--verbose"]
        port = 8080
        run-as-user = 1001

        [bundle]
        display-name = "Guestbook"
        description = "Runs guestbooks."
        provider = { name = "Example", url = "https://example.com" }
        maintainers = [{ name = "A Person", email = "person@example.com" }]
        icon = "<svg/>"
        keywords = ["guestbook"]
        categories = ["Developer Tools"]
        maturity = "alpha"
        capabilities = "Basic Install"
        links = [{ name = "Documentation", url = "https://example.com/docs" }]
        repository = "https://example.com/source"
    "#;

    #[test]
    fn every_key_is_read() {
        let project = Project::of("guestbook-operator", WHOLE).unwrap();
        let api = &project.api[0];
        assert_eq!(
            (api.kind.as_str(), api.port, api.run_as_user),
            ("Guestbook", Some(8080), Some(1001))
        );
        assert!(api.controller && !api.cluster);
        let bundle = project.bundle;
        assert_eq!(bundle.display_name.as_deref(), Some("Guestbook"));
        assert_eq!(bundle.provider.unwrap().url.as_deref(), Some("https://example.com"));
        assert_eq!(bundle.maintainers[0].email, "person@example.com");
        assert_eq!(bundle.links[0].name, "Documentation");
    }

    #[test]
    fn a_name_is_enough() {
        assert_eq!(Project::parse("name = \"a\"").unwrap(), Project::named("a"));
    }

    #[test]
    fn an_image_without_a_tag_is_the_latest() {
        for (image, expected) in [
            ("registry:5000/a", "registry:5000/a:latest"),
            ("a:v1", "a:v1"),
            ("a@sha256:00", "a@sha256:00"),
        ] {
            let project = Project { image: Some(image.to_owned()), ..Project::named("b") };
            assert_eq!(project.default_image(), expected);
        }
        assert_eq!(Project::named("b").default_image(), "b:latest");
        assert_eq!(Project::named("b").image_of("0.0.1"), "b:v0.0.1");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let said = |text| chain(&Project::of("a", text).unwrap_err());
        assert!(said("name = \"a\"\nimagee = \"b\"").contains("unknown field `imagee`"));
        assert!(
            said("name =").starts_with("cannot read kubewright.toml: TOML parse error at line 1")
        );
        assert_eq!(
            said("name = \"b\""),
            "kubewright.toml is of `b`, but the operator is called `a`"
        );
    }
}
