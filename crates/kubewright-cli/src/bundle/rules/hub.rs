//! `hub/…`: what a page of `OperatorHub` is made from.

use super::super::csv::{Icon, Spec};
use super::super::names::{is_mail, is_url};
use super::super::{ClusterServiceVersion, Findings};
use super::Release;

const MEDIA_TYPES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/svg+xml"];
const CAPABILITIES: [&str; 5] =
    ["Basic Install", "Seamless Upgrades", "Full Lifecycle", "Deep Insights", "Auto Pilot"];
const CATEGORIES: [&str; 16] = [
    "AI/Machine Learning",
    "Application Runtime",
    "Big Data",
    "Cloud Provider",
    "Developer Tools",
    "Database",
    "Integration & Delivery",
    "Logging & Tracing",
    "Monitoring",
    "Modernization & Migration",
    "Networking",
    "OpenShift Optional",
    "Security",
    "Storage",
    "Streaming & Messaging",
    "Observability",
];

pub(super) fn check(release: &Release<'_>, findings: &mut Findings) {
    let Release { file, csv, spec } = release;
    people(file, spec, findings);
    links(file, spec, findings);
    filed(file, csv, findings);
    let zero = |version: &str| version == "0.0.0";
    if spec.version.as_deref().is_none_or(zero) {
        let wrong = "spec.version is missing".to_owned();
        findings.error("hub/version", file, wrong, "`kubewright bundle --version 0.0.1` says it.");
    }
    match spec.icon.as_deref() {
        None => {
            let wrong = "there is no icon".to_owned();
            let remedy = "Set `icon` of [bundle] in kubewright.toml.";
            findings.warning("hub/icon-missing", file, wrong, remedy);
        }
        Some(icons) => icon(file, icons, findings),
    }
}

fn people(file: &str, spec: &Spec, findings: &mut Findings) {
    if spec.provider.name.trim().is_empty() {
        let wrong = "spec.provider.name is missing".to_owned();
        let remedy = "Set `provider` of [bundle] in kubewright.toml.";
        findings.error("hub/provider", file, wrong, remedy);
    }
    for person in &spec.maintainers {
        if person.name.is_empty() || person.email.is_empty() {
            let wrong =
                format!("the maintainer `{}{}` lacks name or mail", person.name, person.email);
            findings.error("hub/maintainer", file, wrong, "Each has a `name` and an `email`.");
        } else if !is_mail(&person.email) {
            let wrong = format!("`{}` is no mail address", person.email);
            findings.error("hub/maintainer-mail", file, wrong, "Write it as person@example.com.");
        }
    }
}

fn links(file: &str, spec: &Spec, findings: &mut Findings) {
    for link in &spec.links {
        if link.name.is_empty() || link.url.is_empty() {
            let wrong = format!("the link `{}{}` lacks name or URL", link.name, link.url);
            findings.error("hub/link", file, wrong, "Each has a `name` and a `url`.");
        } else if !is_url(&link.url) {
            let wrong = format!("`{}` is no URL", link.url);
            findings.error("hub/link-url", file, wrong, "Write all of it, with https://.");
        }
    }
}

/// Where it is filed and how much it can do; no word is fine, a wrong one is not.
fn filed(file: &str, csv: &ClusterServiceVersion, findings: &mut Findings) {
    if let Some(level) = csv.annotation("capabilities")
        && !CAPABILITIES.contains(&level)
    {
        let wrong = format!("`{level}` is no capability level");
        let remedy =
            "They are Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights, Auto Pilot.";
        findings.error("hub/capabilities", file, wrong, remedy);
    }
    let categories = csv.annotation("categories").map(|text| text.split(','));
    for category in categories.into_iter().flatten().map(str::trim) {
        if !CATEGORIES.contains(&category) {
            let wrong = format!("`{category}` is no category");
            let remedy = "The categories are listed in docs/guides/operatorhub.md of kubewright.";
            findings.error("hub/category", file, wrong, remedy);
        }
    }
}

fn icon(file: &str, icons: &[Icon], findings: &mut Findings) {
    if icons.len() != 1 {
        let wrong = format!("spec.icon has {} pictures", icons.len());
        findings.error("hub/icon-count", file, wrong, "Keep exactly one.");
    }
    let Some(icon) = icons.first() else { return };
    if icon.base64data.is_empty() || icon.mediatype.is_empty() {
        let wrong = "the icon lacks its data or its media type".to_owned();
        findings.error("hub/icon", file, wrong, "It needs both.");
    }
    if !icon.mediatype.is_empty() && !MEDIA_TYPES.contains(&icon.mediatype.as_str()) {
        let wrong = format!("an icon cannot be of type `{}`", icon.mediatype);
        findings.error("hub/icon-type", file, wrong, "Use SVG, PNG, JPEG or GIF.");
    }
}
