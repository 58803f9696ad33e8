//! The names that people choose: what is legal in Kubernetes, in Cargo and in Rust at once. Pure.
//!
//! Each error is one sentence that says what would be right.

use std::fmt;
use std::str::FromStr;

/// The longest name of a project: `NAME-system` is a namespace, and that has at most 63 letters.
const LONGEST_PROJECT: usize = 56;

/// Crates that a project depends on, and names that Cargo or Rust keep for themselves.
const TAKEN: [&str; 14] = [
    "alloc",
    "core",
    "k8s-openapi",
    "kube",
    "kubewright",
    "kubewright-testenv",
    "proc-macro",
    "schemars",
    "serde",
    "serde-json",
    "std",
    "test",
    "build",
    "deps",
];

/// Types that scaffolded code uses: a kind of that name would stand in their way.
const USED: [&str; 60] = [
    "Api",
    "Box",
    "BTreeMap",
    "Clone",
    "Condition",
    "Conditions",
    "Container",
    "ContainerPort",
    "Controller",
    "CustomResource",
    "Debug",
    "Default",
    "DeleteParams",
    "Deployment",
    "DeploymentSpec",
    "Deserialize",
    "Drop",
    "Env",
    "Eq",
    "Err",
    "Error",
    "ExitCode",
    "Failure",
    "Flags",
    "Fn",
    "From",
    "Into",
    "Iterator",
    "KubeSchema",
    "LabelSelector",
    "Managed",
    "None",
    "ObjectMeta",
    "Ok",
    "Operator",
    "Option",
    "Optional",
    "Ord",
    "Outcome",
    "Owned",
    "Pass",
    "Pod",
    "PodSecurityContext",
    "PodSpec",
    "PodTemplateSpec",
    "PostParams",
    "Reads",
    "Resource",
    "ResourceExt",
    "Result",
    "Retry",
    "Rollout",
    "Self",
    "Send",
    "Serialize",
    "Some",
    "String",
    "Sync",
    "Vec",
    "Wiring",
];

/// Names of values that scaffolded code uses.
const LOCALS: [&str; 19] = [
    "command",
    "container",
    "deployment",
    "env",
    "first",
    "flags",
    "going",
    "image",
    "labels",
    "message",
    "name",
    "namespace",
    "operator",
    "pass",
    "sample",
    "second",
    "start",
    "wanted",
    "wiring",
];

/// Modules that would stand in the way of the project's own files or of a crate.
const FILES: [&str; 12] = [
    "alloc",
    "controller",
    "core",
    "k8s_openapi",
    "kube",
    "kubewright",
    "kubewright_testenv",
    "lib",
    "main",
    "schemars",
    "serde",
    "std",
];

/// The name of a project: of its folder, package, program, namespace and role.
pub(crate) fn project(name: &str) -> Result<(), String> {
    let complaint = if !is_label(name) || !name.starts_with(|one: char| one.is_ascii_lowercase()) {
        "it must be lower-case letters, digits and `-`, beginning with a letter"
    } else if name.len() > LONGEST_PROJECT {
        "it must have at most 56 letters"
    } else if TAKEN.contains(&name) || is_keyword(&name.replace('-', "_")) {
        "Rust or a crate that operators use has that name"
    } else {
        return Ok(());
    };
    Err(format!(
        "`{name}` cannot be the name of a project: {complaint}, as in `memcached-operator`"
    ))
}

/// What the groups of a project end in.
pub(crate) fn domain(domain: &str) -> Result<String, String> {
    if is_dotted(domain) {
        return Ok(domain.to_owned());
    }
    Err(format!("`{domain}` is no domain: write it in lower case, as in `example.com`"))
}

/// A kind with its group and version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupVersionKind {
    /// The whole group.
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) kind: String,
}

