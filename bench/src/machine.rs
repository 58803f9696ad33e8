//! What an environment could leave behind on a machine, as a set of lines that can be compared.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// Programs that environments start. Others come and go on a machine without being ours.
const PROGRAMS: [&str; 14] = [
    "etcd",
    "kube-apiserver",
    "kube-controller",
    "kube-scheduler",
    "kubelet",
    "kube-proxy",
    "containerd",
    "containerd-shim",
    "tini",
    "coredns",
    "memcached",
    "nsenter",
    "unshare",
    "go",
];
/// Where programs of a node would leave files if its own directories did not hide the machine's.
const DIRECTORIES: [&str; 8] =
    ["/tmp", "/run", "/var/lib", "/var/log", "/opt", "/etc", "/etc/cni", "/usr/libexec"];
/// Kernel settings that change by themselves.
const LIVELY: [&str; 11] = [
    "fs.quota.",
    "fs.dentry-state",
    "fs.file-nr",
    "fs.inode-",
    "fs.aio-nr",
    "fs.epoll",
    "kernel.random.",
    "kernel.ns_last_pid",
    "kernel.pty.nr",
    "net.netfilter.nf_conntrack_count",
    "kernel.perf_event_max_sample_rate",
];

/// The state of the machine.
pub(crate) struct Machine(BTreeSet<String>);

impl Machine {
    pub(crate) fn look() -> anyhow::Result<Self> {
        let mut lines = BTreeSet::new();
        lines.extend(processes()?);
        lines.extend(listening()?);
        for directory in DIRECTORIES.map(Path::new).into_iter().filter(|path| path.is_dir()) {
            let names = fs::read_dir(directory)?.filter_map(Result::ok);
            let names =
                names.filter(|entry| directory != Path::new("/tmp") || is_ours(&entry.path()));
            lines.extend(names.map(|entry| format!("file {}", entry.path().display())));
        }
        lines.extend(
            fs::read_to_string("/proc/self/mounts")?.lines().map(|line| format!("mount {line}")),
        );
        lines.extend(
            output("link", &["ip", "-brief", "link"]).into_iter().map(|line| first_words(&line, 2)),
        );
        lines.extend(output("route", &["ip", "route", "show", "table", "all"]));
        lines.extend(output("rule", &["ip", "rule"]));
        lines.extend(output("nft", &["nft", "list", "ruleset"]));
        lines.extend(output(
            "cgroup",
            &["find", "/sys/fs/cgroup", "-type", "d", "-name", "*kubewright*"],
        ));
        let settings = output("sysctl", &["sysctl", "-a"]);
        lines.extend(
            settings.into_iter().filter(|line| !LIVELY.iter().any(|name| line.contains(name))),
        );
        Ok(Self(lines))
    }

    /// What is there now and was not before, once that has become nothing or `limit` is over.
    pub(crate) fn left_behind(&self, limit: Duration) -> anyhow::Result<Vec<String>> {
        let started = Instant::now();
        loop {
            let now = Self::look()?;
            let left: Vec<_> = now.0.difference(&self.0).cloned().collect();
            if left.is_empty() || started.elapsed() > limit {
                return Ok(left);
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn is_ours(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().contains("kubewright"))
}

/// Our programs and the namespaces that any process is in.
fn processes() -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for entry in fs::read_dir("/proc")?.filter_map(Result::ok) {
        let path = entry.path();
        let Ok(name) = fs::read_to_string(path.join("comm")) else { continue };
        let name = name.trim();
        if PROGRAMS.iter().any(|program| name.starts_with(program)) {
            lines.push(format!("process {name} {}", path.display()));
        }
        for kind in ["net", "mnt", "pid", "uts", "ipc"] {
            let namespace = fs::read_link(path.join("ns").join(kind));
            lines.extend(namespace.map(|namespace| format!("namespace {}", namespace.display())));
        }
    }
    Ok(lines)
}

/// Addresses on which somebody listens, as the kernel writes them.
fn listening() -> anyhow::Result<Vec<String>> {
    let mut lines = Vec::new();
    for file in ["/proc/net/tcp", "/proc/net/tcp6"] {
        for line in fs::read_to_string(file)?.lines() {
            let words: Vec<_> = line.split_whitespace().collect();
            if words.get(3) == Some(&"0A") {
                lines.push(format!("listening {}", words[1]));
            }
        }
    }
    Ok(lines)
}

/// The lines of a command that may not be installed.
fn output(kind: &str, line: &[&str]) -> Vec<String> {
    let output = Command::new(line[0]).args(&line[1..]).output();
    let text = output
        .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        .unwrap_or_default();
    text.lines().map(|line| format!("{kind} {line}")).collect()
}

fn first_words(line: &str, count: usize) -> String {
    line.split_whitespace().take(count).collect::<Vec<_>>().join(" ")
}
