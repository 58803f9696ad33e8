//! Where the local environment is kept, and who may change it: one `kubewright dev` at a time.
//!
//! Owns the paths, the lock and the removal. What is in the directory is the library's, but for the
//! file of `record`.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use kubewright_testenv::progress::Progress;

/// The place of the one environment that `kubewright dev` is about.
#[derive(Debug)]
pub(super) struct Place {
    root: PathBuf,
    directory: PathBuf,
}

impl Place {
    /// `KUBEWRIGHT_STATE`, else `$XDG_STATE_HOME/kubewright`, else `~/.local/state/kubewright`.
    pub(super) fn from_environment() -> anyhow::Result<Self> {
        let root = root(|name| std::env::var_os(name)).context(
            "no place for the environment: set KUBEWRIGHT_STATE to a directory \
             (HOME and XDG_STATE_HOME are unset too)",
        )?;
        Self::at(&root)
    }

    /// However the way to `root` is spelled, the path is the same: processes are known by it.
    fn at(root: &Path) -> anyhow::Result<Self> {
        let root = match fs::canonicalize(root) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => std::path::absolute(root),
            found => found,
        }
        .with_context(|| format!("cannot use {} for the environment", root.display()))?;
        let directory = root.join("dev");
        Ok(Self { root, directory })
    }

    /// The environment's directory, there or not.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// True if nothing was ever here: not even a lock, which would make the place.
    pub(super) fn is_untouched(&self) -> bool {
        !self.directory.exists() && !self.lock_file().exists() && !self.has_processes()
    }

    /// Waits until no other `kubewright dev` changes the environment, and keeps others waiting until
    /// the file is dropped.
    pub(super) fn lock(&self) -> anyhow::Result<File> {
        make_private(&self.root)
            .with_context(|| format!("cannot create {}", self.root.display()))?;
        let path = self.lock_file();
        let cannot = || format!("cannot lock {}", path.display());
        let file = File::create(&path).with_context(cannot)?;
        wait_for(&file, "waiting for another `kubewright dev`").with_context(cannot)?;
        Ok(file)
    }

    /// True while the library starts or ends an environment here.
    pub(super) fn is_busy(&self) -> bool {
        let lock = File::open(self.inner_lock());
        lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// Waits until the end of an earlier run has come to its end: one that was interrupted goes on in
    /// the background, and would take a new environment for the old one. Needs [`Self::lock`].
    pub(super) fn settle(&self) -> anyhow::Result<()> {
        let path = self.inner_lock();
        let cannot = || format!("cannot lock {}", path.display());
        match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            file => {
                let file = file.with_context(cannot)?;
                wait_for(&file, "waiting for the end of the one before").with_context(cannot)
            }
        }
    }

    /// Ends whatever is here and removes it. Needs [`Self::lock`].
    pub(super) fn clear(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.is_ours()?,
            "{} holds files that are not kubewright's, and they are left alone: \
             move them, or set KUBEWRIGHT_STATE to another directory",
            self.directory.display()
        );
        kubewright_testenv::tear_down(&self.directory)?;
        anyhow::ensure!(
            !self.directory.exists(),
            "{} cannot be removed entirely: was it started by another user?",
            self.directory.display()
        );
        Ok(())
    }

    /// Everything below the directory will be removed, and `dev` is a name that people use: the
    /// library's lock, an empty file that it makes first, tells an environment from anything else.
    fn is_ours(&self) -> anyhow::Result<bool> {
        let lock = fs::metadata(self.inner_lock());
        if lock.is_ok_and(|lock| lock.is_file() && lock.len() == 0) || self.has_processes() {
            return Ok(true);
        }
        let mut entries = fs::read_dir(&self.directory)
            .with_context(|| format!("cannot list {}", self.directory.display()))?;
        Ok(entries.next().is_none())
    }

    /// True if processes of an environment here live, even if its files are gone.
    pub(super) fn has_processes(&self) -> bool {
        kubewright_testenv::has_processes(&self.directory)
    }

    fn lock_file(&self) -> PathBuf {
        self.root.join("dev.lock")
    }

    fn inner_lock(&self) -> PathBuf {
        self.directory.join("lock")
    }
}

