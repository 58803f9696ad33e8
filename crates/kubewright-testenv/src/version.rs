//! Which versions of Kubernetes there are to choose from. Pure: one list, read from
//! `supported-kubernetes.txt`.

use std::fmt;

/// One version per line, newest first.
const SUPPORTED: &str = include_str!("../../../supported-kubernetes.txt");

/// A supported version of Kubernetes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KubernetesVersion(&'static str);

/// A version that is not on the list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Kubernetes {asked} is not supported: choose one of {}", supported())]
pub struct UnknownVersion {
    asked: String,
}

impl KubernetesVersion {
    /// All supported versions, newest first.
    pub fn all() -> impl Iterator<Item = Self> {
        SUPPORTED.lines().filter(|line| !line.is_empty()).map(Self)
    }

    /// `KUBEWRIGHT_KUBERNETES_VERSION` if it is set, else the newest.
    pub fn from_environment() -> Result<Self, UnknownVersion> {
        match std::env::var("KUBEWRIGHT_KUBERNETES_VERSION") {
            Ok(asked) if !asked.is_empty() => asked.parse(),
            _ => Ok(Self::newest()),
        }
    }

    /// The newest supported version: the default.
    pub fn newest() -> Self {
        Self(SUPPORTED.lines().next().unwrap_or_default())
    }

    /// `1.36.3`
    pub fn as_str(self) -> &'static str {
        self.0
    }

    /// `("1", "36")`
    pub fn major_minor(self) -> (&'static str, &'static str) {
        let mut parts = self.0.split('.');
        (parts.next().unwrap_or_default(), parts.next().unwrap_or_default())
    }
}

impl fmt::Display for KubernetesVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.0)
    }
}

impl std::str::FromStr for KubernetesVersion {
    type Err = UnknownVersion;

    /// Accepts `1.36.3`, `v1.36.3` and `1.36` (the supported patch of that minor).
    fn from_str(asked: &str) -> Result<Self, UnknownVersion> {
        let wanted = asked.trim().trim_start_matches('v');
        Self::all()
            .find(|version| {
                version.0 == wanted
                    || version.0.rsplit_once('.').is_some_and(|(minor, _)| minor == wanted)
            })
            .ok_or_else(|| UnknownVersion { asked: asked.to_owned() })
    }
}

fn supported() -> String {
    KubernetesVersion::all().map(KubernetesVersion::as_str).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_found_by_its_full_name_and_by_its_minor() {
        assert_eq!("v1.36.3".parse(), Ok(KubernetesVersion("1.36.3")));
        assert_eq!("1.33".parse(), Ok(KubernetesVersion("1.33.13")));
    }

    #[test]
    fn an_unknown_version_is_refused_with_the_ones_there_are() {
        let error = "1.29.0".parse::<KubernetesVersion>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "Kubernetes 1.29.0 is not supported: choose one of 1.36.3, 1.35.4, 1.34.4, 1.33.13"
        );
    }
}
