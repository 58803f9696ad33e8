//! One long-running process of the environment: start, stop, kill, pause, resume, and the same again
//! on the same data and ports. Knows nothing of what the process does.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::PathBuf;
use std::process::Child;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::error::Error;
use crate::workspace::Workspace;

/// Looks for the keeper's mark between being visible to it and becoming the real program, so that no
/// process can slip through a teardown that has begun.
const LAUNCH: &str = r#"[ ! -e "$KUBEWRIGHT_ENVIRONMENT/stopping" ] || exit 1; exec "$@""#;

/// A process that the kernel does not end within this time waits for a broken disk.
const KILL_LIMIT: Duration = Duration::from_secs(20);

/// How much of a log an error shows.
const LOG_TAIL: u64 = 4_096;

/// A component of the environment, running or not.
#[derive(Debug)]
pub struct Process {
    name: String,
    line: Vec<OsString>,
    workspace: Workspace,
    /// What runs is the one child of what was started (`nsenter` and `unshare` fork).
    forks: bool,
    child: Mutex<Option<Child>>,
}

impl Process {
    pub(crate) fn new(workspace: &Workspace, name: impl Into<String>, line: Vec<OsString>) -> Self {
        let (name, workspace) = (name.into(), workspace.clone());
        Self { name, line, workspace, forks: false, child: Mutex::new(None) }
    }

    /// A process in the namespaces of process `init`.
    pub(crate) fn inside(
        workspace: &Workspace,
        name: String,
        init: u32,
        line: Vec<OsString>,
    ) -> Self {
        let target = init.to_string();
        let enter = ["nsenter", "-t", &target, "-n", "-m", "-p", "-u", "-i", "--"];
        let line = enter.into_iter().map(OsString::from).chain(line).collect();
        Self::forking(workspace, name, line)
    }

    /// A process that is a child of the program that is started.
    pub(crate) fn forking(workspace: &Workspace, name: String, line: Vec<OsString>) -> Self {
        Self { forks: true, ..Self::new(workspace, name, line) }
    }

    /// The component's name, such as `kube-apiserver` or `node-1/kubelet`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its log file; a restart appends to it.
    pub fn log(&self) -> PathBuf {
        self.workspace.log(&self.name)
    }

