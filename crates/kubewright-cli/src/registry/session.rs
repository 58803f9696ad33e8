//! One request after the other to one repository of a registry, as somebody.
//!
//! Owns the connection, the proof of who it is, and the meaning of an answer's status. Credentials go
//! to the registry itself and to whom it names as its issuer of tokens, encrypted, and to nobody else.

use std::fs::File;
use std::io::{self, Seek as _};
use std::time::Duration;

use http::{Method, Request, Response, header};
use serde::Deserialize;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, SendBody};

use super::challenge::Challenge;
use super::credentials::Credentials;
use super::error::PushError;
use super::reference::Reference;
use crate::archive::megabytes;

/// For a connection; a registry that takes longer is not there.
const CONNECT: Duration = Duration::from_secs(10);
/// For one answer after a request is sent; registries store what they got before they answer.
const ANSWER: Duration = Duration::from_mins(2);
/// Between two pieces of what is read or written; a connection that is silent for longer is dead.
const SILENCE: Duration = Duration::from_secs(30);
/// What is understood of what a registry keeps.
const ACCEPTED: &str = "application/vnd.oci.image.index.v1+json, \
    application/vnd.docker.distribution.manifest.list.v2+json, \
    application/vnd.oci.image.manifest.v1+json, \
    application/vnd.docker.distribution.manifest.v2+json, */*";
/// More than any bundle is; an image of a program by mistake is not read to its end.
const LARGEST: u64 = 32 << 20;
/// What an issuer of tokens knows this program by.
const CLIENT: &str = "kubewright";

/// What is sent.
pub(super) enum Content<'a> {
    Nothing,
    Bytes(&'static str, &'a [u8]),
    File(&'a File),
}

pub(super) struct Session {
    agent: Agent,
    reference: Reference,
    credentials: Option<Credentials>,
    /// `https://registry.example.com`
    origin: String,
    authorization: Option<String>,
    silence: Duration,
}

