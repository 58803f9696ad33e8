//! Where a project finds the library: as a path or a git repository, as long as the crates are not
//! published.

use std::path::{Path, PathBuf};

/// Where this program was built from.
const BUILT_FROM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Where the library is.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Library {
    /// In a folder with the crates.
    Path(PathBuf),
    /// In a git repository.
    Git(String),
}

impl Library {
    /// What `--kubewright` names.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if let Some(address) = git(text) {
            return Ok(Self::Git(address));
        }
        Self::at(Path::new(text)).ok_or_else(|| {
            format!("there is no kubewright in {text}: name the folder of its sources, or its git repository")
        })
    }

    /// The sources of this very program, if they are still there.
    pub(crate) fn built_from() -> anyhow::Result<Self> {
        Self::at(Path::new(BUILT_FROM)).ok_or_else(|| {
            anyhow::anyhow!(
                "the library is not where this program was built: say with --kubewright where its sources are, \
                 a folder or a git repository"
            )
        })
    }

    /// In `folder`, or beside it if that is one of the crates.
    fn at(folder: &Path) -> Option<Self> {
        let folder = folder.canonicalize().ok()?;
        let crates = [Some(folder.join("crates")), folder.parent().map(Path::to_owned)];
        let has = |crates: &PathBuf| {
            ["kubewright", "kubewright-testenv"]
                .iter()
                .all(|name| crates.join(name).join("Cargo.toml").is_file())
        };
        crates.into_iter().flatten().find(has).map(Self::Path)
    }

    /// The value of a dependency on one of the crates.
    pub(crate) fn dependency(&self, name: &str) -> String {
        let (key, value) = match self {
            Self::Path(crates) => ("path", crates.join(name).display().to_string()),
            Self::Git(address) => ("git", address.clone()),
        };
        format!("{{ {key} = {} }}", toml_edit::Value::from(value))
    }
}

/// The address as Cargo takes it, if it is one of a git repository.
fn git(text: &str) -> Option<String> {
    if text.contains("://") {
        return Some(text.to_owned());
    }
    // As git itself takes it: user@host:path.
    let (host, path) = text.split_once(':').filter(|(host, _)| host.contains('@'))?;
    Some(format!("ssh://{host}/{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_is_told_from_a_folder() {
        let git = |text: &str| Library::parse(text).unwrap().dependency("kubewright");
        assert_eq!(git("https://example.com/k.git"), "{ git = \"https://example.com/k.git\" }");
        assert_eq!(git("git@example.com:me/k.git"), "{ git = \"ssh://git@example.com/me/k.git\" }");
        let Library::Path(crates) = Library::built_from().unwrap() else { panic!() };
        assert!(crates.ends_with("crates"));
        assert_eq!(
            Library::parse(&crates.join("kubewright").display().to_string()),
            Ok(Library::Path(crates))
        );
    }

    #[test]
    fn a_folder_without_the_library_is_refused() {
        assert!(
            Library::parse("/nowhere").unwrap_err().contains("there is no kubewright in /nowhere")
        );
    }
}
