//! The operator as a process: killed on purpose, and started again as a kubelet would.

use std::fs::OpenOptions;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context as _;
use kubewright_testenv::MARKER;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::task::JoinSet;

/// Before it is started again: a container that ends is started after a moment too.
const PAUSE: Duration = Duration::from_millis(200);

/// How it is started.
#[derive(Clone, Debug)]
pub struct Start {
    /// The program.
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Where its output goes; a restart appends.
    pub log: PathBuf,
    /// The environment that it belongs to, and ends with whatever becomes of this process.
    pub environment: PathBuf,
}

/// A process to be killed.
#[derive(Debug, Default)]
pub struct Victim {
    id: AtomicI32,
    /// How many deaths are on us.
    killed: AtomicU32,
}

impl Victim {
    /// SIGKILL, now.
    pub fn kill(&self) {
        // First: whoever waits for the process may see its end before this goes on.
        self.killed.fetch_add(1, Ordering::SeqCst);
        if !self.signal(Signal::KILL) {
            self.killed.fetch_sub(1, Ordering::SeqCst);
        }
    }

    /// Sends a signal; false if no process is there.
    pub fn signal(&self, signal: Signal) -> bool {
        let id = Pid::from_raw(self.id.load(Ordering::SeqCst));
        id.is_some_and(|id| kill_process(id, signal).is_ok())
    }

    /// The process, while there is one.
    pub fn id(&self) -> Option<i32> {
        Some(self.id.load(Ordering::SeqCst)).filter(|id| *id != 0)
    }

    /// How many times it was killed.
    pub fn kills(&self) -> u32 {
        self.killed.load(Ordering::SeqCst)
    }
}

/// An operator that runs until this is dropped.
#[derive(Debug)]
pub struct Running {
    /// For whoever is to kill it.
    pub victim: Arc<Victim>,
    exits: Arc<Mutex<Vec<String>>>,
    log: PathBuf,
    keeper: JoinSet<()>,
}

impl Running {
    /// Starts it, and starts it again whenever it ends.
    pub fn start(start: Start, victim: Arc<Victim>) -> anyhow::Result<Self> {
        let exits = Arc::new(Mutex::default());
        let log = start.log.clone();
        let child = spawn(&start)?;
        let mut keeper = JoinSet::new();
        keeper.spawn(keep(start, child, victim.clone(), exits.clone()));
        Ok(Self { victim, exits, log, keeper })
    }

    /// How it ended where nobody killed it, and what it said when it panicked.
    pub fn failures(&self) -> Vec<String> {
        let mut failures = self.exits.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let said = std::fs::read_to_string(&self.log).unwrap_or_default();
        failures.extend(said.lines().filter(|line| line.contains("panicked")).map(str::to_owned));
        failures
    }

    /// Ends it for good.
    pub async fn end(&mut self) {
        self.keeper.shutdown().await;
    }

    /// How many files and sockets it has open.
    pub fn descriptors(&self) -> Option<usize> {
        Some(std::fs::read_dir(format!("/proc/{}/fd", self.victim.id()?)).ok()?.count())
    }

    /// What it has in memory, in KiB.
    pub fn memory(&self) -> Option<u64> {
        self.kibibytes("VmRSS:")
    }

    /// The most that it had in memory since it began, or since this was forgotten, in KiB.
    pub fn peak(&self) -> Option<u64> {
        self.kibibytes("VmHWM:")
    }

    /// Forgets that.
    pub fn forget_peak(&self) {
        let id = self.victim.id().unwrap_or_default();
        let _ = std::fs::write(format!("/proc/{id}/clear_refs"), "5"); // as proc(5) has it
    }

    fn kibibytes(&self, what: &str) -> Option<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.victim.id()?)).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix(what))?;
        line.trim().trim_end_matches("kB").trim().parse().ok()
    }

    /// Forgets what it said.
    pub fn forget_log(&self) {
        let _ = std::fs::remove_file(&self.log);
    }
}

async fn keep(start: Start, child: Child, victim: Arc<Victim>, exits: Arc<Mutex<Vec<String>>>) {
    let mut child = Some(child);
    let mut known = victim.kills();
    loop {
        let mut running = match child.take().map_or_else(|| spawn(&start), Ok) {
            Ok(running) => running,
            Err(error) => {
                exits.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{error:#}"));
                return;
            }
        };
        let id = running.id().and_then(|id| i32::try_from(id).ok()).unwrap_or_default();
        victim.id.store(id, Ordering::SeqCst);
        let ended = running.wait().await;
        victim.id.store(0, Ordering::SeqCst);
        if victim.kills() == known {
            let how = ended.map_or_else(|error| error.to_string(), |status| status.to_string());
            let said = format!("it ended by itself: {how}");
            exits.lock().unwrap_or_else(PoisonError::into_inner).push(said);
        }
        known = victim.kills();
        tokio::time::sleep(PAUSE).await;
    }
}

fn spawn(start: &Start) -> anyhow::Result<Child> {
    let log = OpenOptions::new().append(true).create(true).open(&start.log)?;
    let mut command = Command::new(&start.program);
    command.args(&start.arguments).env_remove(memcached_operator::IMAGE_VARIABLE);
    command.env(MARKER, &start.environment);
    command.stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
    command.kill_on_drop(true).spawn().context("the operator does not start")
}
