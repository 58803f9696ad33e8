//! Rules of access, and the objects that grant them.
//!
//! Must not widen: what comes out permits exactly what went in.

mod people;
mod roles;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::rbac::v1::PolicyRule;

pub use people::people;
pub use roles::{Access, Object, Scope, roles, service_account};

type Set = BTreeSet<String>;

/// The same permissions with as few rules as can be read: one per group, names and verbs, with the
/// resources together; everything sorted, nothing twice.
#[must_use]
pub fn merge(rules: Vec<PolicyRule>) -> Vec<PolicyRule> {
    // Verbs of each single thing first: two rules for the same resource become one.
    let mut resources: BTreeMap<(String, String, Option<String>), Set> = BTreeMap::new();
    let mut urls: BTreeMap<String, Set> = BTreeMap::new();
    for rule in rules {
        for url in rule.non_resource_urls.iter().flatten() {
            urls.entry(url.clone()).or_default().extend(rule.verbs.iter().cloned());
        }
        for resource in resources_of(&rule) {
            resources.entry(resource).or_default().extend(rule.verbs.iter().cloned());
        }
    }
    let mut names: BTreeMap<(String, String, bool, Set), Set> = BTreeMap::new();
    for ((group, resource, name), verbs) in resources {
        let is_named = name.is_some();
        names.entry((group, resource, is_named, essential(verbs))).or_default().extend(name);
    }
    let mut merged: BTreeMap<(String, Set, Set), Set> = BTreeMap::new();
    for ((group, resource, _, verbs), names) in names {
        merged.entry((group, names, verbs)).or_default().insert(resource);
    }
    let mut by_verbs: BTreeMap<Set, Set> = BTreeMap::new();
    for (url, verbs) in urls {
        by_verbs.entry(essential(verbs)).or_default().insert(url);
    }
    let mut rules: Vec<_> = merged.into_iter().map(resource_rule).collect();
    rules.sort_by(|a, b| (&a.api_groups, &a.resources).cmp(&(&b.api_groups, &b.resources)));
    rules.extend(by_verbs.into_iter().map(url_rule));
    rules
}

/// One rule for one resource; the core group is `""`.
pub(crate) fn rule(group: &str, resource: &str, verbs: &[&str]) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![group.to_owned()]),
        resources: Some(vec![resource.to_owned()]),
        verbs: verbs.iter().map(ToString::to_string).collect(),
        ..PolicyRule::default()
    }
}

/// Each (group, resource, name) that a rule speaks of; no name stands for all.
fn resources_of(rule: &PolicyRule) -> Vec<(String, String, Option<String>)> {
    let mut all = Vec::new();
    for group in rule.api_groups.iter().flatten() {
        let group = if group == "core" { "" } else { group };
        for resource in rule.resources.iter().flatten() {
            let one = |name: Option<&String>| (group.to_owned(), resource.clone(), name.cloned());
            match rule.resource_names.as_deref() {
                None | Some([]) => all.push(one(None)),
                Some(names) => all.extend(names.iter().map(|name| one(Some(name)))),
            }
        }
    }
    all
}

/// `*` says all that the other verbs say.
fn essential(verbs: Set) -> Set {
    if verbs.contains("*") { Set::from(["*".to_owned()]) } else { verbs }
}

fn resource_rule(((group, names, verbs), resources): ((String, Set, Set), Set)) -> PolicyRule {
    PolicyRule {
        api_groups: Some(vec![group]),
        resources: Some(resources.into_iter().collect()),
        resource_names: (!names.is_empty()).then(|| names.into_iter().collect()),
        verbs: verbs.into_iter().collect(),
        ..PolicyRule::default()
    }
}

fn url_rule((verbs, urls): (Set, Set)) -> PolicyRule {
    PolicyRule {
        non_resource_urls: Some(urls.into_iter().collect()),
        verbs: verbs.into_iter().collect(),
        ..PolicyRule::default()
    }
}
