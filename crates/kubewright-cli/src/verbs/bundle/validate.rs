//! `kubewright bundle validate`: tells what the rules find.

use std::io::Write as _;
use std::path::Path;

use clap::Args;
use serde::Serialize;

use crate::bundle::{self, Finding, Severity};
use crate::olm::source;
use crate::output::{self, Format};
use crate::style::Paint;
use crate::verbs::ignored::ValidateFlags;

#[derive(Debug, Args)]
pub(super) struct Validate {
    /// The folder of the bundle, or its image in a registry
    #[arg(default_value = "bundle", value_name = "FOLDER|IMAGE")]
    bundle: String,
    #[command(flatten)]
    format: Format,
    #[command(flatten)]
    ignored: ValidateFlags,
}

/// What was found.
#[derive(Serialize)]
struct Answer<'a> {
    errors: usize,
    warnings: usize,
    findings: &'a [Finding],
}

impl Validate {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        self.ignored.say();
        let findings = source::bundle(&self.bundle)?.findings();
        let folder = Path::new(&self.bundle);
        let errors = count(&findings, Severity::Error);
        let answer = Answer { errors, warnings: findings.len() - errors, findings: &findings };
        self.format.answer(&answer, || text(folder, &findings))?;
        verdict(folder, &findings)
    }
}

/// Checks a bundle that was just written, and tells only what is wrong.
pub(super) fn after_writing(folder: &Path) -> anyhow::Result<()> {
    let findings = bundle::read(folder)?.findings();
    output::write(text(folder, &findings))?;
    verdict(folder, &findings)
}

/// Refuses a bundle with errors; what is wrong goes to standard error, because the answer is another.
pub(super) fn before_building(folder: &Path) -> anyhow::Result<()> {
    let findings = bundle::read(folder)?.findings();
    let errors: Vec<_> =
        findings.into_iter().filter(|finding| finding.severity == Severity::Error).collect();
    // With standard error closed there is nobody left to tell.
    let _ = write!(std::io::stderr().lock(), "{}", bundle::text(&errors, Paint::stderr()));
    verdict(folder, &errors)
}

fn text(folder: &Path, findings: &[Finding]) -> String {
    let paint = Paint::stdout();
    let summary = bundle::count(findings);
    let summary = if findings.is_empty() { paint.good(&summary) } else { summary };
    let gap = if findings.is_empty() { "" } else { "\n" };
    format!("{}{gap}{}: {summary}\n", bundle::text(findings, paint), folder.display())
}

/// Errors are a failure of the program, too.
fn verdict(folder: &Path, findings: &[Finding]) -> anyhow::Result<()> {
    let is_good = count(findings, Severity::Error) == 0;
    anyhow::ensure!(is_good, "the bundle {} cannot be published as it is", folder.display());
    Ok(())
}

fn count(findings: &[Finding], severity: Severity) -> usize {
    findings.iter().filter(|finding| finding.severity == severity).count()
}
