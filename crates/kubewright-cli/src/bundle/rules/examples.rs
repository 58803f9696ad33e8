//! `csv/example…`: the examples that a console offers when somebody makes an object.

use std::collections::BTreeSet;

use serde_json::Value;

use super::super::Findings;
use super::Release;

/// Group, version and kind.
type Api = (String, String, String);

const REMEDY: &str = "Put an example of each kind into deploy/samples and make the bundle anew.";

pub(super) fn check(release: &Release<'_>, findings: &mut Findings) {
    let Release { file, csv, spec } = release;
    if csv.metadata.annotations.as_ref().is_none_or(std::collections::BTreeMap::is_empty) {
        let wrong = "no annotations, and so no examples".to_owned();
        return findings.warning("csv/examples", file, wrong, REMEDY);
    }
    let (own, other) = (csv.annotation("alm-examples"), csv.annotation("olm.examples"));
    if own.is_some() && other.is_some() {
        let wrong = "both alm-examples and olm.examples; only the first is read".to_owned();
        findings.warning("csv/examples-twice", file, wrong, "Remove olm.examples.");
    }
    let Some(text) = own.or(other) else {
        let wrong = "no examples: the annotation alm-examples is missing".to_owned();
        return findings.warning("csv/examples", file, wrong, REMEDY);
    };
    let examples = match parsed(text) {
        Ok(examples) => examples,
        Err(reason) => {
            let wrong = format!("the examples cannot be read: {reason}");
            let remedy = "alm-examples is a list of objects in JSON.";
            return findings.error("csv/examples-form", file, wrong, remedy);
        }
    };
    for owned in spec.customresourcedefinitions.owned.iter().filter(|it| it.group().is_none()) {
        let wrong = format!("the definition `{}` is not called plural.group", owned.name);
        findings.error("csv/owned-name", file, wrong, "Write the name that the definition has.");
    }
    let provided = provided(release);
    for (group, version, kind) in examples.difference(&provided) {
        let wrong = format!("an example of {kind} ({group}/{version}), which the operator has not");
        let remedy = "Correct the example's apiVersion and kind, or list the kind as owned.";
        findings.error("csv/example-unknown", file, wrong, remedy);
    }
    for (group, version, kind) in provided.difference(&examples) {
        let wrong = format!("no example of {kind} ({group}/{version})");
        findings.warning("csv/example-missing", file, wrong, REMEDY);
    }
}

fn parsed(text: &str) -> Result<BTreeSet<Api>, String> {
    if text.is_empty() {
        return Ok(BTreeSet::new());
    }
    let list: Vec<Value> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let one = |example: &Value| {
        let kind = example["kind"].as_str().filter(|kind| !kind.is_empty());
        let kind = kind.ok_or("an example has no `kind`")?.to_owned();
        let (group, version) =
            group_and_version(example["apiVersion"].as_str().unwrap_or_default());
        Ok((group, version, kind))
    };
    list.iter().map(one).collect()
}

fn group_and_version(text: &str) -> (String, String) {
    let (group, version) = text.split_once('/').unwrap_or(("", text));
    (group.to_owned(), version.to_owned())
}

fn provided(release: &Release<'_>) -> BTreeSet<Api> {
    let spec = release.spec;
    let kinds = spec.customresourcedefinitions.owned.iter().filter_map(|owned| {
        Some((owned.group()?.to_owned(), owned.version.clone(), owned.kind.clone()))
    });
    let services = spec.apiservicedefinitions.owned.iter();
    let services = services.map(|one| (one.group.clone(), one.version.clone(), one.kind.clone()));
    kinds.chain(services).collect()
}
