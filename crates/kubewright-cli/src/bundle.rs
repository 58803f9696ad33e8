//! OLM bundles (format `registry+v1`) as others meet them: a folder of files. Reads it, and says what is
//! wrong with it. Making a bundle is the operator's, from its own code.
//!
//! `folder` reads; everything else is pure: files -> [`Bundle`] -> findings.

pub(crate) mod catalog;
mod csv;
mod finding;
mod folder;
mod names;
mod parse;
mod rules;
pub(crate) mod scorecard;
mod typed;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::Value;

pub(crate) use csv::{ClusterServiceVersion, Owned};
pub(crate) use finding::{Finding, Findings, Severity, count, text};
pub(crate) use folder::read;

/// Where objects are.
const MANIFESTS: &str = "manifests/";
/// Where a bundle says what it is.
const METADATA: &str = "metadata/";

/// What the keys of a bundle's annotations begin with.
const PREFIX: &str = "operators.operatorframework.io.bundle.";

/// A bundle as far as it could be understood.
#[derive(Debug, Default)]
pub(crate) struct Bundle {
    /// Content by path, as `manifests/a.yaml`.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// The first object of each file in `manifests`.
    pub(crate) manifests: Vec<Manifest>,
    /// The release, with the path of its file.
    pub(crate) release: Option<(String, ClusterServiceVersion)>,
    /// Definitions of kinds, with the paths of their files.
    pub(crate) definitions: Vec<(String, CustomResourceDefinition)>,
    /// What `metadata` says of the bundle.
    pub(crate) annotations: Option<Annotations>,
    /// What could not be understood, and why.
    unread: Findings,
}

/// An object and the file it is in.
#[derive(Debug)]
pub(crate) struct Manifest {
    pub(crate) file: String,
    pub(crate) object: Value,
}

/// The annotations and the file they are in.
#[derive(Debug)]
pub(crate) struct Annotations {
    pub(crate) file: String,
    pub(crate) values: BTreeMap<String, String>,
}

impl Bundle {
    /// The bundle whose files these are; the paths begin in its folder.
    pub(crate) fn of(files: BTreeMap<String, Vec<u8>>) -> Self {
        parse::parse(files)
    }

    /// Everything that is wrong with it, errors first.
    pub(crate) fn findings(&self) -> Vec<Finding> {
        let mut findings = self.unread.clone();
        rules::check(self, &mut findings);
        findings.sorted()
    }

    /// The release as it is in its file.
    fn release_object(&self) -> Option<&Value> {
        let file = &self.release.as_ref()?.0;
        self.manifests.iter().find(|manifest| manifest.file == *file).map(|found| &found.object)
    }

    /// The objects that a console offers as examples.
    fn examples(&self) -> Vec<Value> {
        let release = self.release.as_ref().map(|(_, csv)| csv);
        let text = release.and_then(|csv| csv.annotation("alm-examples"));
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// An annotation of `metadata`, by what follows `operators.operatorframework.io.bundle.`.
    pub(crate) fn annotation(&self, key: &str) -> Option<&str> {
        let key = format!("{PREFIX}{key}");
        self.annotations.as_ref()?.values.get(&key).map(String::as_str)
    }
}

impl Manifest {
    /// The text at `key` of the object itself.
    pub(crate) fn text(&self, key: &str) -> &str {
        self.object[key].as_str().unwrap_or_default()
    }

    /// What it is called.
    pub(crate) fn name(&self) -> &str {
        self.object["metadata"]["name"].as_str().unwrap_or_default()
    }
}
