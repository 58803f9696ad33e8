//! The name of an image, taken apart. Pure.

use std::fmt;
use std::str::FromStr;

/// Where an image is and what it is called there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// `docker.io`, `localhost:5000`
    pub(crate) registry: String,
    /// `library/memcached`
    pub(crate) repository: String,
    /// `1.6.45`
    pub(crate) tag: String,
}

const DOCKER_HUB: &str = "docker.io";

impl Reference {
    /// Where the registry answers; Docker Hub does so under another name.
    pub(super) fn host(&self) -> &str {
        if self.registry == DOCKER_HUB { "registry-1.docker.io" } else { &self.registry }
    }

    /// What `docker login` keeps the credentials under.
    pub(super) fn login(&self) -> &str {
        if self.registry == DOCKER_HUB { "https://index.docker.io/v1/" } else { &self.registry }
    }

    /// True if the registry is on this machine, where there is nobody to listen in.
    pub(super) fn is_local(&self) -> bool {
        let host = self.registry.rsplit_once(':').map_or(self.registry.as_str(), |(host, _)| host);
        host == "localhost" || host == "[::1]" || host.starts_with("127.")
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}:{}", self.registry, self.repository, self.tag)
    }
}

impl FromStr for Reference {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let refused = |reason: &str| Err(format!("{text:?} is no name of an image: {reason}"));
        if text.contains('@') {
            return refused("a digest is what comes out, give a tag");
        }
        let (registry, rest) = match text.split_once('/') {
            Some((first, rest)) if first == "localhost" || first.contains(['.', ':']) => {
                (first, rest.to_owned())
            }
            Some(_) => (DOCKER_HUB, text.to_owned()),
            None => (DOCKER_HUB, format!("library/{text}")),
        };
        let (repository, tag) = rest.rsplit_once(':').unwrap_or((&rest, "latest"));
        if !repository.split('/').all(is_component) {
            return refused("a repository is lower-case letters, digits and . _ - between them");
        }
        let is_allowed = |one: char| one.is_ascii_alphanumeric() || "._-".contains(one);
        if tag.is_empty()
            || tag.len() > 128
            || !tag.chars().all(is_allowed)
            || tag.starts_with(['.', '-'])
        {
            return refused("a tag is up to 128 letters, digits and . _ -");
        }
        let [registry, repository, tag] = [registry, repository, tag].map(str::to_owned);
        Ok(Self { registry, repository, tag })
    }
}

fn is_component(component: &str) -> bool {
    let is_inner = |one: u8| one.is_ascii_lowercase() || one.is_ascii_digit();
    let bytes = component.as_bytes();
    bytes.first().copied().is_some_and(is_inner)
        && bytes.last().copied().is_some_and(is_inner)
        && bytes.iter().all(|&one| is_inner(one) || b"._-".contains(&one))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(text: &str) -> [String; 3] {
        let reference: Reference = text.parse().unwrap();
        [reference.registry, reference.repository, reference.tag]
    }

    #[test]
    fn names_are_completed_as_docker_completes_them() {
        assert_eq!(parts("memcached"), ["docker.io", "library/memcached", "latest"]);
        assert_eq!(parts("me/operator:1"), ["docker.io", "me/operator", "1"]);
        assert_eq!(parts("localhost/a"), ["localhost", "a", "latest"]);
        assert_eq!(parts("quay.io:443/a/b_c/d:v1"), ["quay.io:443", "a/b_c/d", "v1"]);
    }

    #[test]
    fn what_is_no_name_is_refused_with_the_reason() {
        for text in ["", "a/", "A/b", "a:", "a@sha256:0", "example.com/a:-x", "x.y/../a", "a b"] {
            let error = text.parse::<Reference>().unwrap_err();
            assert!(error.contains("is no name of an image"), "{error}");
        }
    }

    #[test]
    fn only_this_machine_is_local() {
        let local = |text: &str| text.parse::<Reference>().unwrap().is_local();
        assert!(local("localhost:5000/a") && local("127.0.0.1:5000/a"));
        assert!(!local("localhost.example.com/a") && !local("a") && !local("10.0.0.1:5000/a"));
    }
}
