//! Those of Operator SDK's verbs around OLM. Some mean something here all the same: it is done then.

use clap::Args;

use super::say;

/// Those of `run bundle` and `run bundle-upgrade`.
#[derive(Debug, Args)]
pub(in crate::verbs) struct BundleFlags {
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    use_http: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    skip_tls: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    skip_tls_verify: Option<bool>,
    #[arg(long, hide = true)]
    index_image: Option<String>,
    #[arg(long, hide = true)]
    decompression_image: Option<String>,
    #[arg(long, hide = true)]
    pull_secret_name: Option<String>,
    #[arg(long, hide = true)]
    ca_secret_name: Option<String>,
    #[arg(long, hide = true)]
    image_pull_policy: Option<String>,
    #[arg(long, hide = true)]
    service_account: Option<String>,
}

impl BundleFlags {
    /// True if the registry is said to speak HTTP.
    pub(in crate::verbs) fn is_plain(&self) -> bool {
        self.use_http == Some(true) || self.skip_tls == Some(true)
    }

    /// Names those that were given.
    pub(in crate::verbs) fn say(&self) {
        let trusted =
            "the registry's certificate has to be one that this machine and the nodes trust";
        let own = "the bundle gets a catalogue of its own, which holds nothing else";
        say(&[
            ("--skip-tls-verify", self.skip_tls_verify == Some(true), trusted),
            ("--index-image", self.index_image.is_some(), own),
            ("--decompression-image", self.decompression_image.is_some(), own),
            (
                "--pull-secret-name",
                self.pull_secret_name.is_some(),
                "this machine signs in as `docker login` left it, and the nodes as their ServiceAccounts say",
            ),
            ("--ca-secret-name", self.ca_secret_name.is_some(), trusted),
            (
                "--image-pull-policy",
                self.image_pull_policy.is_some(),
                "what serves the catalogue is pulled if it is not there",
            ),
            (
                "--service-account",
                self.service_account.is_some(),
                "OLM installs, as the OperatorGroup of the namespace lets it",
            ),
        ]);
    }
}

/// Those of `cleanup`.
#[derive(Debug, Args)]
pub(in crate::verbs) struct CleanupFlags {
    #[arg(long = "delete-all", hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    all: Option<bool>,
    #[arg(long = "delete-crds", hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    crds: Option<bool>,
    #[arg(long = "delete-operator-groups", hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    operator_groups: Option<bool>,
}

impl CleanupFlags {
    /// True if the kinds are said to stay: nobody who says so may lose their objects.
    pub(in crate::verbs) fn keeps_definitions(&self) -> bool {
        match self.crds {
            Some(is_to_go) => !is_to_go,
            None => self.all == Some(false),
        }
    }

    /// Names those that were given.
    pub(in crate::verbs) fn say(&self) {
        let all = "everything goes that belongs to the package; --keep-crd leaves its kinds";
        let group = "an OperatorGroup goes if `run bundle` made it and no other operator is left";
        say(&[
            ("--delete-all", self.all == Some(true), all),
            ("--delete-crds", self.crds == Some(true), all),
            ("--delete-operator-groups", self.operator_groups.is_some(), group),
        ]);
    }
}

/// Those of `olm status` and `olm uninstall`.
#[derive(Debug, Args)]
pub(in crate::verbs) struct OlmFlags {
    #[arg(long, hide = true)]
    timeout: Option<String>,
    #[arg(long, hide = true)]
    olm_namespace: Option<String>,
    #[arg(long, hide = true)]
    version: Option<String>,
}

impl OlmFlags {
    /// Names those that were given; `time` is why there is no bound.
    pub(in crate::verbs) fn say(&self, time: &str) {
        let found = "what is there of OLM is found by its labels";
        say(&[
            ("--timeout", self.timeout.is_some(), time),
            ("--olm-namespace", self.olm_namespace.is_some(), found),
            ("--version", self.version.is_some(), found),
        ]);
    }
}

/// Those of `bundle validate`.
#[derive(Debug, Args)]
pub(in crate::verbs) struct ValidateFlags {
    #[arg(long, hide = true)]
    select_optional: Option<String>,
    #[arg(long, hide = true)]
    optional_values: Option<String>,
    #[arg(short = 'b', long, hide = true)]
    image_builder: Option<String>,
}

impl ValidateFlags {
    /// Names those that were given.
    pub(in crate::verbs) fn say(&self) {
        say(&[
            ("--select-optional", self.select_optional.is_some(), "all rules are looked at"),
            (
                "--optional-values",
                self.optional_values.is_some(),
                "`minKubeVersion` says which Kubernetes the bundle is for",
            ),
            (
                "--image-builder",
                self.image_builder.is_some(),
                "the image is read from its registry",
            ),
        ]);
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        bundle: BundleFlags,
        #[command(flatten)]
        cleanup: CleanupFlags,
        #[command(flatten)]
        validate: ValidateFlags,
    }

    fn line(words: &str) -> Line {
        Line::try_parse_from(std::iter::once("line").chain(words.split_whitespace())).unwrap()
    }

    #[test]
    fn both_words_for_http_are_understood() {
        assert!(line("--use-http").bundle.is_plain() && line("--skip-tls=true").bundle.is_plain());
        assert!(!line("--use-http=false --skip-tls-verify").bundle.is_plain());
    }

    #[test]
    fn whoever_does_not_delete_kinds_keeps_their_objects() {
        let keeps = |words: &str| line(words).cleanup.keeps_definitions();
        assert!(keeps("--delete-all=false") && keeps("--delete-crds=false"));
        assert!(keeps("--delete-all --delete-crds=false"));
        assert!(!keeps("") && !keeps("--delete-all=false --delete-crds"));
    }

    #[test]
    fn lines_from_elsewhere_are_taken() {
        let line = line(
            "--select-optional suite=operatorframework --index-image a:1 --pull-secret-name b",
        );
        assert!(line.validate.select_optional.is_some() && line.bundle.index_image.is_some());
    }
}
