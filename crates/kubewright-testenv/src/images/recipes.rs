//! What is in each image that is made from Debian packages, wholly or in part: its files, how it is started and as whom.
//!
//! Raise `RECIPE` in the parent module with every change here, or old images stay in use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::debian::{Debian, DebianError, Root};
use super::{ImageError, ImageSpec, Source};

/// As in the official images.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What tests, `kubectl exec` and `kubectl cp` use inside a container.
#[rustfmt::skip]
const APPLETS: [&str; 34] = [
    "[", "awk", "cat", "cut", "date", "echo", "env", "false", "grep", "head", "hostname", "id",
    "ip", "kill", "ls", "nc", "netstat", "nslookup", "od", "ping", "printf", "ps", "sed", "seq",
    "sh", "sleep", "tail", "tar", "test", "timeout", "tr", "true", "wc", "wget",
];

/// memcached of exactly this version, its libraries, and a shell.
pub(super) fn memcached(name: &str, version: &str, out: &Path) -> Result<(), ImageError> {
    let failed = |source| ImageError::Debian { image: name.to_owned(), source };
    let debian = Debian::of_this_machine().map_err(failed)?;
    let root = debian.package("memcached", version, &["busybox-static"]).map_err(failed)?;
    let program = root.program("memcached").map_err(failed)?;
    let libraries = root.libraries(&program).map_err(failed)?;
    let said = root.output(&program, &["-V"]).map_err(failed)?;
    if said.split_whitespace().nth(1) != Some(version) {
        return Err(ImageError::OtherVersion { image: name.to_owned(), said });
    }

    let mut files = base_files(&[("memcache", 11211)]);
    files.extend(libraries.into_iter().map(|(place, file)| (place, Source::HostFile(file))));
    files.insert("/usr/local/bin/memcached".into(), Source::HostFile(program));
    files.extend(busybox(&root).map_err(failed)?);
    let spec = ImageSpec {
        name: name.to_owned(),
        entrypoint: vec!["memcached".to_owned()],
        env: BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]),
        // By name, as in the official image: a pod that asks for `runAsNonRoot` without a number is
        // refused with both, and a test must not pass where the real thing fails.
        user: Some("memcache".to_owned()),
        labels: BTreeMap::new(),
        files,
    };
    spec.write(out).map_err(|source| ImageError::Archive { image: name.to_owned(), source })
}

/// A first process that reaps what is orphaned in the pod and otherwise sleeps.
pub(super) fn pause(name: &str, out: &Path) -> Result<(), ImageError> {
    let failed = |source| ImageError::Debian { image: name.to_owned(), source };
    let debian = Debian::of_this_machine().map_err(failed)?;
    let root = debian.with_program(&["tini", "busybox-static"], "tini-static").map_err(failed)?;
    let mut files = base_files(&[]);
    files.insert("/tini".into(), Source::HostFile(root.program("tini-static").map_err(failed)?));
    files.extend(busybox(&root).map_err(failed)?);
    // 68 years: the longest that fits where seconds are a signed 32-bit number.
    let entrypoint = ["/tini", "--", "/bin/busybox", "sleep", "2147483647"];
    let spec = ImageSpec {
        name: name.to_owned(),
        entrypoint: entrypoint.map(str::to_owned).into(),
        env: BTreeMap::new(),
        user: Some("65535:65535".to_owned()), // as in the official image
        labels: BTreeMap::new(),
        files,
    };
    spec.write(out).map_err(|source| ImageError::Archive { image: name.to_owned(), source })
}

/// Static programs in `/bin`, the first of them the one that is started, and with `tools` a shell's.
pub(super) fn programs(
    name: &str,
    programs: &[PathBuf],
    tools: bool,
    out: &Path,
) -> Result<(), ImageError> {
    let mut files = base_files(&[]);
    if tools {
        let failed = |source| ImageError::Debian { image: name.to_owned(), source };
        let debian = Debian::of_this_machine().map_err(failed)?;
        let root = debian.with_program(&["busybox-static"], "busybox").map_err(failed)?;
        files.extend(busybox(&root).map_err(failed)?);
        files.insert("/bin/cp".into(), Source::Symlink("busybox".into()));
        return write_programs(name, programs, files, out); // while what was unpacked is there
    }
    write_programs(name, programs, files, out)
}

fn write_programs(
    name: &str,
    programs: &[PathBuf],
    mut files: BTreeMap<PathBuf, Source>,
    out: &Path,
) -> Result<(), ImageError> {
    let place = |program: &PathBuf| Path::new("/bin").join(program.file_name().unwrap_or_default());
    let entrypoint = programs.first().map(|program| place(program).display().to_string());
    files.extend(programs.iter().map(|one| (place(one), Source::HostFile(one.clone()))));
    let spec = ImageSpec {
        name: name.to_owned(),
        entrypoint: entrypoint.into_iter().collect(),
        env: BTreeMap::from([("PATH".to_owned(), PATH.to_owned())]),
        user: Some("1001".to_owned()), // as in the official images
        labels: BTreeMap::new(),
        files,
    };
    spec.write(out).map_err(|source| ImageError::Archive { image: name.to_owned(), source })
}

fn busybox(root: &Root) -> Result<BTreeMap<PathBuf, Source>, DebianError> {
    let mut files: BTreeMap<_, _> = APPLETS
        .iter()
        .map(|applet| (Path::new("/bin").join(applet), Source::Symlink("busybox".into())))
        .collect();
    files.insert("/bin/busybox".into(), Source::HostFile(root.program("busybox")?));
    Ok(files)
}

/// What programs expect of any Linux: a place for temporary files, and names for root and `users`.
pub(super) fn base_files(users: &[(&str, u32)]) -> BTreeMap<PathBuf, Source> {
    let all = [&[("root", 0)], users].concat();
    let passwd = all.iter().map(|(name, id)| format!("{name}:x:{id}:{id}::/:/bin/sh\n"));
    let group = all.iter().map(|(name, id)| format!("{name}:x:{id}:\n"));
    let file = |lines: Vec<String>| Source::Inline { content: lines.concat().into(), mode: 0o644 };
    BTreeMap::from([
        ("/tmp".into(), Source::Directory { mode: 0o1777 }),
        ("/etc/passwd".into(), file(passwd.collect())),
        ("/etc/group".into(), file(group.collect())),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_in_both_of_the_files_that_name_it() {
        let files = base_files(&[("memcache", 11211)]);
        let content = |path: &str| match &files[Path::new(path)] {
            Source::Inline { content, .. } => String::from_utf8(content.clone()).unwrap(),
            other => panic!("{other:?}"),
        };
        assert!(content("/etc/passwd").contains("\nmemcache:x:11211:11211:"));
        assert!(content("/etc/group").contains("\nmemcache:x:11211:\n"));
    }
}
