//! `run bundle-upgrade`: the bundle behind the installed release in the same catalogue, which is served anew.

use anyhow::Context as _;
use serde_json::Value;

use super::steps::Steps;
use super::{follow, standing};
use crate::olm::bundle_selector;
use crate::olm::catalogue::{Catalogue, CatalogueError};
use crate::olm::objects::{Kind, name, resource, text};
use crate::olm::source::Release;

/// Replaces the installed release of the package by `release`; nothing happens if that is the one.
pub(super) async fn upgrade(steps: &Steps<'_>, release: &Release) -> anyhow::Result<()> {
    let subscriptions = steps.within().all(Kind::Subscription).await;
    let subscriptions = subscriptions.context("cannot look at the Subscriptions")?;
    let subscription = standing::may_upgrade(&subscriptions, release)?;
    let before = held(steps, &release.package).await?;
    let Release { bundle, image, name, .. } = release;
    let catalogue = Catalogue::with(bundle, image.as_deref(), &before, steps.namespace)?;
    let installed = text(subscription, "/status/installedCSV");
    if installed != name {
        let documents = catalogue.all()?;
        standing::leads(&documents, text(subscription, "/spec/channel"), installed, name)?;
    }
    steps.serve(&catalogue).await?;
    let subscribed = text(subscription, "/metadata/name");
    // Before OLM sees the content, or an interruption could leave the one without the other.
    steps.mark(subscribed, release).await?;
    steps.connect(&catalogue).await?;
    follow(steps, subscribed, name).await?;
    steps.sweep(&catalogue).await
}

/// The documents of the catalogue that OLM reads now.
async fn held(steps: &Steps<'_>, package: &str) -> anyhow::Result<Vec<Value>> {
    let source = steps.within().find(Kind::CatalogSource, &Catalogue::source_name(package)).await;
    let source = source.context("cannot look at the catalogue")?.unwrap_or_default();
    let served = text(&source, "/spec/address").split('.').next().unwrap_or_default().to_owned();
    let maps =
        steps.within().labelled(&resource("v1", "ConfigMap"), &bundle_selector(package)).await;
    let maps = maps.context("cannot look at what holds the catalogue")?;
    let map = maps.iter().find(|map| name(map) == served).ok_or(CatalogueError::Unreadable)?;
    Ok(Catalogue::documents(map)?)
}
