//! What may be done with a package as it stands in a namespace. Pure: Subscriptions and a release -> yes, or why not.

use serde_json::Value;

use crate::olm::catalogue::Catalogue;
use crate::olm::objects::{name, text};
use crate::olm::source::Release;
use crate::olm::{BUNDLE, CONTENT};

/// Why not.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum StandingError {
    #[error(
        "{installed} is installed already: `kubewright run bundle-upgrade` replaces it, `kubewright cleanup {package}` removes it"
    )]
    OtherRelease { installed: String, package: String },
    #[error(
        "{release} was run before with another content, and OLM keeps what it has: raise the version, or run it anew after \
         `kubewright cleanup {package} --namespace {namespace}`"
    )]
    OtherContent { release: String, package: String, namespace: String },
    #[error(
        "{package} is subscribed to already, by subscription/{subscription} and from the catalogue {catalogue}, not by \
         `kubewright run bundle`: remove that first, `kubewright cleanup {package}` does"
    )]
    Theirs { package: String, subscription: String, catalogue: String },
    #[error("{package} is not installed here: `kubewright run bundle` installs it")]
    Absent { package: String },
    #[error(
        "{package} is not installed yet: run the same `kubewright run bundle` again, it goes on where it was"
    )]
    Unfinished { package: String },
    #[error(
        "{release} is not in the channel {channel}, which the installed release follows: make the bundle with --channels {channel}"
    )]
    OtherChannel { release: String, channel: String },
    #[error(
        "{release} does not replace {installed}, which is installed, but {replaces}: set `replaces` or `skips`, or \
         clean up and run the bundle anew"
    )]
    NoWay { release: String, installed: String, replaces: String },
}

/// An error if `release` of `package` cannot be installed beside what there is.
pub(super) fn may_install(subscriptions: &[Value], release: &Release) -> Result<(), StandingError> {
    let Release { package, name, .. } = release;
    let Some(found) = of_package(subscriptions, package) else { return Ok(()) };
    expect_ours(found, package)?;
    let installed = text(found, "/status/installedCSV");
    if !installed.is_empty() && installed != name {
        let (installed, package) = (installed.to_owned(), package.to_owned());
        return Err(StandingError::OtherRelease { installed, package });
    }
    expect_same(found, release)
}

/// OLM looks at a release by its name: what was edited under the same one is never installed.
fn expect_same(found: &Value, release: &Release) -> Result<(), StandingError> {
    let content = found["metadata"]["annotations"][CONTENT].as_str().unwrap_or_default();
    let is_other = content
        .split_once(' ')
        .is_some_and(|(name, digest)| name == release.name && digest != release.digest);
    if !is_other {
        return Ok(());
    }
    let Release { name, package, .. } = release;
    let namespace = text(found, "/metadata/namespace").to_owned();
    Err(StandingError::OtherContent { release: name.clone(), package: package.clone(), namespace })
}

/// The Subscription of a release that can be upgraded to `release`.
pub(super) fn may_upgrade<'a>(
    subscriptions: &'a [Value],
    release: &Release,
) -> Result<&'a Value, StandingError> {
    let package = || release.package.clone();
    let found = of_package(subscriptions, &release.package);
    let found = found.ok_or_else(|| StandingError::Absent { package: package() })?;
    expect_ours(found, &release.package)?;
    if text(found, "/status/installedCSV").is_empty() {
        return Err(StandingError::Unfinished { package: package() });
    }
    let channel = text(found, "/spec/channel");
    if !release.channels.iter().any(|one| one == channel) {
        let (release, channel) = (release.name.clone(), channel.to_owned());
        return Err(StandingError::OtherChannel { release, channel });
    }
    expect_same(found, release)?;
    Ok(found)
}

/// An error if the documents of the catalogue lead from `installed` to no `release` in `channel`.
pub(super) fn leads(
    documents: &[Value],
    channel: &str,
    installed: &str,
    release: &str,
) -> Result<(), StandingError> {
    let is_channel = |one: &&Value| one["schema"] == "olm.channel" && one["name"] == channel;
    let entries = documents.iter().find(is_channel).and_then(|one| one["entries"].as_array());
    let entry = entries.into_iter().flatten().find(|entry| entry["name"] == release);
    let replaces = entry.map(|entry| text(entry, "/replaces")).unwrap_or_default();
    let leads = entry.is_some_and(|entry| {
        let skips = entry["skips"].as_array().into_iter().flatten();
        // Whether a range has the installed release in it is OLM's to say.
        replaces == installed
            || skips.into_iter().any(|one| one == installed)
            || entry.get("skipRange").is_some()
    });
    if leads {
        return Ok(());
    }
    let replaces = if replaces.is_empty() { "nothing" } else { replaces }.to_owned();
    let (release, installed) = (release.to_owned(), installed.to_owned());
    Err(StandingError::NoWay { release, installed, replaces })
}

