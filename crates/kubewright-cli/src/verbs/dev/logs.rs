//! `kubewright dev logs`: what a component said. Reads files only, so it also works while the
//! environment starts and after it died.

mod tail;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;
use clap::Args;
use kubewright_testenv::progress::Progress;

use super::observed::Observed;
use super::place::Place;
use crate::style::Paint;
use crate::{output, table};

/// How often a followed log is looked at: quick to the eye, and nothing to the machine.
const POLL: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub(in crate::verbs) struct Logs {
    /// Whose log, such as `kube-apiserver` or `node-1/kubelet`; without it all are listed
    component: Option<String>,
    /// Go on with what is logged from now on, until Ctrl-C
    #[arg(short, long, requires = "component")]
    follow: bool,
    /// How many of the last lines to show
    #[arg(short = 'n', long, default_value_t = 50)]
    lines: usize,
}

/// The name of a component, and its log.
type Found = BTreeMap<String, (PathBuf, u64)>;

impl Logs {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let place = Place::from_environment()?;
        let directory = place.directory().join("logs");
        let mut found = Found::new();
        collect(&directory, "", &mut found)
            .with_context(|| format!("cannot list {}", directory.display()))?;
        if found.is_empty() {
            Observed::at(&place)?.present()?;
            anyhow::bail!("nothing has been logged in {}", directory.display());
        }
        match &self.component {
            None => output::write(listing(&found, Paint::stdout())),
            Some(component) => self.show(chosen(&found, component)?),
        }
    }

    fn show(&self, path: &Path) -> anyhow::Result<()> {
        let cannot = || format!("cannot read {}", path.display());
        let mut log = File::open(path).with_context(cannot)?;
        let start = tail::start(&mut log, self.lines).with_context(cannot)?;
        log.seek(SeekFrom::Start(start)).with_context(cannot)?;
        copy(&mut log).with_context(cannot)?;
        if self.follow {
            follow(path, log).with_context(cannot)?;
        }
        Ok(())
    }
}

/// Copies what is added, until the log is gone.
fn follow(path: &Path, mut log: File) -> anyhow::Result<()> {
    loop {
        std::thread::sleep(POLL);
        copy(&mut log)?;
        let now = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Progress::Shown.note("the log is gone: the environment was ended");
                return Ok(());
            }
            now => now?,
        };
        if now.ino() != log.metadata()?.ino() {
            log = File::open(path)?; // of a new environment
        }
    }
}

/// Writes everything from here to the end, as it is: a log need not be text.
fn copy(log: &mut File) -> anyhow::Result<()> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        match log.read(&mut buffer)? {
            0 => return Ok(()),
            length => output::write(&buffer[..length])?,
        }
    }
}

/// Adds the logs in `directory`, whose components' names start with `prefix`.
fn collect(directory: &Path, prefix: &str, found: &mut Found) -> io::Result<()> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    for entry in entries {
        let entry = entry?;
        let (path, metadata) = (entry.path(), entry.metadata()?);
        let name = entry.file_name().to_string_lossy().into_owned();
        if metadata.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), found)?;
        } else if let Some(component) = name.strip_suffix(".log") {
            found.insert(format!("{prefix}{component}"), (path, metadata.len()));
        }
    }
    Ok(())
}

fn listing(found: &Found, paint: Paint) -> String {
    let mut rows = vec![["COMPONENT", "LOG"].map(str::to_owned)];
    rows.extend(found.iter().map(|(name, (_, size))| {
        let size = format!("{} kB", size.div_ceil(1024));
        [name.clone(), size]
    }));
    table::headed(&rows, paint)
}

fn chosen<'a>(found: &'a Found, component: &str) -> anyhow::Result<&'a Path> {
    let (path, _) = found.get(component).with_context(|| {
        let names: Vec<_> = found.keys().map(String::as_str).collect();
        format!("there is no component {component}: choose one of {}", names.join(", "))
    })?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found() -> (tempfile::TempDir, Found) {
        let directory = tempfile::tempdir().unwrap();
        fs::create_dir(directory.path().join("node-1")).unwrap();
        for (name, size) in [("etcd.log", 2_000), ("node-1/kubelet.log", 0), ("notes", 9)] {
            fs::write(directory.path().join(name), "x".repeat(size)).unwrap();
        }
        let mut found = Found::new();
        collect(directory.path(), "", &mut found).unwrap();
        (directory, found)
    }

    #[test]
    fn logs_are_listed_with_their_sizes_by_the_names_of_components() {
        let (_directory, found) = found();
        assert_eq!(
            listing(&found, Paint::PLAIN),
            "COMPONENT       LOG\netcd            2 kB\nnode-1/kubelet  0 kB\n"
        );
    }

    #[test]
    fn a_wrong_name_is_answered_with_the_right_ones() {
        let (directory, found) = found();
        let path = chosen(&found, "node-1/kubelet").unwrap();
        assert_eq!(path, directory.path().join("node-1/kubelet.log"));
        let error = chosen(&found, "../etcd").unwrap_err().to_string();
        assert_eq!(error, "there is no component ../etcd: choose one of etcd, node-1/kubelet");
    }

    #[test]
    fn an_environment_without_logs_has_none() {
        let mut found = Found::new();
        collect("/nonexistent".as_ref(), "", &mut found).unwrap();
        assert!(found.is_empty());
    }
}
