//! `--sample`: a memcached on the local Kubernetes, and the proof that it serves, on the address of
//! its pod and through the name of its Service.
//!
//! Owns the order and the waiting. What is said to memcached is in `conversation`; the objects are in
//! `sample.yaml`.

mod conversation;

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use kubewright_testenv::progress::Progress;
use tokio::runtime::Runtime;

use super::api;
use super::record::Record;
use conversation::Conversation;

const MANIFEST: &str = include_str!("sample.yaml");
const NAMESPACE: &str = "sample";
const LABELS: &str = "app.kubernetes.io/name=memcached";
const SERVICE: &str = "memcached.sample.svc.cluster.local";
const PORT: u16 = 11211;
/// The image is on the node already; this is for a machine under load.
const ROLLOUT: &str = "--timeout=120s";
/// A Service is known to DNS and to every node a moment after its pod is ready.
const PROOF_LIMIT: Duration = Duration::from_secs(30);
/// For one try of a proof.
const TRY_LIMIT: Duration = Duration::from_secs(5);

/// Applies the sample, waits for it and proves that it serves.
pub(super) fn run(record: &Record, runtime: &Runtime) -> anyhow::Result<()> {
    Progress::Shown.step("starting the sample, a memcached", || deploy(record))?;
    let (pod, address) = runtime.block_on(async {
        let client = api::client(&record.kubeconfig).await?;
        api::ready_pod(&client, NAMESPACE, LABELS).await
    })?;
    let address = SocketAddr::new(address.parse()?, PORT);
    prove(&format!("on its pod's address {address}"), |talk| by_address(address, talk))?;
    prove(&format!("through its Service {SERVICE}:{PORT}"), |talk| by_service(record, &pod, talk))
}

fn deploy(record: &Record) -> anyhow::Result<()> {
    kubectl(record, &["apply", "-f", "-"], MANIFEST)?;
    let wait = ["rollout", "status", "deployment/memcached", "-n", NAMESPACE];
    kubectl(record, &[&wait[..], &[ROLLOUT]].concat(), "")
        .context("the sample did not start; `kubectl describe pods -n sample` tells more")?;
    Ok(())
}

/// Tries until memcached gives back what it was given, and says so.
fn prove(
    way: &str,
    mut ask: impl FnMut(&Conversation) -> anyhow::Result<String>,
) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let talk = Conversation::new();
        let Err(error) = ask(&talk).and_then(|answer| talk.check(&answer)) else {
            Progress::Shown.note(&format!("✓ memcached answers set and get {way}"));
            return Ok(());
        };
        if started.elapsed() > PROOF_LIMIT {
            return Err(error.context(format!("memcached does not answer {way}")));
        }
        std::thread::sleep(Duration::from_millis(200));
    }
}

/// From this machine.
fn by_address(address: SocketAddr, talk: &Conversation) -> anyhow::Result<String> {
    let mut stream = TcpStream::connect_timeout(&address, TRY_LIMIT)?;
    stream.set_read_timeout(Some(TRY_LIMIT))?;
    stream.write_all(talk.request().as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// From inside the pod, as its neighbours would.
fn by_service(record: &Record, pod: &str, talk: &Conversation) -> anyhow::Result<String> {
    let request = talk.request().replace("\r\n", r"\r\n");
    let limit = TRY_LIMIT.as_secs();
    let script = format!("printf '{request}' | timeout {limit} nc {SERVICE} {PORT}");
    kubectl(record, &["exec", "-n", NAMESPACE, pod, "--", "sh", "-c", &script], "")
}

/// Runs the environment's own kubectl; what it complains about is the error.
fn kubectl(record: &Record, arguments: &[&str], input: &str) -> anyhow::Result<String> {
    let line = format!("kubectl {}", arguments.join(" "));
    let cache = record.kubeconfig.with_file_name("kubectl-cache");
    let mut command = Command::new(&record.kubectl);
    command
        .arg("--cache-dir") // not the user's: it goes away with the environment
        .arg(cache)
        .args(arguments)
        .env("KUBECONFIG", &record.kubeconfig)
        .env("KUBERC", "off")
        .envs([("NO_PROXY", "*"), ("no_proxy", "*")])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let run = || {
        let mut child = command.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes())?;
        }
        child.wait_with_output()
    };
    let output = { run }().with_context(|| format!("cannot run `{line}`"))?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "`{line}` failed: {}", complaint.trim());
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
