//! `bundle/related-image…`: the images of the operator and of what it runs, for mirrors.

use std::collections::BTreeSet;

use super::super::Findings;
use super::Release;

pub(super) fn check(release: &Release<'_>, findings: &mut Findings) {
    let Release { file, spec, .. } = release;
    let mut names = BTreeSet::new();
    for related in &spec.related_images {
        if !is_image(&related.image) {
            let wrong = format!("spec.relatedImages: `{}` is no name of an image", related.image);
            let remedy = "Write it as example.com/operator:v0.0.1, better with its digest.";
            findings.error("bundle/related-image", file, wrong, remedy);
        }
        if !names.insert(&related.name) {
            let wrong = format!("spec.relatedImages: two images are called `{}`", related.name);
            findings.warning("bundle/related-image-twice", file, wrong, "Rename one of them.");
        }
    }
    let is_listed = |image: &str| spec.related_images.iter().any(|one| one.image == image);
    let pods = spec.deployments().iter().filter_map(|one| one.spec.template.spec.as_ref());
    let containers =
        pods.flat_map(|pod| pod.containers.iter().chain(pod.init_containers.iter().flatten()));
    for image in containers.filter_map(|container| container.image.as_deref()) {
        if !is_listed(image) {
            let wrong = format!("the image {image} is not in spec.relatedImages");
            let remedy =
                "List it: without, the operator cannot be mirrored to where there is no internet.";
            findings.warning("bundle/related-image-missing", file, wrong, remedy);
        }
    }
}

/// A name with, perhaps, a registry, a tag and a digest.
fn is_image(text: &str) -> bool {
    let (name, digest) = text.split_once('@').map_or((text, None), |(name, it)| (name, Some(it)));
    let is_digest = |digest: &str| {
        let hexadecimal = digest.strip_prefix("sha256:").unwrap_or_default();
        hexadecimal.len() == 64 && hexadecimal.chars().all(|one| one.is_ascii_hexdigit())
    };
    let inner = |one: char| one.is_ascii_alphanumeric() || "._-/:".contains(one);
    let path = name.rsplit('/').next().unwrap_or_default();
    let path = path.split(':').next().unwrap_or_default();
    let is_lower = !path.chars().any(|one| one.is_ascii_uppercase());
    !path.is_empty() && is_lower && name.chars().all(inner) && digest.is_none_or(is_digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_are_told_from_other_text() {
        let digest = format!("a@sha256:{}", "0".repeat(64));
        for image in ["a", "a:1", "localhost:5000/a/b:v1", "example.com/a", &digest] {
            assert!(is_image(image), "{image}");
        }
        for text in ["", "a b", "example.com/", "A:1", "a@sha256:00", "https://example.com/a?b"] {
            assert!(!is_image(text), "{text}");
        }
    }
}
