//! What is wrong with a bundle: in which file, by which rule, and what to do. Owns the words for people;
//! which rule finds what is in `rules`.

use std::fmt::Write as _;

use serde::Serialize;

use crate::style::Paint;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// It cannot be installed, or no catalogue takes it.
    Error,
    /// It can, and somebody will regret it.
    Warning,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    /// The rule, as `csv/name`; stable.
    pub(crate) id: &'static str,
    pub(crate) severity: Severity,
    /// The path in the folder of the bundle.
    pub(crate) file: String,
    /// What is wrong.
    pub(crate) wrong: String,
    /// What to do.
    pub(crate) remedy: &'static str,
}

/// Findings while they are collected.
#[derive(Clone, Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn error(
        &mut self,
        id: &'static str,
        file: &str,
        wrong: String,
        remedy: &'static str,
    ) {
        self.add(Severity::Error, id, file, wrong, remedy);
    }

    pub(super) fn warning(
        &mut self,
        id: &'static str,
        file: &str,
        wrong: String,
        remedy: &'static str,
    ) {
        self.add(Severity::Warning, id, file, wrong, remedy);
    }

    fn add(
        &mut self,
        severity: Severity,
        id: &'static str,
        file: &str,
        wrong: String,
        remedy: &'static str,
    ) {
        self.0.push(Finding { id, severity, file: file.to_owned(), wrong, remedy });
    }

    /// Errors first, in the order of files.
    pub(super) fn sorted(mut self) -> Vec<Finding> {
        self.0.sort_by(|one, other| {
            (one.severity, &one.file, one.id).cmp(&(other.severity, &other.file, other.id))
        });
        self.0
    }
}

/// All of them as people read them, with a heading for each file.
pub(crate) fn text(findings: &[Finding], paint: Paint) -> String {
    let mut text = String::new();
    let mut before = None;
    for Finding { id, severity, file, wrong, remedy } in findings {
        if before != Some((severity, file)) {
            let gap = if before.is_some() { "\n" } else { "" };
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{gap}{}", paint.heading(file));
            before = Some((severity, file));
        }
        let word = match severity {
            Severity::Error => paint.wrong("error"),
            Severity::Warning => paint.careful("warning"),
        };
        let _ = writeln!(text, "  {word} {id}: {wrong}\n    {remedy}");
    }
    text
}

/// `1 error, 2 warnings`
pub(crate) fn count(findings: &[Finding]) -> String {
    let counted = |severity, word: &str| {
        let number = findings.iter().filter(|finding| finding.severity == severity).count();
        format!("{number} {word}{}", if number == 1 { "" } else { "s" })
    };
    format!("{}, {}", counted(Severity::Error, "error"), counted(Severity::Warning, "warning"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_first_and_each_file_has_its_heading() {
        let mut findings = Findings::default();
        findings.warning("a/one", "a.yaml", "odd".to_owned(), "do better");
        findings.error("b/two", "b.yaml", "broken".to_owned(), "repair it");
        let findings = findings.sorted();
        assert_eq!(
            text(&findings, Paint::PLAIN),
            "b.yaml\n  error b/two: broken\n    repair it\n\n\
             a.yaml\n  warning a/one: odd\n    do better\n"
        );
        assert_eq!(count(&findings), "1 error, 1 warning");
        assert_eq!(count(&[]), "0 errors, 0 warnings");
    }
}
