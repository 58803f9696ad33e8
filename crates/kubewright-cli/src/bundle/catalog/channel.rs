//! The order of releases in a channel: where a new one goes, and whether there is one way through all of them, which
//! opm and OLM insist on. Pure.

use std::collections::BTreeSet;

use semver::Version;
use serde_json::{Value, json};

/// `entries` with `entry` among them, which replaces what it says, or else the newest release that is older. A newer
/// release that replaced the same one replaces this one now.
pub(super) fn with(mut entries: Vec<Value>, mut entry: Value) -> Vec<Value> {
    let name = name(&entry).to_owned();
    entries.retain(|one| self::name(one) != name);
    if entry.get("replaces").is_none()
        && let Some(older) = nearest(&entries, &name, Side::Older)
    {
        entry["replaces"] = json!(older);
    }
    let is_known =
        entries.iter().any(|one| replaces(one) == name || skips(one).any(|it| it == name));
    if !is_known
        && let Some(newer) = nearest(&entries, &name, Side::Newer)
        && let Some(newer) = entries.iter_mut().find(|one| self::name(one) == newer)
        && replaces(newer) == replaces(&entry)
    {
        newer["replaces"] = json!(name);
    }
    entries.push(entry);
    entries
}

/// Why there is no one way through the entries, if there is none.
pub(super) fn tangle(entries: &[Value]) -> Option<String> {
    let followed = |release: &str| {
        entries.iter().any(|one| replaces(one) == release || skips(one).any(|it| it == release))
    };
    let heads: Vec<_> = entries.iter().map(name).filter(|name| !followed(name)).collect();
    let [head] = heads[..] else {
        let none = "no release is the newest".to_owned();
        let several = || format!("{} would all be the newest", heads.join(" and "));
        return Some(if heads.is_empty() { none } else { several() });
    };
    let is_skipped = |release: &str| entries.iter().any(|one| skips(one).any(|it| it == release));
    let (mut way, mut at) = (BTreeSet::from([head]), head);
    // The way ends where it leads to a release that is skipped, as opm has it.
    while let Some(entry) = entries.iter().find(|one| name(one) == at && !is_skipped(replaces(one)))
    {
        at = replaces(entry);
        if !way.insert(at) {
            return Some(format!("{at} replaces itself in the end"));
        }
    }
    let stranded = entries.iter().map(name).find(|name| !way.contains(name) && !is_skipped(name));
    stranded.map(|stranded| format!("no way leads from {stranded} to {head}"))
}

#[derive(Clone, Copy)]
enum Side {
    Older,
    Newer,
}

/// The release on that side of `own` whose version is next to its.
fn nearest(entries: &[Value], own: &str, side: Side) -> Option<String> {
    let own = version(own)?;
    let all = entries.iter().map(name).filter_map(|name| Some((version(name)?, name)));
    let found = match side {
        Side::Older => all.filter(|(one, _)| *one < own).max_by(|one, other| one.0.cmp(&other.0)),
        Side::Newer => all.filter(|(one, _)| *one > own).min_by(|one, other| one.0.cmp(&other.0)),
    };
    found.map(|(_, name)| name.to_owned())
}

fn name(entry: &Value) -> &str {
    entry["name"].as_str().unwrap_or_default()
}

fn replaces(entry: &Value) -> &str {
    entry["replaces"].as_str().unwrap_or_default()
}

fn skips(entry: &Value) -> impl Iterator<Item = &str> {
    entry["skips"].as_array().into_iter().flatten().filter_map(Value::as_str)
}

/// The version in the name of a release.
fn version(name: &str) -> Option<Version> {
    Version::parse(name.split_once(".v")?.1).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(names: &[&str]) -> Vec<Value> {
        names.iter().fold(Vec::new(), |all, name| with(all, json!({ "name": name })))
    }

    fn follows(entries: &[Value], release: &str) -> String {
        replaces(entries.iter().find(|one| name(one) == release).unwrap()).to_owned()
    }

    #[test]
    fn a_release_goes_between_those_that_are_older_and_newer() {
        let entries = all(&["a.v0.0.1", "a.v0.1.0", "a.v0.0.2"]);
        assert_eq!(follows(&entries, "a.v0.0.2"), "a.v0.0.1");
        assert_eq!(follows(&entries, "a.v0.1.0"), "a.v0.0.2");
        assert_eq!(tangle(&entries), None);
        let again = with(entries.clone(), json!({ "name": "a.v0.0.2" }));
        assert_eq!(again, entries, "the same again changes nothing");
    }

    #[test]
    fn a_release_older_than_all_is_replaced_by_the_oldest() {
        let entries = all(&["a.v0.2.0", "a.v0.10.0", "a.v0.1.0"]);
        assert_eq!(follows(&entries, "a.v0.2.0"), "a.v0.1.0");
        assert_eq!(follows(&entries, "a.v0.1.0"), "");
        assert_eq!(tangle(&entries), None);
    }

    #[test]
    fn what_another_replaces_on_purpose_is_not_changed() {
        let mut entries = all(&["a.v0.0.1", "a.v0.0.2"]);
        entries = with(
            entries,
            json!({ "name": "a.v0.1.0", "replaces": "a.v0.0.1", "skips": ["a.v0.0.2"] }),
        );
        let before = entries.clone();
        entries = with(entries, json!({ "name": "a.v0.0.3" }));
        assert_eq!(entries[..3], before[..]);
    }

    #[test]
    fn a_channel_has_one_newest_release_that_all_others_lead_to() {
        let entry = |name: &str, replaces: &str, skips: &[&str]| json!({ "name": name, "replaces": replaces, "skips": skips });
        let tangle = |entries: &[Value]| tangle(entries).unwrap_or_default();
        let (one, two) = (entry("1", "", &[]), entry("2", "1", &[]));
        assert_eq!(tangle(&[one.clone(), two.clone(), entry("3", "2", &[])]), "");
        assert_eq!(tangle(&[one.clone(), entry("3", "2", &[])]), "1 and 3 would all be the newest");
        assert_eq!(tangle(&[one.clone(), entry("3", "2", &["1"])]), "");
        assert_eq!(tangle(&[entry("1", "2", &[]), two.clone()]), "no release is the newest");
        let apart = [one, two, entry("3", "0", &["2"])];
        assert_eq!(tangle(&apart), "no way leads from 1 to 3");
        let behind = [entry("1", "", &[]), entry("2", "1", &[]), entry("3", "2", &["2"])];
        assert_eq!(tangle(&behind), "no way leads from 1 to 3");
        let circle = [entry("1", "2", &[]), entry("2", "1", &[]), entry("3", "2", &[])];
        assert_eq!(tangle(&circle), "2 replaces itself in the end");
    }
}