impl GroupVersionKind {
    /// Checks all three.
    pub(crate) fn new(group: &str, version: &str, kind: &str) -> Result<Self, String> {
        if !is_dotted(group) || !group.contains('.') {
            return Err(format!(
                "`{group}` cannot be a group of your own: it needs a domain, as in `cache.example.com`"
            ));
        }
        if [".k8s.io", ".kubernetes.io"].iter().any(|end| group.ends_with(end)) {
            return Err(format!(
                "`{group}` belongs to the Kubernetes project, and the API server refuses it: use a domain of your own"
            ));
        }
        if !is_version(version) {
            return Err(format!(
                "`{version}` is no version: write `v1`, `v1beta1`, `v1alpha1` or the like"
            ));
        }
        kind_name(kind)?;
        Ok(Self { group: group.to_owned(), version: version.to_owned(), kind: kind.to_owned() })
    }

    /// Checks `version` as another one of the same kind.
    pub(crate) fn other_version(&self, version: &str) -> Result<Self, String> {
        if version == self.version {
            return Err(format!("{version} is the version that is stored: --spoke is another one"));
        }
        Self::new(&self.group, version, &self.kind)
    }

    /// `cache.example.com/v1alpha1`
    pub(crate) fn api_version(&self) -> String {
        format!("{}/{}", self.group, self.version)
    }

    /// The module of the kind, unless that is taken by a kind of another group.
    pub(crate) fn module(&self) -> String {
        let module = snake(&self.kind);
        let is_taken = is_keyword(&module) || FILES.contains(&module.as_str());
        if is_taken { format!("{module}_kind") } else { module }
    }

    /// The module where a kind of the same name and another group is there already.
    pub(crate) fn longer_module(&self) -> String {
        format!("{}_{}", self.short_group().replace('-', "_"), snake(&self.kind))
    }

    /// What an object is called where code speaks of one.
    pub(crate) fn variable(&self) -> String {
        let name = self.module();
        if LOCALS.contains(&name.as_str()) { "object".to_owned() } else { name }
    }

    /// The file of its example, named as Kubebuilder does.
    pub(crate) fn sample(&self) -> String {
        let Self { version, kind, .. } = self;
        format!("deploy/samples/{}_{version}_{}.yaml", self.short_group(), kind.to_lowercase())
    }

    /// A name for an object or a container: the kind in lower case, with dashes.
    pub(crate) fn dashed(&self) -> String {
        snake(&self.kind).replace('_', "-")
    }

    fn short_group(&self) -> &str {
        self.group.split('.').next().unwrap_or_default()
    }
}

impl fmt::Display for GroupVersionKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.api_version(), self.kind)
    }
}

/// `GROUP/VERSION`, as the old SDK has it.
#[derive(Clone, Debug)]
pub(crate) struct ApiVersion {
    pub(crate) group: String,
    pub(crate) version: String,
}

impl FromStr for ApiVersion {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.split_once('/').filter(|(group, _)| group.contains('.'));
        let (group, version) = parts.ok_or("write it as cache.example.com/v1alpha1")?;
        Ok(Self { group: group.to_owned(), version: version.to_owned() })
    }
}

/// What objects of a kind are called in URLs and on the command line.
pub(crate) fn plural(text: &str) -> Result<String, String> {
    let is_name = is_label(text) && text.starts_with(|one: char| one.is_ascii_lowercase());
    if is_name { Ok(text.to_owned()) } else { Err("write it in lower case, as `mice`".to_owned()) }
}

fn kind_name(kind: &str) -> Result<(), String> {
    let is_pascal = kind.starts_with(|one: char| one.is_ascii_uppercase())
        && kind.chars().all(|one| one.is_ascii_alphanumeric());
    let complaint = if !is_pascal {
        format!("write it in one word that begins with a capital, as `{}`", pascal(kind))
    } else if kind.len() > 63 {
        "it must have at most 63 letters".to_owned()
    } else if USED.contains(&kind) {
        format!("the code of an operator uses a type of that name; choose another, as `My{kind}`")
    } else {
        return Ok(());
    };
    Err(format!("`{kind}` cannot be a kind: {complaint}"))
}

