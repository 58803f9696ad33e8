//! One process of the environment as the kernel sees it: whether it is still ours, what it does, how
//! much memory it takes. Reads /proc, changes nothing.

use std::fmt;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use kubewright_testenv::MARKER;

/// What a component does at the moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs.
    Running,
    /// It was halted with SIGSTOP and answers nobody.
    Paused,
    /// It ended, or another process has its id by now.
    Gone,
}

impl fmt::Display for State {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Running => "running",
            Self::Paused => "paused",
            Self::Gone => "gone",
        })
    }
}

/// A recorded process and how it is now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Component {
    pub(super) name: String,
    pub(super) pid: Option<u32>,
    pub(super) state: State,
    /// Resident memory in kilobytes, while it lives.
    pub(super) memory: Option<u64>,
}

impl Component {
    /// How the process recorded as `name` with `pid` is, of the environment in `directory`.
    pub(super) fn look(name: &str, pid: Option<u32>, directory: &Path) -> Self {
        let read = |file: &str| {
            let path = pid.map(|pid| format!("/proc/{pid}/{file}"));
            path.and_then(|path| fs::read(path).ok()).unwrap_or_default()
        };
        let ours = is_marked(&read("environ"), directory);
        let state = if ours { state(&String::from_utf8_lossy(&read("stat"))) } else { State::Gone };
        let memory = resident(&String::from_utf8_lossy(&read("status")));
        Self { name: name.to_owned(), pid, state, memory: memory.filter(|_| state != State::Gone) }
    }
}

/// A process id alone proves nothing: after a restart of the machine it is somebody else's.
fn is_marked(environment: &[u8], directory: &Path) -> bool {
    let wanted = [MARKER.as_bytes(), b"=", directory.as_os_str().as_bytes()].concat();
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
}

/// Out of `/proc/PID/stat`: "PID (NAME) STATE …", where NAME may hold anything.
fn state(stat: &str) -> State {
    let after_name = stat.rsplit_once(") ").map(|(_, rest)| rest);
    match after_name.and_then(|rest| rest.chars().next()) {
        Some('T' | 't') => State::Paused,
        Some('Z' | 'X') | None => State::Gone,
        Some(_) => State::Running,
    }
}

/// Out of `/proc/PID/status`, in kilobytes.
fn resident(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line?.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn the_state_is_read_behind_the_name_whatever_that_is() {
        assert_eq!(state("7 (etcd) S 1 7"), State::Running);
        assert_eq!(state("7 (a) T (b) T 1 7"), State::Paused);
        assert_eq!(state("7 (etcd) Z 1 7"), State::Gone);
        assert_eq!(state(""), State::Gone);
    }

    #[test]
    fn memory_is_the_resident_one() {
        let status = "Name:\tetcd\nVmPeak:\t 900 kB\nVmRSS:\t   123456 kB\n";
        assert_eq!(resident(status), Some(123_456));
        assert_eq!(resident("Name:\tkthreadd\n"), None);
    }

    #[test]
    fn only_a_process_that_carries_our_mark_is_ours() {
        let directory = Path::new("/state/dev");
        let mut child = Command::new("sleep")
            .arg("100")
            .env("KUBEWRIGHT_ENVIRONMENT", directory)
            .spawn()
            .unwrap();
        let look = |directory| Component::look("sleeper", Some(child.id()), directory);
        // A process that is just becoming its program has no variables for a moment.
        let mut tries = (0..500).map(|_| {
            std::thread::sleep(std::time::Duration::from_millis(10));
            look(directory)
        });
        let ours = tries.find(|one| one.state == State::Running).unwrap();
        let other = look(Path::new("/state"));
        child.kill().unwrap();
        child.wait().unwrap();
        let ended = Component::look("sleeper", Some(child.id()), directory);
        assert!(ours.memory.is_some());
        assert_eq!((other.state, other.memory), (State::Gone, None));
        assert_eq!(ended.state, State::Gone);
    }
}