impl Session {
    pub(super) fn new(reference: Reference, plain: bool, credentials: Option<Credentials>) -> Self {
        let scheme = if plain || reference.is_local() { "http" } else { "https" };
        let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT))
            .timeout_recv_response(Some(ANSWER))
            .timeout_per_read(Some(ANSWER)) // the first one is for the answer itself
            .timeout_per_write(Some(SILENCE))
            .tls_config(tls)
            .build();
        let origin = format!("{scheme}://{}", reference.host());
        let (agent, authorization, silence) = (agent.into(), None, SILENCE);
        Self { agent, reference, credentials, origin, authorization, silence }
    }

    /// The address of something of the repository.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}/v2/{}/{path}", self.origin, self.reference.repository)
    }

    /// True if there is something at `address`.
    pub(super) fn has(&mut self, address: &str) -> Result<bool, PushError> {
        let response = self.send(&Method::HEAD, address, &Content::Nothing)?;
        match response.status().as_u16() {
            200 => Ok(true),
            404 => Ok(false),
            _ => Err(self.refusal(response, "the question for a blob")),
        }
    }

    /// What is at `address`, which belongs to `image`.
    pub(super) fn get(&mut self, address: &str, image: &str) -> Result<Vec<u8>, PushError> {
        let mut response = self.send(&Method::GET, address, &Content::Nothing)?;
        let status = response.status().as_u16();
        if status == 200 {
            let too_large = || {
                let reason = format!("a part of it has more than {}", megabytes(LARGEST));
                PushError::Unusable { image: image.to_owned(), reason }
            };
            if response.body().content_length().is_some_and(|length| length > LARGEST) {
                return Err(too_large());
            }
            let read = response.body_mut().with_config().limit(LARGEST).read_to_vec();
            return read.map_err(|error| match error {
                ureq::Error::BodyExceedsLimit(_) => too_large(),
                error => self.unreachable(error),
            });
        }
        let said = said(&response.body_mut().read_to_string().unwrap_or_default());
        let (registry, image) = (self.reference.registry.clone(), image.to_owned());
        Err(match status {
            401 | 403 => PushError::Unreadable { registry, image, said },
            404 => PushError::NoImage { registry, image, said },
            status => {
                PushError::Answer { registry, status, what: "the request for an image", said }
            }
        })
    }

    /// Begins an upload and gives the address where it is to be put.
    pub(super) fn begin(&mut self, address: &str) -> Result<String, PushError> {
        let response = self.send(&Method::POST, address, &Content::Nothing)?;
        let location = response.headers().get(header::LOCATION);
        match location.and_then(|location| location.to_str().ok()) {
            Some(location) if response.status().as_u16() == 202 => {
                let is_path = location.starts_with('/');
                Ok(if is_path { format!("{}{location}", self.origin) } else { location.to_owned() })
            }
            _ => Err(self.refusal(response, "the begin of an upload")),
        }
    }

    /// Puts `content` at `address`.
    pub(super) fn put(
        &mut self,
        address: &str,
        content: &Content<'_>,
        what: &'static str,
    ) -> Result<(), PushError> {
        let response = self.send(&Method::PUT, address, content)?;
        if response.status().is_success() { Ok(()) } else { Err(self.refusal(response, what)) }
    }

    /// Sends a request; if the registry asks who it is from, once more with the answer.
    fn send(
        &mut self,
        method: &Method,
        address: &str,
        content: &Content<'_>,
    ) -> Result<Response<Body>, PushError> {
        let response = self.send_once(method, address, content)?;
        let wanted = response.headers().get(header::WWW_AUTHENTICATE);
        if response.status().as_u16() != 401 || !self.is_ours(address) {
            return Ok(response);
        }
        let Some(wanted) = wanted.and_then(|wanted| wanted.to_str().ok()) else {
            return Ok(response);
        };
        let wanted = wanted.to_owned();
        self.authorization = self.prove(&wanted)?;
        self.send_once(method, address, content)
    }

    fn send_once(
        &self,
        method: &Method,
        address: &str,
        content: &Content<'_>,
    ) -> Result<Response<Body>, PushError> {
        let mut request = Request::builder().method(method).uri(address);
        if let Some(authorization) = self.authorization.as_ref().filter(|_| self.is_ours(address)) {
            request = request.header(header::AUTHORIZATION, authorization);
        }
        if method == Method::GET {
            request = request.header(header::ACCEPT, ACCEPTED);
        }
        let failed = |error| self.unreachable(error);
        let answer = match content {
            Content::Nothing if method == Method::HEAD || method == Method::GET => {
                let request = request.body(()).map_err(|error| failed(error.into()))?;
                let request = self.agent.configure_request(request);
                self.agent.run(request.timeout_per_read(Some(self.silence)).build())
            }
            Content::Nothing => {
                self.agent.run(request.body("").map_err(|error| failed(error.into()))?)
            }
            Content::Bytes(media_type, bytes) => {
                let request = request.header(header::CONTENT_TYPE, *media_type);
                self.agent.run(request.body(*bytes).map_err(|error| failed(error.into()))?)
            }
            Content::File(file) => {
                let rewound = || -> io::Result<u64> {
                    let mut file = *file;
                    file.rewind()?;
                    Ok(file.metadata()?.len())
                };
                let size = rewound().map_err(|error| failed(error.into()))?;
                let request = request
                    .header(header::CONTENT_TYPE, "application/octet-stream")
                    .header(header::CONTENT_LENGTH, size);
                let mut reader = *file;
                let body = SendBody::from_reader(&mut reader);
                self.agent.run(request.body(body).map_err(|error| failed(error.into()))?)
            }
        };
        answer.map_err(failed)
    }

    /// What convinces the registry, if there is something; without a login some let everybody in.
    fn prove(&self, wanted: &str) -> Result<Option<String>, PushError> {
        let registry = || self.reference.registry.clone();
        match Challenge::parse(wanted) {
            None => Err(PushError::Unsupported { registry: registry(), wanted: wanted.to_owned() }),
            Some(Challenge::Basic) => Ok(self.credentials.as_ref().and_then(Credentials::basic)),
            Some(Challenge::Bearer { realm, service, scope }) => {
                if !realm.starts_with("https://") && self.origin.starts_with("https://") {
                    return Err(PushError::Realm { registry: registry(), realm });
                }
                let scope = scope.unwrap_or_else(|| {
                    format!("repository:{}:pull,push", self.reference.repository)
                });
                self.token(&realm, &service.unwrap_or_default(), &scope).map(Some)
            }
        }
    }

    /// Gets a token for this repository.
    fn token(&self, realm: &str, service: &str, scope: &str) -> Result<String, PushError> {
        #[derive(Deserialize)]
        struct Issued {
            #[serde(alias = "access_token")]
            token: String,
        }
        let answer = match &self.credentials {
            Some(Credentials::Refresh(token)) => self.agent.post(realm).send_form([
                ("grant_type", "refresh_token"),
                ("client_id", CLIENT),
                ("service", service),
                ("scope", scope),
                ("refresh_token", token),
            ]),
            credentials => {
                let request = self.agent.get(realm).query("service", service).query("scope", scope);
                match credentials.as_ref().and_then(Credentials::basic) {
                    Some(basic) => request.header(header::AUTHORIZATION, basic).call(),
                    None => request.call(),
                }
            }
        };
        let mut response = answer.map_err(|error| self.unreachable(error))?;
        let text = response.body_mut().read_to_string().unwrap_or_default();
        match serde_json::from_str::<Issued>(&text) {
            Ok(issued) if response.status().is_success() => Ok(format!("Bearer {}", issued.token)),
            _ => Err(self.refusal(response, "the request for a token")),
        }
    }

    /// Uploads may lead to another host, which must not see who we are.
    fn is_ours(&self, address: &str) -> bool {
        address.strip_prefix(&self.origin).is_some_and(|rest| rest.starts_with('/'))
    }

    fn unreachable(&self, source: ureq::Error) -> PushError {
        let (registry, source) = (self.reference.registry.clone(), Box::new(source));
        match *source {
            ureq::Error::Rustls(_) | ureq::Error::Tls(_) => {
                PushError::Insecure { registry, source }
            }
            _ => PushError::Unreachable { registry, source },
        }
    }

    /// The error that an unwelcome answer is.
    fn refusal(&self, mut response: Response<Body>, what: &'static str) -> PushError {
        let Reference { registry, repository, .. } = self.reference.clone();
        let said = said(&response.body_mut().read_to_string().unwrap_or_default());
        match response.status().as_u16() {
            401 | 403 => PushError::Refused { registry, repository, said },
            404 => PushError::Absent { registry, repository, said },
            status => PushError::Answer { registry, status, what, said },
        }
    }
}

