//! The Operator Lifecycle Manager (version 0) on a cluster: its own installation, and releases that run
//! through it.
//!
//! What is decided is pure: `look` (objects -> how far a step is), `patience` (how long that may last),
//! `catalogue`, `group` and `manifests` (what is applied). `objects`, `wait`, `installed` and `removal` ask the
//! cluster. What is typed is the verbs'.

pub(crate) mod catalogue;
pub(crate) mod group;
pub(crate) mod installed;
pub(crate) mod interrupt;
pub(crate) mod look;
pub(crate) mod manifests;
pub(crate) mod objects;
pub(crate) mod patience;
pub(crate) mod removal;
pub(crate) mod source;
pub(crate) mod wait;

/// Who applies what belongs to OLM, as the API server keeps it.
pub(crate) const MANAGER: &str = "kubewright-olm";
/// What `run bundle` makes has this label, with the package as its value.
pub(crate) const BUNDLE: &str = "kubewright.dev/bundle";
/// What a Subscription of `run bundle` was made for: the release, a blank, and the digest of its bundle.
pub(crate) const CONTENT: &str = "kubewright.dev/bundle-content";
/// What `olm install` makes has this label, with the version as its value.
pub(crate) const OLM: &str = "kubewright.dev/olm";
/// By what everything is found that OLM makes itself.
pub(crate) const MANAGED: &str = "olm.managed=true";

/// What the labels begin with by which OLM says what belongs to a package.
pub(crate) const COMPONENT: &str = "operators.coreos.com/";

/// The label that OLM puts on everything that it installs for a package.
pub(crate) fn component_label(package: &str, namespace: &str) -> String {
    // OLM shortens what is too long for the name of a label, and so do we.
    let mut name = format!("{package}.{namespace}");
    name.truncate(63);
    format!("{COMPONENT}{}", name.trim_end_matches(['.', '-', '_']))
}

/// By what the objects are found that `run bundle` made for a package.
pub(crate) fn bundle_selector(package: &str) -> String {
    format!("{BUNDLE}={}", plain(package, 63))
}

/// `text` as the value of a label, or a part of a name that may have no dots.
pub(crate) fn plain(text: &str, longest: usize) -> String {
    let plain =
        |one: char| if one.is_ascii_alphanumeric() { one.to_ascii_lowercase() } else { '-' };
    let text: String = text.chars().take(longest).map(plain).collect();
    text.trim_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_where_they_are_put() {
        assert_eq!(component_label("a", "b"), "operators.coreos.com/a.b");
        let long = component_label(&"a".repeat(62), "b");
        assert_eq!(long, format!("operators.coreos.com/{}", "a".repeat(62)));
        assert_eq!(plain("My.operator-", 63), "my-operator");
        assert_eq!(plain(&"a".repeat(70), 40).len(), 40);
    }
}
