//! What `kubewright new` and `kubewright add api` take and write, beside their bars.
//!
//!     cargo run -p kubewright-bench --bin scaffold
//!
//! With the program as cargo builds it for development, so that a release is faster, not slower.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;

use anyhow::{Context as _, ensure};
use kubewright_bench::bars::Bars;
use kubewright_bench::durations::Durations;
use kubewright_bench::{conclude, exit, progress};

const TIMES: usize = 20;
const NEW: &str = "new memcached-operator --domain example.com";
const ADD: &str = "add api --group cache --version v1alpha1 --kind Memcached --image memcached:1.6.45 \
                   --image-container-port 11211 \
                   --image-container-command memcached,--memory-limit=64,-o,modern,-v";

fn main() -> ExitCode {
    exit(run())
}

fn run() -> anyhow::Result<()> {
    let program = build()?;
    let (mut new, mut add) = (Durations::default(), Durations::default());
    let mut lines = 0;
    for round in 1..=TIMES {
        progress(&format!("round {round} of {TIMES}"));
        let folder = tempfile::tempdir()?;
        type_in(&program, folder.path(), NEW, &mut new)?;
        let project = folder.path().join("memcached-operator");
        type_in(&program, &project, ADD, &mut add)?;
        lines = counted(&project, &project)?;
    }
    let mut bars = Bars::default();
    bars.at_most("`new`: median", new.within(50), 200.0, "ms");
    bars.at_most("`new`: longest", new.within(100), 200.0, "ms");
    bars.at_most("`add api --image`: median", add.within(50), 200.0, "ms");
    bars.at_most("`add api --image`: longest", add.within(100), 200.0, "ms");
    bars.no_more_than("lines, without tests, samples and Makefile", lines, 200);
    conclude(&bars, Ok(()))
}

fn build() -> anyhow::Result<PathBuf> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let built = Command::new(cargo).args(["build", "--package", "kubewright-cli"]).status();
    ensure!(built.context("cannot start cargo")?.success(), "kubewright does not build");
    let own = std::env::current_exe()?;
    Ok(own.with_file_name("kubewright"))
}

/// Types a line and takes the time.
fn type_in(
    program: &Path,
    folder: &Path,
    words: &str,
    times: &mut Durations,
) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command.args(words.split_whitespace()).current_dir(folder);
    let begun = Instant::now();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status()?;
    times.add(begun.elapsed());
    ensure!(status.success(), "`kubewright {words}` failed");
    Ok(())
}

/// The lines of all files below `folder` that somebody has to look after.
fn counted(root: &Path, folder: &Path) -> anyhow::Result<usize> {
    let aside = ["tests", "deploy", "Makefile"].map(|name| root.join(name));
    let mut lines = 0;
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if aside.contains(&path) {
            continue;
        }
        lines += if path.is_dir() {
            counted(root, &path)?
        } else {
            std::fs::read_to_string(&path)?.lines().count()
        };
    }
    Ok(lines)
}