/// The first message of a registry's answer, in brackets.
fn said(text: &str) -> String {
    let answer: serde_json::Value = serde_json::from_str(text).unwrap_or_default();
    let message = answer["errors"][0]["message"].as_str();
    message.map(|message| format!(" ({message})")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpListener;

    use super::*;

    /// A registry that begins an answer of that size, and says no more.
    fn begun(size: u64) -> Session {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let reference = format!("{}/a:1", listener.local_addr().unwrap()).parse().unwrap();
        std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 1024]).unwrap(); // the request, which fits
            write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\nbegin").unwrap();
            let _ = stream.read(&mut [0; 1024]); // until the other side has enough
        });
        Session::new(reference, false, None)
    }

    #[test]
    fn a_registry_that_falls_silent_is_not_waited_for_for_ever() {
        let mut session = begun(1000);
        session.silence = Duration::from_millis(100);
        let error = session.get(&session.address("blobs/a"), "a:1").unwrap_err();
        assert!(matches!(error, PushError::Unreachable { .. }), "{error}");
    }

    #[test]
    fn what_is_too_large_is_not_asked_for_again() {
        let mut session = begun(LARGEST + 1);
        let error = session.get(&session.address("blobs/a"), "a:1").unwrap_err();
        assert_eq!(error.to_string(), "cannot use a:1: a part of it has more than 33.5 MB");
        assert!(!error.is_transient());
    }
}
