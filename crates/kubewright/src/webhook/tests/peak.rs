//! How much memory a server takes at most, in a process of its own, beside what its container may have.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use super::super::Hook;
use super::client::{call_of, say};
use super::garbage::with_certificate;
use super::jugs::{Jug, hooks, jug, review, served_with};
use crate::generate::files::tests::installation;
use crate::generate::manager;

const FILE: &str = "KUBEWRIGHT_TEST_SERVES";
const PATIENCE: Duration = Duration::from_mins(1);
const MUTATE: &str = "/mutate-test-kubewright-dev-v1-jug";
const CONVERT: &str = "/convert-test-kubewright-dev-jug";

/// The other process.
struct Server {
    process: Child,
    port: u16,
    authority: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "begun by the test below"]
async fn serves_until_it_is_ended() {
    let Some(file) = std::env::var_os(FILE) else { return };
    let hooks = hooks().into_iter().chain([Hook::mutating::<Jug>()]).collect();
    let (served, authority) = with_certificate(served_with(hooks).await);
    let part = Path::new(&file).with_extension("part");
    std::fs::write(&part, format!("{}\n{authority}", served.port)).unwrap();
    std::fs::rename(part, file).unwrap();
    tokio::time::sleep(Duration::from_mins(5)).await;
}

async fn server() -> Server {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("serves");
    let name = "webhook::tests::peak::serves_until_it_is_ended";
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored"]).env(FILE, &file).stdout(Stdio::null());
    // The allocator of static programs has one arena; that of this one would keep one for each thread.
    command.env("MALLOC_ARENA_MAX", "1");
    let process = command.spawn().unwrap();
    let mut server = Server { process, port: 0, authority: String::new() };
    for _ in 0..600 {
        if let Ok(text) = std::fs::read_to_string(&file) {
            let (port, authority) = text.split_once('\n').unwrap();
            (server.port, server.authority) = (port.parse().unwrap(), authority.to_owned());
            return server;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("no server");
}

impl Server {
    /// The most that was ever resident, in MiB.
    fn peak(&self) -> usize {
        let path = format!("/proc/{}/status", self.process.id());
        let text = std::fs::read_to_string(path).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() >> 10
    }

    /// Calls so often at once; says how many were answered.
    async fn call(&self, times: usize, path: &str, body: &Value) -> usize {
        let request = call_of(path, body.to_string().as_bytes());
        let calls = (0..times).map(|_| say(self.port, &self.authority, &request, PATIENCE));
        let answers = futures_util::future::join_all(calls).await;
        answers.iter().filter(|said| said.contains("HTTP/1.1 200")).count()
    }
}

/// What the shipped container may have, in MiB.
fn limit() -> usize {
    let deployment = manager::deployment(&installation());
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let limit = container["resources"]["limits"]["memory"].as_str().unwrap();
    limit.strip_suffix("Mi").unwrap().parse().unwrap()
}

/// A jug of about 3 MB: in one text, or in many little ones.
fn large(is_dense: bool) -> Value {
    let mut object = json!(jug("a"));
    object["metadata"]["annotations"] = if is_dense {
        (0..100_000).map(|number| (format!("a/{number:010}"), json!("0123456789"))).collect()
    } else {
        json!({"a/large": "x".repeat(3 << 20)})
    };
    object
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_stays_below_what_its_container_may_have() {
    let mut update = review("Jug", &large(true));
    update["request"]["operation"] = json!("UPDATE");
    update["request"]["oldObject"] = update["request"]["object"].clone();
    let (objects, version) = (vec![large(false); 4], "test.kubewright.dev/v1alpha1");
    let list = json!({"request": {"uid": "1", "desiredAPIVersion": version, "objects": objects}});
    for (path, body) in [(MUTATE, &update), (CONVERT, &list)] {
        let server = server().await;
        let (before, answered) = (server.peak(), server.call(6, path, body).await);
        let (peak, length) = (server.peak(), body.to_string().len() >> 20);
        eprintln!("6 of {length} MiB at {path}: {before} MiB before, {peak} at most");
        assert!(answered > 0, "nothing was answered");
        assert!(peak < limit(), "{peak} MiB of {}", limit());
    }
}
