//! The keeper: a small process beside the environment that outlives its owner by the seconds it takes
//! to end everything. All teardown goes through it, the orderly one too, so there is one way and it
//! is always in use.
//!
//! It is a shell script because nothing else survives `kill -9` of a test binary and needs no
//! program of its own to be built and found first.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::workspace::{MARKER, Workspace};

const SCRIPT: &str = include_str!("keeper.sh");

/// Ends the environment in `directory` once its owner is gone.
#[derive(Debug)]
pub(crate) struct Keeper {
    process: Child,
    /// Held by this process alone; its end is the keeper's signal.
    owner: Option<ChildStdin>,
}

impl Keeper {
    /// Starts to keep `directory`. `lock` stays locked until the keeper has ended.
    pub(crate) fn start(directory: &Path, lock: File) -> io::Result<Self> {
        let mut process = script(directory).stdin(Stdio::piped()).stdout(lock).spawn()?;
        let owner = process.stdin.take();
        Ok(Self { process, owner })
    }

    /// Lets the environment live on without an owner.
    pub(crate) fn release(mut self) -> io::Result<()> {
        if let Some(mut owner) = self.owner.take() {
            owner.write_all(b"release\n")?;
        }
        self.process.wait().map(drop)
    }

    /// Ends the environment and returns when nothing of it is left.
    pub(crate) fn tear_down(&mut self) -> io::Result<()> {
        drop(self.owner.take());
        self.process.wait().map(drop)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        let _ = self.tear_down();
    }
}

/// Ends an environment that has no owner (any more), after a keeper that may still be at it. Works
/// without the directory too, if only processes are left; a directory that is not an environment's
/// is an error.
pub(crate) fn tear_down(directory: &Path) -> io::Result<()> {
    if !directory.exists() && !has_processes(directory) {
        return Ok(());
    }
    let lock = match File::open(directory.join("lock")) {
        Ok(lock) => Stdio::from(locked(lock)?),
        Err(_) if has_processes(directory) => Stdio::null(),
        // Not ours, unless a start was killed before its first step.
        Err(_) => return fs::remove_dir(directory),
    };
    let status = script(directory).stdin(Stdio::null()).stdout(lock).status()?;
    if status.success() {
        Ok(())
    } else {
        Err(io::Error::other(format!("the keeper ended with {status}")))
    }
}

fn locked(lock: File) -> io::Result<File> {
    lock.lock()?;
    Ok(lock)
}

/// True if a process belongs to the environment in `directory`, whether that is still there or not.
pub(crate) fn has_processes(directory: &Path) -> bool {
    let mark = [MARKER.as_bytes(), b"=", directory.as_os_str().as_bytes()].concat();
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut variables =
        processes.filter_map(|process| fs::read(process.path().join("environ")).ok());
    variables.any(|variables| variables.split(|byte| *byte == 0).any(|variable| variable == mark))
}

/// A process group of its own, so that Ctrl-C on the terminal does not reach it.
fn script(directory: &Path) -> Command {
    use std::os::unix::process::CommandExt as _;
    let mut command = Command::new("sh");
    command.args(["-c", SCRIPT, "kubewright-keeper"]).arg(directory);
    command.arg(Workspace::new(directory.to_owned()).short_name());
    command.stderr(Stdio::null()).process_group(0);
    command
}

/// How the directories of environments with an owner are called.
const PREFIX: &str = "kubewright-env-";

/// Makes a directory for a new environment under `base` and locks it, after ending those of this user
/// whose owner and keeper were both killed.
pub(crate) fn claim_directory(base: &Path) -> io::Result<(PathBuf, File)> {
    // Without this lock one process could take another's directory, not locked yet, for an abandoned one.
    let guard = File::open(base)?;
    guard.lock()?;
    for entry in fs::read_dir(base)? {
        let directory = entry?.path();
        if is_abandoned(&directory) {
            tear_down(&directory)?;
        }
    }
    let directory = tempfile::Builder::new().prefix(PREFIX).tempdir_in(base)?.keep();
    let lock = File::create(directory.join("lock"))?;
    lock.lock()?;
    Ok((directory, lock))
}

fn is_abandoned(directory: &Path) -> bool {
    let name = directory.file_name().unwrap_or_default().to_string_lossy();
    let ours = fs::symlink_metadata(directory).is_ok_and(|metadata| {
        metadata.is_dir() && metadata.uid() == rustix::process::geteuid().as_raw()
    });
    ours && name.starts_with(PREFIX)
        && File::open(directory.join("lock"))
            .is_ok_and(|lock| !matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn sleeper(directory: &Path) -> Child {
        Command::new("sleep").arg("1000").env("KUBEWRIGHT_ENVIRONMENT", directory).spawn().unwrap()
    }

    #[test]
    fn the_end_of_the_owner_ends_processes_and_directory() {
        let base = tempfile::tempdir().unwrap();
        let (directory, lock) = claim_directory(base.path()).unwrap();
        let mut keeper = Keeper::start(&directory, lock).unwrap();
        let mut process = sleeper(&directory);
        let mut bystander = sleeper(Path::new("/nonexistent"));
        keeper.tear_down().unwrap();
        assert!(!process.wait().unwrap().success());
        assert!(!directory.exists());
        assert!(bystander.try_wait().unwrap().is_none(), "a process of somebody else was ended");
        bystander.kill().unwrap();
        bystander.wait().unwrap();
    }

    #[test]
    fn processes_are_ended_even_if_the_directory_is_gone_or_cannot_be_written() {
        let base = tempfile::tempdir().unwrap();
        let (directory, lock) = claim_directory(base.path()).unwrap();
        let mut process = sleeper(&directory);
        let mut keeper = Keeper::start(&directory, lock).unwrap();
        fs::remove_dir_all(&directory).unwrap();
        keeper.tear_down().unwrap();
        assert!(!process.wait().unwrap().success());
    }

    #[test]
    fn an_environment_whose_files_were_removed_is_still_known_by_its_processes() {
        let base = tempfile::tempdir().unwrap();
        let directory = base.path().join("dev");
        let mut process = sleeper(&directory);
        while !has_processes(&directory) {
            std::thread::sleep(Duration::from_millis(5)); // until it has become `sleep`
        }
        tear_down(&directory).unwrap();
        assert!(!process.wait().unwrap().success());
        fs::create_dir(&directory).unwrap();
        fs::write(directory.join("work"), "somebody's").unwrap();
        tear_down(&directory).unwrap_err();
        assert!(directory.join("work").exists());
    }

    #[test]
    fn a_released_environment_lives_on() {
        let base = tempfile::tempdir().unwrap();
        let (directory, lock) = claim_directory(base.path()).unwrap();
        let mut process = sleeper(&directory);
        Keeper::start(&directory, lock).unwrap().release().unwrap();
        assert!(process.try_wait().unwrap().is_none());
        tear_down(&directory).unwrap();
        assert!(!process.wait().unwrap().success());
    }

    #[test]
    fn an_environment_whose_owner_and_keeper_were_killed_is_ended_by_the_next_one() {
        let base = tempfile::tempdir().unwrap();
        let (directory, lock) = claim_directory(base.path()).unwrap();
        let mut process = sleeper(&directory);
        let mut keeper = Keeper::start(&directory, lock).unwrap();
        keeper.process.kill().unwrap();
        keeper.process.wait().unwrap();
        claim_directory(base.path()).unwrap();
        let deadline = Instant::now() + Duration::from_secs(5);
        while process.try_wait().unwrap().is_none() {
            assert!(Instant::now() < deadline, "the abandoned process lives on");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!directory.exists());
    }
}
