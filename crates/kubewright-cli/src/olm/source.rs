//! The bundle that is to run: a folder, or an image in a registry. Reads it; what is done with it is the verbs'.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use kubewright_testenv::cache::hex;
use kubewright_testenv::progress::Progress;
use sha2::{Digest as _, Sha256};

use crate::bundle::{self, Bundle};
use crate::registry::{self, Image};

/// What of an image is a bundle: the label that says where it is, and where it belongs.
const PARTS: [(&str, &str); 2] = [
    ("operators.operatorframework.io.bundle.manifests.v1", "manifests/"),
    ("operators.operatorframework.io.bundle.metadata.v1", "metadata/"),
];

/// What labels of a bundle's image begin with.
const LABEL: &str = "operators.operatorframework.io.bundle.";

/// A bundle with what OLM has to be told of it.
#[derive(Debug)]
pub(crate) struct Release {
    pub(crate) bundle: Bundle,
    /// Where OLM gets it; none if its objects go into the catalogue.
    pub(crate) image: Option<String>,
    pub(crate) package: String,
    /// The name of its `ClusterServiceVersion`.
    pub(crate) name: String,
    /// All that it is in, the default one first.
    pub(crate) channels: Vec<String>,
    /// Of what OLM installs of it.
    pub(crate) digest: String,
}

impl Release {
    /// What its Subscription says that it was made for.
    pub(crate) fn content(&self) -> String {
        format!("{} {}", self.name, self.digest)
    }
}

/// Reads what `text` names: a folder if there is one, else an image. `plain` speaks HTTP to a registry that is
/// not on this machine.
pub(crate) fn read(text: &str, plain: bool) -> anyhow::Result<Release> {
    let folder = Path::new(text);
    if folder.is_dir() {
        return release(bundle::read(folder)?, None, text);
    }
    anyhow::ensure!(
        !text.starts_with(['.', '/']),
        "there is no folder {text}: `kubewright bundle` makes one"
    );
    let (bundle, image) = pulled(text, plain)?;
    release(bundle, Some(image.to_string()), text)
}

/// What `text` names, which need not be fit to be run: an image only if that says where it is, or has a tag or a
/// digest, since most that is no folder is one that is not there.
pub(crate) fn bundle(text: &str) -> anyhow::Result<Bundle> {
    if Path::new(text).is_dir() || !is_image(text) {
        return bundle::read(Path::new(text));
    }
    Ok(pulled(text, false)?.0)
}

fn is_image(text: &str) -> bool {
    let first = text.split('/').next().unwrap_or_default();
    let has_registry = text.contains('/') && (first == "localhost" || first.contains('.'));
    !text.starts_with(['.', '/']) && (has_registry || text.contains([':', '@']))
}

fn pulled(text: &str, plain: bool) -> anyhow::Result<(Bundle, Image)> {
    let image: Image = text.parse().map_err(anyhow::Error::msg)?;
    let step = format!("reading {image}");
    let content = Progress::Shown.step(&step, || registry::pull(&image, plain, no_bundle))?;
    let files = placed(&content.labels, content.files);
    Ok((Bundle::of(files), image))
}

/// Why an image with these labels is no bundle, if it is none: that of an operator is far larger.
fn no_bundle(labels: &BTreeMap<String, String>) -> Option<String> {
    let is_one = labels.keys().any(|label| label.starts_with(LABEL));
    (!is_one).then(|| {
        format!("it is no bundle, it has no label {LABEL}…; `kubewright bundle build` makes one")
    })
}

/// The files of an image where they would be in a folder.
fn placed(
    labels: &BTreeMap<String, String>,
    files: BTreeMap<String, Vec<u8>>,
) -> BTreeMap<String, Vec<u8>> {
    let place = |path: String| {
        let found = PARTS.iter().find_map(|(label, part)| {
            let folder = labels.get(*label).map_or(*part, String::as_str);
            let folder = folder.trim_matches('/');
            let rest = path.strip_prefix(folder)?.strip_prefix('/')?;
            Some(format!("{part}{rest}"))
        });
        found.unwrap_or(path)
    };
    files.into_iter().map(|(path, content)| (place(path), content)).collect()
}

