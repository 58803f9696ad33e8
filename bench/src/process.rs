//! The operator as a process: its start and end, and what the kernel says about it.

use std::fs::{self, File};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// Nothing that works takes this long.
const READY_LIMIT: Duration = Duration::from_mins(2);
const STOP_LIMIT: Duration = Duration::from_secs(40);
const QUIET_LIMIT: Duration = Duration::from_mins(3);
/// The unit of times in `/proc`, the same on all architectures of Linux.
const TICK: Duration = Duration::from_millis(10);

/// A running operator. It is killed when this is dropped.
pub struct Process {
    child: Child,
    id: Pid,
    started: Instant,
    probes: SocketAddr,
    log: PathBuf,
}

/// What a process has in memory, in MiB.
#[derive(Clone, Copy)]
pub struct Memory {
    /// What it has.
    pub now: f64,
    /// The most since its start, or since [`Process::forget_peak`].
    pub peak: f64,
}

impl Process {
    /// Starts an operator; its log goes into `directory`.
    pub fn start(
        program: &Path,
        kubeconfig: &Path,
        directory: &Path,
        arguments: &[&str],
    ) -> anyhow::Result<Self> {
        Self::spawn(Command::new(program), kubeconfig, directory, arguments)
    }

    /// The same, with what `command` says before the operator's arguments.
    pub fn spawn(
        mut command: Command,
        kubeconfig: &Path,
        directory: &Path,
        arguments: &[&str],
    ) -> anyhow::Result<Self> {
        let probes = TcpListener::bind(("127.0.0.1", 0))?.local_addr()?;
        let log = directory.join("operator.log");
        command.arg("--kubeconfig").arg(kubeconfig);
        command.args(["--health-probe-bind-address", &probes.to_string()]);
        command.args(arguments);
        let output = File::create(&log)?;
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
        let started = Instant::now();
        let child = command.kill_on_drop(true).spawn();
        let child = child.context("cannot start the operator")?;
        let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let id = id.context("the operator ended at once")?;
        Ok(Self { child, id, started, probes, log })
    }

    /// Waits until it says that it is ready; answers with how long that took since its start.
    pub async fn until_ready(&mut self) -> anyhow::Result<Duration> {
        while !self.is_ready().await {
            self.check()?;
            ensure!(self.started.elapsed() < READY_LIMIT, "the operator does not get ready");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(self.started.elapsed())
    }

    async fn is_ready(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(self.probes).await else { return false };
        // Else a server may keep the connection, and the end of the answer is not seen for minutes.
        let request =
            format!("GET /readyz HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.probes);
        let mut answer = String::new();
        stream.write_all(request.as_bytes()).await.is_ok()
            && stream.read_to_string(&mut answer).await.is_ok()
            && answer.starts_with("HTTP/1.1 200")
    }

    /// Waits until it has nothing to do but to renew its lease.
    pub async fn until_quiet(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            let before = self.cpu()?;
            tokio::time::sleep(Duration::from_secs(3)).await;
            if self.cpu()?.saturating_sub(before) <= 2 * TICK {
                return Ok(());
            }
            ensure!(began.elapsed() < QUIET_LIMIT, "the operator does not come to rest");
        }
    }

    /// Fails if it has ended.
    pub fn check(&mut self) -> anyhow::Result<()> {
        let Some(status) = self.child.try_wait()? else { return Ok(()) };
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let last: Vec<_> = log.lines().rev().take(5).collect();
        bail!(
            "the operator ended with {status}; its last words, newest first:\n{}",
            last.join("\n")
        )
    }

    /// The time that it has spent computing.
    pub fn cpu(&mut self) -> anyhow::Result<Duration> {
        self.check()?;
        cpu_of(self.id.as_raw_nonzero().get().unsigned_abs())
    }

    /// Looks at its memory, in MiB, for as long as it runs.
    pub fn rss_probe(&self) -> impl Fn() -> Option<f64> + Send + 'static {
        let file = self.file("status");
        move || mebibytes(&fs::read_to_string(&file).ok()?, "VmRSS:")
    }

    /// Ends it as a machine that fails does.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        self.child.kill().await?;
        Ok(())
    }

    /// Its memory.
    pub fn memory(&mut self) -> anyhow::Result<Memory> {
        self.check()?;
        let status = fs::read_to_string(self.file("status"))?;
        let of = |name| mebibytes(&status, name).with_context(|| format!("no {name} in /proc"));
        Ok(Memory { now: of("VmRSS:")?, peak: of("VmHWM:")? })
    }

    /// The peak counts from now on.
    pub fn forget_peak(&self) -> anyhow::Result<()> {
        fs::write(self.file("clear_refs"), "5").context("cannot reset the peak of the memory")
    }

    /// Ends it in good order.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        self.check()?;
        kill_process(self.id, Signal::TERM)?;
        let ended = tokio::time::timeout(STOP_LIMIT, self.child.wait()).await;
        let status = ended.context("the operator does not end")??;
        ensure!(status.success(), "the operator ended with {status}");
        Ok(())
    }

    fn file(&self, name: &str) -> PathBuf {
        format!("/proc/{}/{name}", self.id.as_raw_nonzero()).into()
    }
}

/// The time that a process has spent computing.
pub fn cpu_of(id: u32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat"))?;
    // The name before the last parenthesis may hold anything; `utime` and `stime` follow as 12th and 13th.
    let (_, fields) = stat.rsplit_once(')').context("/proc/*/stat is not as it should be")?;
    let ticks = fields.split_whitespace().skip(11).take(2).map(str::parse::<u32>);
    Ok(TICK * ticks.sum::<Result<u32, _>>()?)
}

/// A line of `/proc/*/status`.
fn mebibytes(status: &str, name: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    Some(line.split_whitespace().next()?.parse::<f64>().ok()? / 1024.0)
}
