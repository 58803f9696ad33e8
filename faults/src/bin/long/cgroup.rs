//! A group of processes with limits, as a container has them; version 1 and version 2. Needs root.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

const ROOT: &str = "/sys/fs/cgroup";
/// The period of the scheduler, in microseconds.
const PERIOD: u32 = 100_000;

/// Goes when it is dropped, which its processes must have done before.
pub(crate) struct Cgroup {
    /// One directory, or one for each kind of limit.
    directories: Vec<PathBuf>,
    unified: bool,
}

impl Cgroup {
    pub(crate) fn new(name: &str) -> anyhow::Result<Self> {
        let root = Path::new(ROOT);
        let unified = root.join("cgroup.controllers").exists();
        let parents = if unified {
            vec![root.to_owned()]
        } else {
            ["memory", "cpu"].map(|it| root.join(it)).to_vec()
        };
        let name = format!("{name}-{}", std::process::id());
        let directories: Vec<_> = parents.iter().map(|parent| parent.join(&name)).collect();
        for directory in &directories {
            std::fs::create_dir(directory).with_context(|| {
                format!("cannot make {}, which needs root", directory.display())
            })?;
        }
        Ok(Self { directories, unified })
    }

    /// The most memory, in MiB.
    pub(crate) fn limit_memory(&self, mebibytes: u64) -> anyhow::Result<()> {
        let file = if self.unified { "memory.max" } else { "memory.limit_in_bytes" };
        self.set(file, &(mebibytes << 20).to_string())
    }

    /// The most processor, in thousandths.
    pub(crate) fn limit_processor(&self, thousandths: u32) -> anyhow::Result<()> {
        let quota = PERIOD / 1000 * thousandths;
        if self.unified {
            return self.set("cpu.max", &format!("{quota} {PERIOD}"));
        }
        self.set("cpu.cfs_period_us", &PERIOD.to_string())?;
        self.set("cpu.cfs_quota_us", &quota.to_string())
    }

    /// Writes where there is such a file.
    fn set(&self, file: &str, value: &str) -> anyhow::Result<()> {
        let files = self.directories.iter().map(|directory| directory.join(file));
        let file = files.into_iter().find(|file| file.exists());
        let file = file.context("this machine has no such limit")?;
        std::fs::write(&file, value).with_context(|| format!("cannot write {}", file.display()))
    }

    /// A command that joins it and then runs what is behind.
    pub(crate) fn command(&self) -> Vec<String> {
        let joins = self
            .directories
            .iter()
            .map(|directory| format!("echo $$ > {} && ", directory.join("cgroup.procs").display()));
        let script = joins.collect::<String>() + "exec \"$@\"";
        ["sh", "-c", &script, "sh"].map(str::to_owned).to_vec()
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        for directory in &self.directories {
            // Its processes were told to end just now.
            for _ in 0..40 {
                if std::fs::remove_dir(directory).is_ok() {
                    break;
                }
                std::thread::sleep(std::time::Duration::from_millis(50));
            }
        }
    }
}