fn release(bundle: Bundle, image: Option<String>, text: &str) -> anyhow::Result<Release> {
    let lacks = |what: &str| {
        format!(
            "{text} is no bundle: it has no {what}; `kubewright bundle validate FOLDER` tells all"
        )
    };
    let name = bundle.release.as_ref().map(|(_, csv)| csv.name().to_owned());
    let name =
        name.filter(|name| !name.is_empty()).with_context(|| lacks("ClusterServiceVersion"))?;
    let package = bundle.annotation("package.v1").with_context(|| lacks("package"))?.to_owned();
    let channels = bundle.annotation("channels.v1").with_context(|| lacks("channels"))?;
    let default = bundle.annotation("channel.default.v1").map(str::trim).unwrap_or_default();
    let mut channels: Vec<_> = channels.split(',').map(|one| one.trim().to_owned()).collect();
    channels.sort_by_key(|channel| channel != default); // stable: the others stay in their order
    let digest = digest(&bundle.files);
    Ok(Release { bundle, image, package, name, channels, digest })
}

/// Of the files that make the release what it is, and their names.
fn digest(files: &BTreeMap<String, Vec<u8>>) -> String {
    let is_part = |path: &str| PARTS.iter().any(|(_, part)| path.starts_with(part));
    let mut hasher = Sha256::new();
    for (path, content) in files.iter().filter(|(path, _)| is_part(path)) {
        hasher.update(format!("{path}\n{}\n", content.len()));
        hasher.update(content);
    }
    format!("sha256:{}", hex(&hasher.finalize()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CSV: &str = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\n\
                       metadata: {name: a.v1.0.0}\nspec: {}\n";
    const ANNOTATIONS: &str = "annotations:\n  \
                               operators.operatorframework.io.bundle.package.v1: a\n  \
                               operators.operatorframework.io.bundle.channels.v1: fast, stable\n  \
                               operators.operatorframework.io.bundle.channel.default.v1: stable\n";

    fn files(folder: &str) -> BTreeMap<String, Vec<u8>> {
        BTreeMap::from([
            (format!("{folder}/csv.yaml"), CSV.as_bytes().to_vec()),
            ("metadata/annotations.yaml".to_owned(), ANNOTATIONS.as_bytes().to_vec()),
        ])
    }

    #[test]
    fn a_bundle_says_what_it_is() {
        let found = release(Bundle::of(files("manifests")), None, "a").unwrap();
        assert_eq!((found.package.as_str(), found.name.as_str()), ("a", "a.v1.0.0"));
        assert_eq!(found.channels, ["stable", "fast"]);
    }

    #[test]
    fn what_is_no_folder_is_an_image_only_if_it_looks_like_one() {
        for image in ["example.com/a", "localhost/a", "localhost:1/a", "me/a:1", "a@sha256:0"] {
            assert!(is_image(image), "{image}");
        }
        for folder in ["bundle", "operators/a/0.0.1", "./a:1", "../example.com/a", "/a.b/c"] {
            assert!(!is_image(folder), "{folder}");
        }
        assert!(bundle("none/bundle").unwrap_err().to_string().contains("no folder none/bundle"));
    }

    #[test]
    fn the_image_of_an_operator_is_no_bundle() {
        let label = |name: &str| BTreeMap::from([(name.to_owned(), String::new())]);
        assert_eq!(no_bundle(&label(PARTS[0].0)), None);
        let reason = no_bundle(&label("org.opencontainers.image.title")).unwrap();
        assert!(reason.contains("kubewright bundle build"), "{reason}");
    }

    #[test]
    fn an_image_may_keep_its_manifests_elsewhere_and_says_so() {
        let label = (PARTS[0].0.to_owned(), "deploy/olm/".to_owned());
        let placed = placed(&BTreeMap::from([label]), files("deploy/olm"));
        assert!(placed.contains_key("manifests/csv.yaml"), "{placed:?}");
        assert!(placed.contains_key("metadata/annotations.yaml"));
    }

    #[test]
    fn another_content_is_another_digest_and_its_tests_do_not_count() {
        let of = |edit: fn(&mut BTreeMap<String, Vec<u8>>)| {
            let mut files = files("manifests");
            edit(&mut files);
            digest(&files)
        };
        let first = of(|_| {});
        assert_eq!(first, of(|files| drop(files.insert("tests/a.yaml".to_owned(), vec![1]))));
        assert_ne!(first, of(|files| files.get_mut("manifests/csv.yaml").unwrap().push(b'\n')));
        assert_ne!(first, of(|files| drop(files.insert("manifests/a.yaml".to_owned(), vec![]))));
    }

    #[test]
    fn what_is_no_bundle_is_told_by_what_it_lacks() {
        let error = release(Bundle::default(), None, "example.com/a:1").unwrap_err();
        let text = error.to_string();
        assert!(
            text.starts_with("example.com/a:1 is no bundle: it has no ClusterService"),
            "{text}"
        );
        assert!(read("./none", false).unwrap_err().to_string().contains("no folder ./none"));
    }
}
