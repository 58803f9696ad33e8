//! Who somebody is to a registry: what `docker login` left in its configuration, or what its helper
//! programs know. Reads and asks; keeps nothing.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;

/// How somebody proves who they are.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Credentials {
    /// A name and a password.
    Password { user: String, password: String },
    /// A token that others are got with.
    Refresh(String),
}

/// Helpers say so instead of a user's name.
const TOKEN_USER: &str = "<token>";

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Configuration {
    auths: BTreeMap<String, Login>,
    creds_store: Option<String>,
    cred_helpers: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Login {
    auth: Option<String>,
    #[serde(rename = "identitytoken")]
    identity_token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Helped {
    username: String,
    secret: String,
}

impl Credentials {
    /// The credentials for `login`, if there are any.
    pub(super) fn find(login: &str) -> anyhow::Result<Option<Self>> {
        let Some(path) = configuration_file() else {
            return Ok(None);
        };
        if !path.is_file() {
            return Ok(None);
        }
        let cannot = || format!("cannot use the logins of {}", path.display());
        Self::from_file(&path, login).with_context(cannot)
    }

    fn from_file(path: &Path, login: &str) -> anyhow::Result<Option<Self>> {
        let configuration: Configuration = serde_json::from_slice(&std::fs::read(path)?)?;
        if let Some(helper) = configuration.cred_helpers.get(login) {
            return ask_helper(helper, login);
        }
        let kept = configuration.auths.iter().find(|(name, _)| host(name) == host(login));
        let kept = match kept {
            Some((_, login)) => login.credentials()?,
            None => None,
        };
        match (kept, &configuration.creds_store) {
            (None, Some(helper)) => ask_helper(helper, login),
            (kept, _) => Ok(kept),
        }
    }

    /// The header that says so; none where a token has to be got first.
    pub(super) fn basic(&self) -> Option<String> {
        match self {
            Self::Password { user, password } => {
                Some(format!("Basic {}", BASE64.encode(format!("{user}:{password}"))))
            }
            Self::Refresh(_) => None,
        }
    }
}

impl Login {
    fn credentials(&self) -> anyhow::Result<Option<Credentials>> {
        let filled = |text: &Option<String>| text.clone().filter(|text| !text.is_empty());
        if let Some(token) = filled(&self.identity_token) {
            return Ok(Some(Credentials::Refresh(token)));
        }
        let Some(auth) = filled(&self.auth) else {
            return Ok(None);
        };
        let decoded = BASE64.decode(auth).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let (user, password) = decoded
            .as_deref()
            .and_then(|text| text.split_once(':'))
            .context("an `auth` is not USER:PASSWORD in base64")?;
        Ok(Some(Credentials::Password { user: user.to_owned(), password: password.to_owned() }))
    }
}

/// `$DOCKER_CONFIG/config.json`, else `~/.docker/config.json`.
fn configuration_file() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let directory = set("DOCKER_CONFIG").or_else(|| Some(set("HOME")?.join(".docker")))?;
    Some(directory.join("config.json"))
}

/// Logins are kept as addresses too: `https://quay.io/v1/`.
fn host(name: &str) -> &str {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    name.split('/').next().unwrap_or(name)
}

/// `docker-credential-HELPER get`: the login goes in, a name and a secret come out.
fn ask_helper(helper: &str, login: &str) -> anyhow::Result<Option<Credentials>> {
    let program = format!("docker-credential-{helper}");
    let cannot = || format!("cannot run `{program} get`");
    let mut command = Command::new(&program);
    command.arg("get").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().with_context(cannot)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(login.as_bytes()).with_context(cannot)?;
    }
    let output = child.wait_with_output().with_context(cannot)?;
    let said = String::from_utf8_lossy(&output.stdout);
    if !output.status.success() {
        // All helpers say it in these words.
        let none = said.contains("credentials not found");
        anyhow::ensure!(none, "`{program} get` failed: {}", said.trim());
        return Ok(None);
    }
    let Helped { username, secret } = serde_json::from_str(&said)
        .with_context(|| format!("`{program} get` answered something else than it should"))?;
    Ok(Some(if username == TOKEN_USER {
        Credentials::Refresh(secret)
    } else {
        Credentials::Password { user: username, password: secret }
    }))
}

#[cfg(test)]
mod tests;
