//! A real registry on loopback, for as long as a test holds it.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use kubewright_testenv::KubernetesVersion;
use kubewright_testenv::binaries::{Binaries, Binary};
use kubewright_testenv::cache::Cache;
use kubewright_testenv::progress::Progress;
use serde_json::json;
use tempfile::TempDir;

/// bcrypt of `secret`, at the least cost.
const SECRET: &str = "$2a$04$EX6X1/UON.H36ieipQKq9ui35ZP12x.z0bIueN1iQoqDFV6hTTKz.";

pub(crate) struct Registry {
    child: Child,
    address: String,
    _directory: TempDir,
}

impl Registry {
    /// For everybody.
    pub(crate) fn open() -> Self {
        Self::start(&json!({}), tempfile::tempdir().unwrap())
    }

    /// For the one user of `USER:secret`.
    pub(crate) fn with_user(user: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let passwords = directory.path().join("htpasswd");
        std::fs::write(&passwords, user.replace("secret", SECRET)).unwrap();
        let auth = json!({ "htpasswd": { "realm": "test", "path": passwords } });
        Self::start(&auth, directory)
    }

    fn start(auth: &serde_json::Value, directory: TempDir) -> Self {
        let newest = KubernetesVersion::newest();
        let cache = Cache::from_environment().unwrap();
        let program = Binaries::new(cache, newest, Progress::Shown).unwrap();
        let program = program.find(Binary::Registry).unwrap();
        let mut configuration = json!({
            "version": "0.1",
            "storage": { "inmemory": {} },
            "http": { "addr": "127.0.0.1:0" },
        });
        if auth != &json!({}) {
            configuration["auth"] = auth.clone();
        }
        let path = directory.path().join("configuration.yaml");
        std::fs::write(&path, configuration.to_string()).unwrap();
        let mut child = Command::new("setpriv") // it ends with the test, however that ends
            .args(["--pdeathsig", "KILL"])
            .arg(program)
            .arg("serve")
            .arg(path)
            .env("OTEL_TRACES_EXPORTER", "none") // else it looks for a collector of traces
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            let after = line.split("listening on ").nth(1)?;
            Some(after.trim_end_matches('"').split('"').next()?.trim().to_owned())
        });
        std::thread::spawn(move || lines.for_each(drop)); // a full pipe would stop it
        Self { child, address: address.unwrap(), _directory: directory }
    }

    /// `127.0.0.1:PORT`
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// What is there, as a stranger gets it.
    pub(crate) fn get(&self, path: &str) -> Vec<u8> {
        let request = ureq::get(format!("http://{}/v2/{path}", self.address))
            .header("Accept", "application/vnd.oci.image.manifest.v1+json");
        request.call().unwrap().body_mut().read_to_vec().unwrap()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