fn of_package<'a>(subscriptions: &'a [Value], package: &str) -> Option<&'a Value> {
    subscriptions.iter().find(|one| text(one, "/spec/name") == package)
}

fn expect_ours(found: &Value, package: &str) -> Result<(), StandingError> {
    let catalogue = text(found, "/spec/source");
    let is_ours = found["metadata"]["labels"].get(BUNDLE).is_some();
    if is_ours && catalogue == Catalogue::source_name(package) {
        return Ok(());
    }
    let subscription = name(found).to_owned();
    let (package, catalogue) = (package.to_owned(), catalogue.to_owned());
    Err(StandingError::Theirs { package, subscription, catalogue })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::bundle::Bundle;

    fn subscription(installed: &str) -> Value {
        json!({
            "metadata": { "name": "pots", "labels": { BUNDLE: "pots" } },
            "spec": { "name": "pots", "source": "pots-catalog", "channel": "stable" },
            "status": { "installedCSV": installed },
        })
    }

    fn release(name: &str, channel: &str) -> Release {
        Release {
            bundle: Bundle::default(),
            image: None,
            package: "pots".to_owned(),
            name: name.to_owned(),
            channels: vec![channel.to_owned()],
            digest: "sha256:1".to_owned(),
        }
    }

    #[test]
    fn a_release_goes_on_where_it_was_and_does_not_push_another_away() {
        assert_eq!(may_install(&[], &release("pots.v1", "stable")), Ok(()));
        for installed in ["", "pots.v1"] {
            assert_eq!(
                may_install(&[subscription(installed)], &release("pots.v1", "stable")),
                Ok(())
            );
        }
        let error =
            may_install(&[subscription("pots.v0")], &release("pots.v1", "stable")).unwrap_err();
        assert!(error.to_string().starts_with("pots.v0 is installed already"), "{error}");
    }

    #[test]
    fn another_content_of_the_same_release_is_refused_with_the_way_out() {
        let subscription = |content: &str| {
            let mut subscription = subscription("pots.v1");
            subscription["metadata"]["namespace"] = json!("here");
            subscription["metadata"]["annotations"] = json!({ CONTENT: content });
            [subscription]
        };
        let (own, next) = (release("pots.v1", "stable"), release("pots.v2", "stable"));
        assert_eq!(may_install(&subscription(&own.content()), &own), Ok(()));
        assert_eq!(may_upgrade(&subscription(&own.content()), &next).map(drop), Ok(()));
        let edited = subscription("pots.v1 sha256:0");
        let error = may_install(&edited, &own).unwrap_err().to_string();
        assert!(error.ends_with("`kubewright cleanup pots --namespace here`"), "{error}");
        assert!(may_upgrade(&edited, &own).is_err());
        assert_eq!(may_upgrade(&edited, &next).map(drop), Ok(()));
        assert!(may_upgrade(&subscription("pots.v2 sha256:0"), &next).is_err());
    }

    #[test]
    fn what_others_subscribed_to_is_theirs() {
        let mut theirs = subscription("pots.v1");
        theirs["spec"]["source"] = json!("operatorhubio-catalog");
        let error = may_install(&[theirs], &release("pots.v1", "stable")).unwrap_err();
        assert!(error.to_string().contains("operatorhubio-catalog"), "{error}");
    }

    #[test]
    fn an_upgrade_needs_something_installed_and_its_channel() {
        let upgrade = |list: &[Value], channel: &str| {
            may_upgrade(list, &release("pots.v2", channel)).map(drop)
        };
        let package = || "pots".to_owned();
        assert_eq!(upgrade(&[], "stable"), Err(StandingError::Absent { package: package() }));
        let unfinished = Err(StandingError::Unfinished { package: package() });
        assert_eq!(upgrade(&[subscription("")], "stable"), unfinished);
        assert!(upgrade(&[subscription("pots.v1")], "fast").is_err());
        assert_eq!(upgrade(&[subscription("pots.v1")], "stable"), Ok(()));
    }

    #[test]
    fn a_catalogue_must_lead_from_what_is_installed() {
        let documents = [json!({ "schema": "olm.channel", "name": "stable", "entries": [
            { "name": "pots.v2", "replaces": "pots.v1", "skips": ["pots.v0"] },
        ]})];
        assert_eq!(leads(&documents, "stable", "pots.v1", "pots.v2"), Ok(()));
        assert_eq!(leads(&documents, "stable", "pots.v0", "pots.v2"), Ok(()));
        let error = leads(&documents, "stable", "pots.v9", "pots.v2").unwrap_err();
        assert!(error.to_string().contains("but pots.v1"), "{error}");
    }
}