    /// The process id on the host, while it runs.
    pub fn id(&self) -> Option<u32> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let child = child.as_mut()?;
        let Ok(None) = child.try_wait() else {
            return None;
        };
        if self.forks { child_of(child.id()) } else { Some(child.id()) }
    }

    /// Starts it, if it does not run.
    pub fn start(&self) -> Result<(), Error> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        if child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None))) {
            return Ok(());
        }
        let path = self.log();
        if let Some(directory) = path.parent() {
            fs::create_dir_all(directory).map_err(Error::io("create", directory))?;
        }
        let log = OpenOptions::new().append(true).create(true).mode(0o600).open(&path);
        let log = log.map_err(Error::io("write", &path))?;
        let errors = log.try_clone().map_err(Error::io("write", &path))?;
        let mut command = self.workspace.command("setsid"); // outlives the terminal, is not hit by its Ctrl-C
        command.args(["sh", "-c", LAUNCH, "launch"]).args(&self.line);
        let started = command.current_dir(self.workspace.root()).stdout(log).stderr(errors).spawn();
        *child = Some(started.map_err(Error::io("start", "setsid".as_ref()))?);
        Ok(())
    }

    /// Asks it to end (SIGTERM) and insists (SIGKILL) after `grace`.
    pub async fn stop(&self, grace: Duration) -> Result<(), Error> {
        self.signal(Signal::TERM);
        let deadline = Instant::now() + grace;
        while self.is_running() && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.kill().await
    }

    /// Ends it at once: SIGKILL.
    pub async fn kill(&self) -> Result<(), Error> {
        let deadline = Instant::now() + KILL_LIMIT;
        while self.is_running() {
            self.signal(Signal::KILL);
            if Instant::now() > deadline {
                let (what, state) = (
                    format!("the end of {}", self.name),
                    "it was killed and is still there".into(),
                );
                return Err(Error::NotReady { what, after: KILL_LIMIT, state });
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }

    /// Ends it as [`Self::stop`] does and starts it again, on the same data and ports.
    pub async fn restart(&self, grace: Duration) -> Result<(), Error> {
        self.stop(grace).await?;
        self.start()
    }

    /// Halts it where it is: SIGSTOP. Its connections stay open and nobody answers on them. Blocks
    /// until the last of its threads has halted, which on a busy machine is some milliseconds later.
    pub fn pause(&self) {
        self.signal(Signal::STOP);
        let deadline = Instant::now() + KILL_LIMIT;
        while self.id().is_some_and(|id| !is_halted(id)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lets it go on after [`Self::pause`].
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// True while the process exists, paused or not.
    pub fn is_running(&self) -> bool {
        self.exit_status().is_none()
    }

    /// Lets the kernel forget a process that the keeper has ended. Blocks for the moment that takes.
    pub(crate) fn reap(&self) {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = child.as_mut().map(Child::wait);
    }

    /// How it ended, if it did or was never started.
    pub(crate) fn exit_status(&self) -> Option<String> {
        let mut child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
        match child.as_mut().map(Child::try_wait) {
            None => Some("not started".to_owned()),
            Some(Ok(None)) => None,
            Some(Ok(Some(status))) => Some(status.to_string()),
            Some(Err(error)) => Some(error.to_string()),
        }
    }

    /// An error, if it ended although it should run.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.exit_status() {
            None => Ok(()),
            Some(status) => {
                Err(Error::Exited { name: self.name.clone(), status, log: self.log_tail() })
            }
        }
    }

    /// The end of its log.
    pub fn log_tail(&self) -> String {
        let read = || -> std::io::Result<String> {
            let mut file = File::open(self.log())?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(LOG_TAIL)))?;
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        read().unwrap_or_else(|error| format!("(no log: {error})"))
    }

    fn signal(&self, signal: Signal) {
        let send = |id: Option<u32>, signal| {
            let id = id.and_then(|id| Pid::from_raw(id.cast_signed()));
            // A process that ended in the meantime needs no signal.
            let _ = id.map(|id| kill_process(id, signal));
        };
        send(self.id(), signal);
        if self.forks && signal != Signal::STOP {
            // `nsenter` halts itself with its child, and would then never see the child's end.
            let child = self.child.lock().unwrap_or_else(PoisonError::into_inner);
            send(child.as_ref().map(Child::id), Signal::CONT);
        }
    }
}

/// True if no thread of the process runs any more.
fn is_halted(id: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{id}/task")) else { return true };
    threads.flatten().all(|thread| {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        after_name(&stat).is_none_or(|rest| rest.starts_with(['T', 'Z', 'X']))
    })
}

/// What the kernel says of a process or thread after "ID (NAME) ", where NAME may hold anything.
fn after_name(stat: &str) -> Option<&str> {
    stat.rsplit_once(") ").map(|(_, rest)| rest)
}

/// The one child of a process, from the kernel's table.
fn child_of(parent: u32) -> Option<u32> {
    let parent = parent.to_string();
    let ids = fs::read_dir("/proc")
        .ok()?
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.into_iter().find(|id: &u32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // "STATE PARENT …"
        after_name(&stat).and_then(|rest| rest.split(' ').nth(1)) == Some(parent.as_str())
    })
}

/// Waits until `ready` answers true, while `process` lives.
pub(crate) async fn until_ready(
    process: &Process,
    limit: Duration,
    mut ready: impl AsyncFnMut() -> Result<(), String>,
) -> Result<(), Error> {
    let started = Instant::now();
    loop {
        process.check()?;
        let attempt = tokio::time::timeout(Duration::from_secs(2), ready()).await;
        let state = match attempt {
            Ok(Ok(())) => return Ok(()),
            Ok(Err(state)) => state,
            Err(_) => "no answer within 2 s".to_owned(),
        };
        if started.elapsed() > limit {
            let state = format!("{state}; the last it said:\n{}", process.log_tail());
            return Err(Error::NotReady { what: process.name().to_owned(), after: limit, state });
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}