/// A guess at what was meant.
fn pascal(text: &str) -> String {
    let words =
        text.split(|one: char| !one.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let capital = |word: &str| {
        let (first, rest) = word.split_at(1);
        format!("{}{rest}", first.to_ascii_uppercase())
    };
    let word: String = words.map(capital).collect();
    if word.starts_with(|one: char| one.is_ascii_uppercase()) {
        word
    } else {
        "Memcached".to_owned()
    }
}

/// `HTTPRoute` is `http_route`, `S3Bucket` is `s3_bucket`.
fn snake(kind: &str) -> String {
    let letters: Vec<char> = kind.chars().collect();
    let mut text = String::new();
    for (place, letter) in letters.iter().enumerate() {
        let begins_word = letter.is_uppercase()
            && place > 0
            && (!letters[place - 1].is_uppercase()
                || letters.get(place + 1).is_some_and(|next| next.is_lowercase()));
        if begins_word {
            text.push('_');
        }
        text.extend(letter.to_lowercase());
    }
    text
}

fn is_keyword(word: &str) -> bool {
    syn::parse_str::<syn::Ident>(word).is_err()
}

/// A DNS label.
fn is_label(text: &str) -> bool {
    let is_letter = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-';
    (1..=63).contains(&text.len())
        && text.chars().all(is_letter)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

/// DNS labels with dots between them.
fn is_dotted(text: &str) -> bool {
    text.len() <= 253 && text.split('.').all(is_label)
}

/// As Kubernetes orders them: `v1`, `v2beta1`, `v3alpha2`.
fn is_version(text: &str) -> bool {
    let is_number = |text: &str| {
        !text.is_empty() && !text.starts_with('0') && text.chars().all(|one| one.is_ascii_digit())
    };
    let Some(rest) = text.strip_prefix('v') else { return false };
    let parts = rest.split_once("alpha").or_else(|| rest.split_once("beta"));
    match parts {
        Some((major, minor)) => is_number(major) && is_number(minor),
        None => is_number(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_a_kind() {
        for (kind, expected) in [
            ("Memcached", "memcached"),
            ("HTTPRoute", "http_route"),
            ("S3Bucket", "s3_bucket"),
            ("A", "a"),
        ] {
            assert_eq!(snake(kind), expected);
        }
    }

    #[test]
    fn a_module_is_never_a_word_of_rust_nor_a_file_of_the_project() {
        for (kind, expected) in [
            ("Type", "type_kind"),
            ("Main", "main_kind"),
            ("Serde", "serde_kind"),
            ("Guestbook", "guestbook"),
        ] {
            assert_eq!(
                GroupVersionKind::new("a.example.com", "v1", kind).unwrap().module(),
                expected
            );
        }
    }

    #[test]
    fn what_cannot_be_is_said_with_what_can() {
        let said = |group, version, kind| GroupVersionKind::new(group, version, kind).unwrap_err();
        assert!(said("a.b", "v1", "memcached").ends_with("as `Memcached`"));
        assert!(said("a.b", "v1", "my-kind").ends_with("as `MyKind`"));
        assert!(said("a.b", "v1", "Self").contains("choose another"));
        assert!(said("a.b", "1", "A").contains("is no version"));
        assert!(said("a.b", "v1alpha", "A").contains("is no version"));
        assert!(said("cache", "v1", "A").contains("needs a domain"));
        assert!(said("a.k8s.io", "v1", "A").contains("belongs to the Kubernetes project"));
    }

    #[test]
    fn a_project_is_called_as_a_package_and_a_namespace_can_be() {
        assert!(project("memcached-operator").is_ok());
        for name in [
            "Memcached",
            "1-operator",
            "-a",
            "a_b",
            "serde",
            "fn",
            "test",
            "a.b",
            "",
            &"a".repeat(57),
        ] {
            assert!(project(name).is_err(), "{name}");
        }
    }
}
