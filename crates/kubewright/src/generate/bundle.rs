//! A bundle for the Operator Lifecycle Manager (format `registry+v1`): what a catalogue of operators
//! shows, installs and upgrades.

mod cluster_service_version;
mod descriptors;
mod metadata;
#[cfg(test)]
mod tests;

use k8s_openapi::ByteString;
use serde_json::{Value, json};

use super::files::{File, header};
use super::{Installation, rbac, yaml};
use crate::project::{self, Maintainer, Provider};

/// What a bundle is made from.
#[derive(Clone, Debug)]
pub struct Bundle<'a> {
    /// What is installed; its namespace and scope do not count, a bundle can be installed in all ways.
    pub installation: &'a Installation,
    /// What a catalogue shows.
    pub about: &'a project::Bundle,
    /// Examples of the kinds, as YAML.
    pub samples: &'a [&'a str],
    /// Which release this is, and where it is published.
    pub release: Release,
    /// The name of the folder that the bundle is in.
    pub folder: String,
}

/// A release and the channels that it is published in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Release {
    /// The version, as in `0.0.1`.
    pub version: String,
    /// At least one.
    pub channels: Vec<String>,
    /// One of them; the first if none is named.
    pub default_channel: Option<String>,
}

/// Why there can be no bundle.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Only a person can say what is missing.
    #[error("a bundle needs more of [bundle] in kubewright.toml: {}", keys.join(", "))]
    Missing {
        /// The keys.
        keys: Vec<&'static str>,
    },
    /// The picture is neither of the two.
    #[error(
        "`icon` of [bundle] in kubewright.toml is neither an SVG (`<svg …`) nor a picture as `data:image/png;base64,…`"
    )]
    Icon,
    /// The version is none.
    #[error("`{0}` is not a version such as 0.0.1")]
    Version(String),
    /// The default is none of the channels.
    #[error("the default channel `{default}` is not among the channels {}", channels.join(", "))]
    Channel {
        /// The default.
        default: String,
        /// The channels.
        channels: Vec<String>,
    },
    /// There is no channel.
    #[error("a bundle needs a channel")]
    NoChannel,
    /// Names of releases are labels, too.
    #[error("`{0}` is longer than the 63 characters that a release's name may have")]
    Name(String),
    /// An example is not YAML.
    #[error("a sample cannot be read")]
    Sample(#[source] Box<serde_saphyr::Error>),
    /// A file cannot be written as YAML.
    #[error(transparent)]
    Yaml(#[from] yaml::Error),
}

/// What must be there, once it is known to be.
struct About<'a> {
    display_name: &'a str,
    description: &'a str,
    provider: &'a Provider,
    maintainers: &'a [Maintainer],
    icon: Icon,
}

/// A picture as a release carries it.
struct Icon {
    data: Value,
    media_type: String,
}

/// The files of the bundle: those in its folder, and the `bundle.Dockerfile` beside it. Their paths
/// begin where the folder is.
pub fn bundle(bundle: &Bundle<'_>) -> Result<Vec<File>, Error> {
    let Bundle { installation, folder, .. } = bundle;
    let operator = &installation.operator;
    let header = header(&command(operator));
    let document = |path: &str, value: &Value| {
        let text = format!("# {header}\n{}", yaml::yaml(value)?);
        Ok::<_, Error>(File { path: format!("{folder}/{path}"), text })
    };
    let version = cluster_service_version::cluster_service_version(bundle)?;
    let mut files =
        vec![document(&format!("manifests/{operator}.clusterserviceversion.yaml"), &version)?];
    for definition in &installation.definitions {
        let path =
            format!("manifests/{}_{}.yaml", definition.spec.group, definition.spec.names.plural);
        let mut definition = definition.clone();
        definition.spec.conversion = None; // the lifecycle manager says how, by its `webhookdefinitions`
        files.push(document(&path, &json!(definition))?);
    }
    for role in rbac::people(operator, &installation.definitions) {
        let name = role.metadata.name.clone().unwrap_or_default();
        let path = format!("manifests/{name}_rbac.authorization.k8s.io_v1_clusterrole.yaml");
        files.push(document(&path, &json!(role))?);
    }
    let annotations = metadata::annotations(bundle)?;
    files.push(document("metadata/annotations.yaml", &json!({"annotations": annotations}))?);
    files.push(document("tests/scorecard/config.yaml", &metadata::scorecard())?);
    let text = format!("# {header}\n{}", metadata::dockerfile(folder, &annotations));
    files.push(File { path: "bundle.Dockerfile".to_owned(), text });
    Ok(files)
}

/// What the first line of each file names.
pub fn command(operator: &str) -> String {
    format!("{operator} generate bundle")
}

impl<'a> Bundle<'a> {
    /// What only a person can say, or which keys of it are missing.
    fn about(&self) -> Result<About<'a>, Error> {
        let about = self.about;
        let display_name = about.display_name.as_deref().map(str::trim).filter(|it| !it.is_empty());
        let description = about.description.as_deref().map(str::trim).filter(|it| !it.is_empty());
        let maintainers = Some(&about.maintainers[..]).filter(|list| !list.is_empty());
        let provider = about.provider.as_ref();
        let icon = about.icon.as_deref();
        let keys = [
            ("display-name", display_name.is_some()),
            ("description", description.is_some()),
            ("provider", provider.is_some()),
            ("maintainers", maintainers.is_some()),
            ("icon", icon.is_some()),
        ];
        let (Some(display_name), Some(description), Some(provider), Some(maintainers), Some(icon)) =
            (display_name, description, provider, maintainers, icon)
        else {
            let missing = keys.into_iter().filter(|(_, is_there)| !is_there);
            return Err(Error::Missing { keys: missing.map(|(key, _)| key).collect() });
        };
        let icon = Icon::parse(icon).ok_or(Error::Icon)?;
        Ok(About { display_name, description, provider, maintainers, icon })
    }
}

impl Icon {
    /// An SVG as text, or a `data:` URL.
    fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if let Some(url) = text.strip_prefix("data:") {
            let (media_type, data) = url.split_once(";base64,")?;
            let data = json!(data.split_whitespace().collect::<String>());
            return Some(Self { data, media_type: media_type.to_owned() });
        }
        let is_svg = text.contains("<svg") && text.ends_with('>');
        let data = json!(ByteString(text.as_bytes().to_vec())); // written as base64
        is_svg.then(|| Self { data, media_type: "image/svg+xml".to_owned() })
    }
}
