//! A real registry of images on loopback, for as long as somebody holds it: the reference implementation, with
//! everything in memory. Knows nothing of nodes.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::binaries::{Binaries, Binary};
use crate::cache::Cache;
use crate::error::Error;
use crate::progress::Progress;
use crate::version::KubernetesVersion;

/// bcrypt of `secret`, at the least cost.
const SECRET: &str = "$2a$04$EX6X1/UON.H36ieipQKq9ui35ZP12x.z0bIueN1iQoqDFV6hTTKz.";

/// A registry that runs.
#[derive(Debug)]
pub struct Registry {
    child: Child,
    address: String,
    _directory: TempDir,
}

impl Registry {
    /// For everybody.
    ///
    /// # Errors
    /// If it cannot be had or does not start.
    pub fn open() -> Result<Self, Error> {
        Self::start(None, directory()?)
    }

    /// For one user, whose password is `secret`.
    ///
    /// # Errors
    /// If it cannot be had or does not start.
    pub fn with_user(user: &str) -> Result<Self, Error> {
        let directory = directory()?;
        let passwords = directory.path().join("htpasswd");
        fs::write(&passwords, format!("{user}:{SECRET}"))
            .map_err(Error::io("write", &passwords))?;
        let access = json!({ "htpasswd": { "realm": "test", "path": passwords } });
        Self::start(Some(access), directory)
    }

    fn start(access: Option<Value>, directory: TempDir) -> Result<Self, Error> {
        let cache = Cache::from_environment()?;
        let binaries = Binaries::new(cache, KubernetesVersion::newest(), Progress::Shown)?;
        let program = binaries.find(Binary::Registry)?;
        let mut configuration = json!({
            "version": "0.1",
            "storage": { "inmemory": {} },
            "http": { "addr": "127.0.0.1:0" },
        });
        if let Some(access) = access {
            configuration["auth"] = access;
        }
        let path = directory.path().join("configuration.yaml");
        fs::write(&path, configuration.to_string()).map_err(Error::io("write", &path))?;
        let mut child = Command::new("setpriv") // it ends with the test, however that ends
            .args(["--pdeathsig", "KILL"])
            .arg(&program)
            .arg("serve")
            .arg(&path)
            .env("OTEL_TRACES_EXPORTER", "none") // else it looks for a collector of traces
            .stderr(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .map_err(Error::io("run", &program))?;
        let mut said =
            child.stderr.take().into_iter().flat_map(|said| BufReader::new(said).lines());
        let Some(address) = said.by_ref().map_while(Result::ok).find_map(|line| listens_on(&line))
        else {
            let status = child.wait().map_or_else(|error| error.to_string(), |it| it.to_string());
            return Err(Error::Exited { name: "registry".into(), status, log: String::new() });
        };
        std::thread::spawn(move || said.for_each(drop)); // a full pipe would stop it
        Ok(Self { child, address, _directory: directory })
    }

    /// `127.0.0.1:PORT`
    pub fn address(&self) -> &str {
        &self.address
    }
}

fn directory() -> Result<TempDir, Error> {
    tempfile::tempdir().map_err(Error::io("create", &std::env::temp_dir()))
}

fn listens_on(line: &str) -> Option<String> {
    let after = line.split("listening on ").nth(1)?;
    Some(after.trim_end_matches('"').split('"').next()?.trim().to_owned())
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
