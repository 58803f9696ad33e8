//! The cache of what is slow to make and the same everywhere: binaries and images, keyed by version.
//!
//! Owns the directory layout, the locks and the check of entries. Knows nothing of how an entry is
//! made.
//!
//! Guarantees: an entry appears whole or not at all (written beside its place, then renamed); two
//! processes never make the same entry at once; an entry that no longer is what was put there is
//! found and made again.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::progress::Progress;

/// What went wrong with the cache itself; what goes wrong while an entry is made is the maker's.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// Neither of the variables that say where the cache is was set.
    #[error(
        "no place for the cache: set KUBEWRIGHT_CACHE to a directory (HOME and XDG_CACHE_HOME are unset too)"
    )]
    NoHome,
    /// The file system said no: full disk, read-only, no permission.
    #[error("cannot {action} {}", path.display())]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On which file.
        path: PathBuf,
        /// What the system answered.
        #[source]
        source: io::Error,
    },
}

/// The directory that holds all entries.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// `KUBEWRIGHT_CACHE`, else `$XDG_CACHE_HOME/kubewright`, else `~/.cache/kubewright`.
    pub fn from_environment() -> Result<Self, CacheError> {
        let variable =
            |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let root = variable("KUBEWRIGHT_CACHE")
            .or_else(|| variable("XDG_CACHE_HOME").map(|home| home.join("kubewright")))
            .or_else(|| variable("HOME").map(|home| home.join(".cache/kubewright")))
            .ok_or(CacheError::NoHome)?;
        Ok(Self { root: std::path::absolute(&root).unwrap_or(root) }) // programs run elsewhere
    }

    /// A cache in a directory of the caller's choice.
    pub fn at(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The directory that holds all entries.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The entry `key` (a relative path such as `kubernetes/v1.36.3/linux-amd64/kubelet`).
    pub fn entry(&self, key: &str) -> Entry {
        Entry { path: self.root.join(key) }
    }
}

/// One file of the cache, present or not.
#[derive(Clone, Debug)]
pub struct Entry {
    path: PathBuf,
}

impl Entry {
    /// Where the entry is, once it is there.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// True if the file is what was installed. Cheap: the hash is taken only when size or time differ.
    pub fn is_intact(&self) -> bool {
        let (Ok(stamp), Ok(metadata)) =
            (fs::read_to_string(self.stamp()), fs::metadata(&self.path))
        else {
            return false;
        };
        let mut words = stamp.split_whitespace();
        let (hash, size, modified) = (words.next(), words.next(), words.next());
        let same_size = size == Some(metadata.len().to_string().as_str());
        let same_time = modified == Some(modified_at(&metadata).as_str());
        same_size && (same_time || sha256(&self.path).is_ok_and(|now| Some(now.as_str()) == hash))
    }

    /// Like [`Self::is_intact`], but always reads the whole file: for when a program out of the
    /// cache behaved as a damaged one does.
    pub fn is_intact_to_the_byte(&self) -> bool {
        let stamp = fs::read_to_string(self.stamp()).unwrap_or_default();
        sha256(&self.path).is_ok_and(|hash| stamp.starts_with(&hash))
    }

    /// Forgets the entry, so that the next use makes it anew.
    pub fn remove(&self) -> Result<(), CacheError> {
        for path in [self.stamp(), self.path.clone()] {
            match fs::remove_file(&path) {
                Err(source) if source.kind() != io::ErrorKind::NotFound => {
                    return Err(CacheError::Io { action: "remove", path, source });
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// The entry's path, made by `make` first if it is missing or damaged. `make` writes to the path
    /// that it is given, a file beside the entry.
    ///
    /// The outer error is the cache's, the inner one the maker's own.
    pub fn ensure<E>(
        &self,
        progress: Progress,
        make: impl FnOnce(&Path) -> Result<(), E>,
    ) -> Result<Result<PathBuf, E>, CacheError> {
        if self.is_intact() {
            return Ok(Ok(self.path.clone()));
        }
        let _lock = self.lock(progress)?;
        if self.is_intact() {
            return Ok(Ok(self.path.clone())); // made by whoever held the lock
        }
        let partial = self.beside("partial");
        let _ = fs::remove_file(&partial); // of a run that was killed; we hold the lock
        if let Err(error) = make(&partial) {
            let _ = fs::remove_file(&partial);
            return Ok(Err(error));
        }
        self.install(&partial).inspect_err(|_| drop(fs::remove_file(&partial)))?;
        Ok(Ok(self.path.clone()))
    }

    fn install(&self, partial: &Path) -> Result<(), CacheError> {
        let failed = |action, path: &Path| {
            let path = path.to_owned();
            move |source| CacheError::Io { action, path, source }
        };
        let mode = fs::metadata(partial).map_err(failed("read", partial))?.permissions().mode();
        fs::set_permissions(partial, fs::Permissions::from_mode(mode | 0o444))
            .and_then(|()| File::open(partial)?.sync_all())
            .map_err(failed("write", partial))?;
        let hash = sha256(partial).map_err(failed("read", partial))?;
        let metadata = fs::metadata(partial).map_err(failed("read", partial))?;
        // The stamp first: a stamp without its file is a missing entry, a file without its stamp too.
        let stamp = self.stamp();
        let line = format!("{hash} {} {}\n", metadata.len(), modified_at(&metadata));
        let mut file = File::create(&stamp).map_err(failed("write", &stamp))?;
        file.write_all(line.as_bytes()).map_err(failed("write", &stamp))?;
        fs::rename(partial, &self.path).map_err(failed("write", &self.path))
    }

    fn lock(&self, progress: Progress) -> Result<File, CacheError> {
        let path = self.beside("lock");
        let failed = |source| CacheError::Io { action: "lock", path: path.clone(), source };
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(failed)?;
        }
        let file = File::create(&path).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::Error(source)) => return Err(failed(source)),
            Err(TryLockError::WouldBlock) => {
                let name = self.path.file_name().unwrap_or_default().to_string_lossy();
                progress
                    .step(&format!("waiting for another run that is making {name}"), || file.lock())
                    .map_err(failed)?;
            }
        }
        Ok(file)
    }

    fn stamp(&self) -> PathBuf {
        self.beside("stamp")
    }

    fn beside(&self, suffix: &str) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        self.path.with_file_name(format!(".{name}.{suffix}"))
    }
}

