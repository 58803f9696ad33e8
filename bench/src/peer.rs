//! The tutorials' operator in Go, from the sources in `bench/peers/go`: builds it as one would ship it, once
//! for each state of the sources. Runs nothing but the compiler.

use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use kubewright_testenv::binaries::last_lines;
use kubewright_testenv::cache::Cache;
use kubewright_testenv::progress::Progress;

/// What it may do in a cluster, as its own markers say: a `ClusterRole` called `memcached-peer`.
pub const ROLE: &str = include_str!("../peers/go/config/rbac/role.yaml");

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/go");

/// True if there is a Go to build it with.
pub fn can_build() -> bool {
    Command::new("go").arg("version").stdout(Stdio::null()).status().is_ok()
}

/// Where the program is, built first if it is not in the cache; that takes minutes the first time.
pub fn build(progress: Progress) -> anyhow::Result<PathBuf> {
    let sources = Path::new(SOURCES);
    let state = state(sources).with_context(|| format!("cannot read {SOURCES}"))?;
    let key = format!("bench/go-peer/{state:016x}-{}/manager", std::env::consts::ARCH);
    let step = "building the operator in Go";
    let make = |out: &Path| progress.step(step, || compile(sources, out));
    Cache::from_environment()?.entry(&key).ensure(progress, make)?
}

/// Differs when a file of the sources does, or its name.
fn state(sources: &Path) -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    for file in files(sources)? {
        file.strip_prefix(sources).unwrap_or(&file).hash(&mut hasher);
        fs::read(&file)?.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// All files below a directory, in the order of their names.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries: io::Result<Vec<_>> = fs::read_dir(directory)?.collect();
    let mut paths: Vec<_> = entries?.iter().map(fs::DirEntry::path).collect();
    paths.sort();
    let mut files = Vec::new();
    for path in paths {
        if path.is_dir() {
            files.extend(self::files(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

/// Static and stripped, as `make docker-build` of a Kubebuilder project has it, and without paths of this machine.
fn compile(sources: &Path, out: &Path) -> anyhow::Result<()> {
    let mut command = Command::new("go");
    command.args(["build", "-trimpath", "-mod=readonly", "-ldflags", "-s -w", "-o"]).arg(out);
    command.arg("./cmd").current_dir(sources).stdin(Stdio::null());
    command.env("CGO_ENABLED", "0").env("GOWORK", "off").env("GOFLAGS", "-buildvcs=false");
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => bail!(
            "the operator in Go does not build; if its modules cannot be downloaded, set GOPROXY to a Go module proxy that this machine reaches: {}",
            last_lines(&output.stderr)
        ),
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(
            "Go is not installed, and the operator in Go is built with it: install Go 1.26 or newer and put it in the PATH"
        ),
        Err(error) => Err(error).context("cannot start go"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_text_or_name_is_another_state() {
        let directory = tempfile::tempdir().unwrap();
        let sources = directory.path();
        let mut states = Vec::new();
        fs::create_dir(sources.join("cmd")).unwrap();
        for (name, text) in [("cmd/a.go", "1"), ("cmd/a.go", "2"), ("b.go", "2")] {
            fs::write(sources.join(name), text).unwrap();
            states.push(state(sources).unwrap());
        }
        states.push(state(sources).unwrap());
        assert_eq!(states[2], states[3]);
        states.dedup();
        assert_eq!(states.len(), 3);
    }

    #[test]
    fn sources_that_do_not_compile_are_told_with_what_the_compiler_said() {
        if !can_build() {
            return;
        }
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("go.mod"), "module a\n").unwrap();
        let error = compile(directory.path(), &directory.path().join("out")).unwrap_err();
        assert!(error.to_string().starts_with("the operator in Go does not build"), "{error}");
        assert!(error.to_string().contains("cmd"), "{error}");
    }
}
