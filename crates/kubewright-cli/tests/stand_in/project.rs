//! A project whose operator is a stand-in of a few lines, so that no time is spent on building a real one.

use tempfile::TempDir;

const MANIFEST: &str =
    "[package]\nname = \"memo-operator\"\nversion = \"0.3.0\"\nedition = \"2024\"\n[workspace]\n";

/// The project with `program` as its operator, and one more file in `src/` that this includes.
pub(crate) fn project(program: &str, name: &str, content: &str) -> TempDir {
    let project = tempfile::tempdir().unwrap();
    std::fs::create_dir(project.path().join("src")).unwrap();
    for (path, content) in [
        ("kubewright.toml", "name = \"memo-operator\"\n"),
        ("Cargo.toml", MANIFEST),
        ("src/main.rs", program),
        (&format!("src/{name}"), content),
    ] {
        std::fs::write(project.path().join(path), content).unwrap();
    }
    project
}
