//! The form of what is written: `rustfmt`'s, as the project has it set up. Where there is no `rustfmt`, the
//! code stays as the templates have it.
//!
//! A file that was there is formatted only if it was formatted before: a diff shows what was added,
//! nothing else.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::plan::Plan;

/// Formats what `plan` will write. In one call: starting the program takes longer than its work.
pub(crate) fn format(plan: &mut Plan, root: &Path) {
    // Without a folder to work in, nothing is lost but the form.
    let Ok(folder) = tempfile::tempdir() else { return };
    let mut jobs: Vec<_> = plan.sources().collect();
    for (place, (_, before, after)) in jobs.iter().enumerate() {
        let name = |what: &str| folder.path().join(format!("{place}-{what}.rs"));
        let _ = fs::write(name("after"), after.as_str());
        if let Some(before) = before {
            let _ = fs::write(name("before"), before);
        }
    }
    if !rustfmt(folder.path(), root) {
        return;
    }
    for (place, (_, before, after)) in jobs.iter_mut().enumerate() {
        let formatted =
            |what: &str| fs::read_to_string(folder.path().join(format!("{place}-{what}.rs")));
        let was_formatted = match before {
            Some(before) => formatted("before").is_ok_and(|text| text == *before),
            None => true,
        };
        if let (true, Ok(text)) = (was_formatted, formatted("after")) {
            **after = text;
        }
    }
}

/// Formats all files of `folder` as those of the project in `root`; false if it could not.
fn rustfmt(folder: &Path, root: &Path) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return false };
    let files: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    if files.is_empty() {
        return false;
    }
    let mut command = Command::new("rustfmt");
    // Modules that a file names are not beside it here, and would be missed.
    command.args(["--edition", "2024", "--config", "skip_children=true"]);
    let configuration = ["rustfmt.toml", ".rustfmt.toml"].map(|name| root.join(name));
    if let Some(path) = configuration.iter().find(|path| path.is_file()) {
        command.arg("--config-path").arg(path);
    }
    let command =
        command.args(&files).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