fn modified_at(metadata: &fs::Metadata) -> String {
    format!("{}.{:09}", metadata.mtime(), metadata.mtime_nsec())
}

/// The SHA-256 of a file, in hexadecimal digits.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(hex(&hasher.finalize())),
            length => hasher.update(&buffer[..length]),
        }
    }
}

/// Bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    fn entry() -> (tempfile::TempDir, Entry) {
        let directory = tempfile::tempdir().unwrap();
        let entry = Cache::at(directory.path()).entry("thing/v1/binary");
        (directory, entry)
    }

    fn ensure(entry: &Entry, content: &str) -> PathBuf {
        entry.ensure(Progress::Silent, |path| fs::write(path, content)).unwrap().unwrap()
    }

    #[test]
    fn an_entry_is_made_once() {
        let (_directory, entry) = entry();
        ensure(&entry, "first");
        assert_eq!(fs::read_to_string(ensure(&entry, "second")).unwrap(), "first");
    }

    #[test]
    fn a_failed_maker_leaves_nothing_behind() {
        let (_directory, entry) = entry();
        let result = entry.ensure(Progress::Silent, |path| {
            fs::write(path, "half").unwrap();
            Err::<(), _>("no")
        });
        assert_eq!(result.unwrap(), Err("no"));
        assert!(!entry.path().exists());
        assert!(!entry.beside("partial").exists());
    }

    #[test]
    fn a_truncated_entry_is_made_again() {
        let (_directory, entry) = entry();
        let path = ensure(&entry, "whole");
        fs::write(&path, "who").unwrap();
        assert_eq!(fs::read_to_string(ensure(&entry, "whole")).unwrap(), "whole");
    }

    #[test]
    fn an_entry_overwritten_with_as_many_bytes_is_made_again() {
        let (_directory, entry) = entry();
        let path = ensure(&entry, "whole");
        std::thread::sleep(Duration::from_millis(20)); // another modification time
        fs::write(&path, "wrong").unwrap();
        assert!(!entry.is_intact());
        assert!(!entry.is_intact_to_the_byte());
        assert_eq!(fs::read_to_string(ensure(&entry, "whole")).unwrap(), "whole");
    }

    #[test]
    fn a_copied_cache_with_new_file_times_is_still_good() {
        let (_directory, entry) = entry();
        let path = ensure(&entry, "whole");
        std::thread::sleep(Duration::from_millis(20));
        fs::write(&path, "whole").unwrap();
        assert!(entry.is_intact());
    }

    #[test]
    fn the_leftover_of_a_killed_run_is_replaced() {
        let (_directory, entry) = entry();
        fs::create_dir_all(entry.path().parent().unwrap()).unwrap();
        fs::write(entry.beside("partial"), "half").unwrap();
        assert_eq!(fs::read_to_string(ensure(&entry, "whole")).unwrap(), "whole");
    }

    #[test]
    fn two_runs_at_once_make_it_once() {
        let (_directory, entry) = entry();
        let made = AtomicUsize::new(0);
        let make = |path: &Path| {
            made.fetch_add(1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_millis(100));
            fs::write(path, "whole")
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| entry.ensure(Progress::Silent, make).unwrap().unwrap());
            }
        });
        assert_eq!(made.load(Ordering::SeqCst), 1);
    }
}
