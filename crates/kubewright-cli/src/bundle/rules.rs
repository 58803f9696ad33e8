//! The rules that a bundle must keep: those of the Operator Framework's validators and of `OperatorHub`, each
//! in the file of its topic. Pure. The id of a rule begins with its topic, as `csv/name`.

mod architectures;
mod content;
mod definition;
mod examples;
mod format;
mod hub;
mod images;
mod install_modes;
mod objects;
mod owned;
mod practices;
mod release;
mod removed;
mod size;
mod webhooks;

use super::csv::Spec;
use super::{Bundle, ClusterServiceVersion, Findings};

/// A release, and where it is.
struct Release<'a> {
    file: &'a str,
    csv: &'a ClusterServiceVersion,
    spec: &'a Spec,
}

/// Adds what all rules find.
pub(super) fn check(bundle: &Bundle, findings: &mut Findings) {
    format::check(bundle, findings);
    content::check(bundle, findings);
    size::check(bundle, findings);
    objects::check(bundle, findings);
    for (file, definition) in &bundle.definitions {
        definition::check(file, definition, findings);
    }
    let Some((file, csv)) = &bundle.release else { return };
    release::check(file, csv, findings);
    let Some(spec) = &csv.spec else { return };
    let release = Release { file, csv, spec };
    examples::check(&release, findings);
    install_modes::check(&release, findings);
    webhooks::check(&release, findings);
    owned::check(bundle, &release, findings);
    images::check(&release, findings);
    hub::check(&release, findings);
    removed::check(bundle, &release, findings);
    practices::check(bundle, &release, findings);
    architectures::check(&release, findings);
}
