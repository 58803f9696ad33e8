//! Flags of Kubebuilder's and Operator SDK's that mean nothing here: accepted, so that lines from tutorials
//! work as they are, and named with the reason.

mod olm;

use std::io::Write as _;

use clap::Args;

pub(super) use olm::{BundleFlags, CleanupFlags, OlmFlags, ValidateFlags};

/// Those of `init` and `new`.
#[derive(Debug, Args)]
pub(super) struct ProjectFlags {
    #[arg(long, hide = true)]
    plugins: Option<String>,
    #[arg(long, hide = true)]
    project_version: Option<String>,
    #[arg(long, hide = true)]
    owner: Option<String>,
    #[arg(long, hide = true)]
    license: Option<String>,
    #[arg(long = "type", hide = true)]
    kind_of_project: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    skip_go_version_check: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    fetch_deps: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    multigroup: Option<bool>,
    #[arg(long, hide = true)]
    license_file: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    component_config: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    skip_git_init: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    vendor: Option<bool>,
}

impl ProjectFlags {
    /// Names those that were given.
    pub(super) fn say(&self) {
        say(&[
            (
                "--plugins",
                self.plugins.is_some(),
                "there is one layout, and what it needs follows from the flags",
            ),
            ("--project-version", self.project_version.is_some(), "there is one layout"),
            ("--owner", self.owner.is_some(), "no file gets a header"),
            (
                "--license",
                self.license.is_some(),
                "no file gets a header; `license` in Cargo.toml is yours to set",
            ),
            ("--type", self.kind_of_project.is_some(), "operators are written in Rust"),
            ("--skip-go-version-check", self.skip_go_version_check.is_some(), "there is no Go"),
            (
                "--fetch-deps",
                self.fetch_deps.is_some(),
                "nothing is fetched before the first build",
            ),
            ("--license-file", self.license_file.is_some(), "no file gets a header"),
            ("--component-config", self.component_config.is_some(), "the operator has flags"),
            ("--skip-git-init", self.skip_git_init.is_some(), "no repository is made"),
            ("--vendor", self.vendor.is_some(), "`cargo vendor` does that"),
            ("--multigroup", self.multigroup.is_some(), "every project may have several groups"),
        ]);
    }
}

/// Those of `create api` and `add api`.
#[derive(Debug, Args)]
pub(super) struct KindFlags {
    #[arg(long, hide = true)]
    plugins: Option<String>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    make: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    force: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    manifests: Option<bool>,
    #[arg(long, hide = true, num_args = 0..=1, require_equals = true, default_missing_value = "true")]
    skip_generation: Option<bool>,
}

impl KindFlags {
    /// Names those that were given.
    pub(super) fn say(&self) {
        say(&[
            ("--plugins", self.plugins.is_some(), "what is written follows from the other flags"),
            (
                "--make",
                self.make.is_some(),
                "nothing is run; `kubewright generate` writes the manifests",
            ),
            ("--force", self.force.is_some(), "what you changed is never overwritten"),
            ("--manifests", self.manifests.is_some(), "`kubewright generate` writes the manifests"),
            ("--skip-generation", self.skip_generation.is_some(), "Rust needs no generated code"),
        ]);
    }
}

fn say(flags: &[(&str, bool, &str)]) {
    for (flag, _, reason) in flags.iter().filter(|(_, is_given, _)| *is_given) {
        // With standard error closed there is nobody left to tell.
        let _ = writeln!(std::io::stderr(), "note: {flag} has no meaning here: {reason}");
    }
}
