//! The operators that are measured: where they are, and what they are told.

use std::path::{Path, PathBuf};

use anyhow::bail;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright_bench::results::Subject;

/// What ours has by itself, and so what the tuned Go operator is given.
pub(crate) const WORKERS: &str = "4";

/// Ours and the peer, built.
#[derive(Clone)]
pub(crate) struct Programs {
    pub(crate) ours: PathBuf,
    pub(crate) go: PathBuf,
    pub(crate) definition: CustomResourceDefinition,
}

impl Programs {
    pub(crate) fn of(&self, subject: Subject) -> anyhow::Result<&Path> {
        match subject {
            Subject::Ours => Ok(&self.ours),
            Subject::GoStock | Subject::GoTuned => Ok(&self.go),
            Subject::NullWriter | Subject::IdealReactor => bail!("{subject:?} is no program"),
        }
    }
}

/// What an operator is told. The lease is on, as in every installation.
pub(crate) fn arguments(subject: Subject) -> Vec<&'static str> {
    let mut arguments = vec!["--leader-elect", "--leader-election-namespace=default"];
    if subject == Subject::GoTuned {
        arguments.extend(["--max-concurrent-reconciles", WORKERS]);
    }
    arguments
}
