//! What may be done with a package as it stands in a namespace. Pure: Subscriptions and a release -> yes, or why not.

use serde_json::Value;

use crate::olm::BUNDLE;
use crate::olm::catalogue::Catalogue;
use crate::olm::objects::{name, text};
use crate::olm::source::Release;

/// Why not.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub(super) enum StandingError {
    #[error(
        "{installed} is installed already: `kubewright run bundle-upgrade` replaces it, `kubewright cleanup {package}` removes it"
    )]
    OtherRelease { installed: String, package: String },
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
pub(super) fn may_install(
    subscriptions: &[Value],
    package: &str,
    release: &str,
) -> Result<(), StandingError> {
    let Some(found) = of_package(subscriptions, package) else { return Ok(()) };
    expect_ours(found, package)?;
    let installed = text(found, "/status/installedCSV");
    if !installed.is_empty() && installed != release {
        let (installed, package) = (installed.to_owned(), package.to_owned());
        return Err(StandingError::OtherRelease { installed, package });
    }
    Ok(())
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

    fn release(channel: &str) -> Release {
        Release {
            bundle: Bundle::default(),
            image: None,
            package: "pots".to_owned(),
            name: "pots.v2".to_owned(),
            channels: vec![channel.to_owned()],
        }
    }

    #[test]
    fn a_release_goes_on_where_it_was_and_does_not_push_another_away() {
        assert_eq!(may_install(&[], "pots", "pots.v1"), Ok(()));
        for installed in ["", "pots.v1"] {
            assert_eq!(may_install(&[subscription(installed)], "pots", "pots.v1"), Ok(()));
        }
        let error = may_install(&[subscription("pots.v0")], "pots", "pots.v1").unwrap_err();
        assert!(error.to_string().starts_with("pots.v0 is installed already"), "{error}");
    }

    #[test]
    fn what_others_subscribed_to_is_theirs() {
        let mut theirs = subscription("pots.v1");
        theirs["spec"]["source"] = json!("operatorhubio-catalog");
        let error = may_install(&[theirs], "pots", "pots.v1").unwrap_err();
        assert!(error.to_string().contains("operatorhubio-catalog"), "{error}");
    }

    #[test]
    fn an_upgrade_needs_something_installed_and_its_channel() {
        let upgrade =
            |list: &[Value], channel: &str| may_upgrade(list, &release(channel)).map(drop);
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