/// Keys and logs are nobody else's business; what is above is left to the user's own settings.
fn make_private(directory: &Path) -> io::Result<()> {
    if directory.exists() {
        return Ok(());
    }
    fs::create_dir_all(directory.parent().unwrap_or(directory))?;
    let mut builder = DirBuilder::new();
    // Recursive, so that it is no failure if another process was quicker.
    builder.recursive(true).mode(0o700).create(directory)
}

fn wait_for(file: &File, reason: &str) -> io::Result<()> {
    match file.try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::Error(error)) => Err(error),
        Err(TryLockError::WouldBlock) => Progress::Shown.step(reason, || file.lock()),
    }
}

fn root(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let variable = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    variable("KUBEWRIGHT_STATE")
        .or_else(|| variable("XDG_STATE_HOME").map(|home| home.join("kubewright")))
        .or_else(|| variable("HOME").map(|home| home.join(".local/state/kubewright")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(set: &[(&str, &str)]) -> Option<PathBuf> {
        root(|name| {
            let found = set.iter().find(|(one, _)| *one == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn the_most_specific_variable_that_says_something_wins() {
        let home = ("HOME", "/home/a");
        let xdg = ("XDG_STATE_HOME", "/state");
        let own = ("KUBEWRIGHT_STATE", "/own");
        assert_eq!(with(&[home, xdg, own]), Some("/own".into()));
        assert_eq!(with(&[home, xdg]), Some("/state/kubewright".into()));
        let unset = ("KUBEWRIGHT_STATE", "");
        let expected = Some("/home/a/.local/state/kubewright".into());
        assert_eq!(with(&[home, unset]), expected);
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn a_link_to_the_place_leads_to_the_same_directory() {
        let base = tempfile::tempdir().unwrap();
        let (real, link) = (base.path().join("real"), base.path().join("link"));
        fs::create_dir(&real).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        let (real, link) = (Place::at(&real).unwrap(), Place::at(&link).unwrap());
        assert_eq!(real.directory(), link.directory());
    }

    #[test]
    fn a_second_lock_waits_for_the_first() {
        let base = tempfile::tempdir().unwrap();
        let place = Place::at(base.path()).unwrap();
        let first = place.lock().unwrap();
        std::thread::scope(|scope| {
            let second = scope.spawn(|| place.lock().map(drop));
            std::thread::sleep(std::time::Duration::from_millis(50));
            assert!(!second.is_finished());
            drop(first);
            second.join().unwrap().unwrap();
        });
    }

    #[test]
    fn only_what_is_ours_is_removed() {
        let base = tempfile::tempdir().unwrap();
        let place = Place::at(base.path()).unwrap();
        fs::create_dir(place.directory()).unwrap();
        let work = place.directory().join("years-of-work");
        fs::write(&work, "…").unwrap();
        let error = place.clear().unwrap_err().to_string();
        assert!(error.contains("not kubewright's"), "{error}");
        assert!(work.exists());
        fs::write(place.inner_lock(), "").unwrap();
        place.clear().unwrap();
        assert!(!place.directory().exists());
        fs::create_dir(place.directory()).unwrap();
        place.clear().unwrap();
        assert!(!place.directory().exists());
    }

    #[test]
    fn a_directory_that_the_library_holds_is_busy() {
        let base = tempfile::tempdir().unwrap();
        let place = Place::at(base.path()).unwrap();
        assert!(!place.is_busy());
        fs::create_dir(place.directory()).unwrap();
        let held = File::create(place.inner_lock()).unwrap();
        held.lock().unwrap();
        assert!(place.is_busy());
        drop(held);
        assert!(!place.is_busy());
        place.settle().unwrap();
    }
}
