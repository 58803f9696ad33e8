//! Keeps the self-made certificate: in a Secret that all replicas share, served by this one, trusted by the API
//! server, renewed in time.
//!
//! Every replica does it, leading or not, because every replica is called; the resourceVersion of the Secret
//! decides who is first. When to do what is decided by [`super::rotation`].

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::Secret;
use kube::api::PostParams;
use kube::{Api, Client};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tracing::{info, warn};

use super::Standing;
use super::certificate::{CertificateError, Current, Made, make};
use super::rotation::{Kept, Step, Timing};
use super::secret::{bundle, read, written};
use super::sound::{self, Unsound};
use super::trust::{Trust, TrustError, follow};
use crate::clock::Clock;
use crate::error::chain;
use crate::metrics::Webhooks;
use crate::watch::delay::Delay;

/// News come in bursts: a change of our own is told by every watch.
const SETTLE: Duration = Duration::from_millis(200);
/// API servers learn of a change through their watches, and a definition that has changed is taken down and
/// set up again: who asks in that moment is refused.
const KNOWN: Duration = Duration::from_secs(1);
/// Without news it is looked all the same, should a watch have missed something.
const LONGEST: Duration = Duration::from_hours(1);

/// Why there is no certificate, or nobody trusts it.
#[derive(Debug, thiserror::Error)]
enum KeeperError {
    #[error("cannot {doing} Secret {name}")]
    Secret {
        doing: &'static str,
        name: String,
        #[source]
        source: Box<kube::Error>,
    },
    #[error("cannot make a certificate")]
    Make(#[source] rcgen::Error),
    #[error("cannot serve the certificate")]
    Serve(#[source] CertificateError),
    #[error("the API server does not trust this operator")]
    Trust(#[source] TrustError),
}

/// What it takes.
pub(crate) struct Keeper {
    pub(crate) client: Client,
    /// The operator's name, its namespace, and that of the Secret.
    pub(crate) operator: String,
    pub(crate) namespace: String,
    pub(crate) secret: String,
    /// How the API server calls this operator.
    pub(crate) hosts: Vec<String>,
    pub(crate) trust: Trust,
    pub(crate) current: Arc<Current>,
    pub(crate) standing: Standing,
    pub(crate) clock: Clock,
    pub(crate) timing: Timing,
    pub(crate) metrics: Webhooks,
    /// What is served, should the Secret get lost.
    pub(crate) memory: Option<Memory>,
}

/// What a keeper has seen last.
pub(crate) struct Memory(Kept);

impl Keeper {
    /// Runs until it is dropped.
    pub(crate) async fn run(mut self, watches: Client) {
        let news = Arc::new(Notify::new());
        let mut followed = JoinSet::new();
        for follow in self.trust.news(&watches, &news) {
            followed.spawn(follow);
        }
        let secrets: Api<Secret> = Api::namespaced(watches, &self.namespace);
        followed.spawn(follow(secrets, self.secret.clone(), news.clone()));
        let mut delay = Delay::default();
        loop {
            match self.look().await {
                Ok(None) => {} // something was written: what came of it is looked at
                Ok(Some(wait)) => {
                    delay.reset();
                    self.standing.set(Ok(()));
                    if timeout(wait.min(LONGEST), news.notified()).await.is_ok() {
                        sleep(SETTLE).await;
                    }
                }
                Err(error) => {
                    self.tell(&chain(&error));
                    // What is missing may come at any moment.
                    tokio::select! {
                        () = news.notified() => sleep(SETTLE).await,
                        () = delay.wait() => {}
                    }
                }
            }
        }
    }

    /// What is served and trusted stays so: an API server that does not answer at the moment must not take all
    /// replicas out of the Service.
    fn tell(&self, error: &str) {
        if self.standing.get().is_ok() {
            warn!(error, "cannot look after the certificate of the webhooks");
        } else {
            warn!(error, "webhooks cannot be called yet");
            self.standing.set(Err(error.to_owned()));
        }
    }

    /// Serves what the Secret says, has it trusted, and takes the step that is due. If there was none, says
    /// how long nothing has to be done.
    async fn look(&mut self) -> Result<Option<Duration>, KeeperError> {
        let found = self.secrets().get_opt(&self.secret).await;
        let found = found.map_err(|source| self.failed("read", source))?;
        let Some(kept) = found.as_ref().and_then(|found| self.usable(found)) else {
            let kept = self.restored()?;
            self.put(&kept, found.as_ref()).await?;
            if found.is_some() {
                sleep(KNOWN).await; // should somebody else find ours unusable: not without end
            }
            return Ok(None);
        };
        self.serve(&kept)?;
        let trusted = self.trust.establish(&bundle(&kept.authorities)).await;
        let now = self.clock.now();
        let step = kept.step(now, self.timing);
        // Nothing that relies on being trusted may happen before it is so.
        if step != Step::Replace && trusted.map_err(KeeperError::Trust)? {
            sleep(KNOWN).await;
        }
        let changed = match step {
            Step::Wait(wait) => return Ok(Some(wait)),
            Step::Replace => Kept::begin(self.made()?, now, self.timing),
            Step::Prepare => kept.prepared(self.made()?, now),
            Step::Promote => kept.promoted(now, self.timing),
            Step::Forget => kept.forgotten(now),
        };
        info!(step = ?step, secret = self.secret, "renewing the certificate of the webhooks");
        self.put(&changed, found.as_ref()).await?;
        Ok(None)
    }

    /// What a Secret says, unless it is damaged: then it is as good as absent.
    fn usable(&self, found: &Secret) -> Option<Kept> {
        let checked = match read(found) {
            Some(kept) => self.check(&kept).map(|()| kept).map_err(|unsound| chain(&unsound)),
            None => Err("it is not one of ours".to_owned()),
        };
        let warned = |error: &String| {
            let (namespace, name) = (&self.namespace, &self.secret);
            warn!(
                namespace,
                name, error, "the Secret of the webhooks is of no use: writing it anew"
            );
        };
        checked.inspect_err(warned).ok()
    }

    fn check(&self, kept: &Kept) -> Result<(), Unsound> {
        let host = self.hosts.first().map_or("localhost", String::as_str);
        sound::check(kept, host, self.clock.now())
    }

    fn serve(&mut self, kept: &Kept) -> Result<(), KeeperError> {
        if self.memory.as_ref().is_some_and(|Memory(known)| known == kept) {
            return Ok(());
        }
        let pair = &kept.serving;
        let served = self.current.set(pair.certificate.as_bytes(), pair.key.as_bytes());
        self.metrics.read_certificate(served.is_ok());
        served.map_err(KeeperError::Serve)?;
        self.memory = Some(Memory(kept.clone()));
        Ok(())
    }

    /// What was served before the Secret went, so that nobody notices; or a new one.
    fn restored(&self) -> Result<Kept, KeeperError> {
        let now = self.clock.now();
        let known = self.memory.as_ref().map(|Memory(kept)| kept.clone());
        let is_good =
            |kept: &Kept| kept.step(now, self.timing) != Step::Replace && self.check(kept).is_ok();
        match known.filter(is_good) {
            Some(kept) => Ok(kept),
            None => Ok(Kept::begin(self.made()?, now, self.timing)),
        }
    }

    fn made(&self) -> Result<Made, KeeperError> {
        make(&self.hosts, self.clock.now(), self.timing.days).map_err(KeeperError::Make)
    }

    /// Writes it, unless somebody else was faster: then that is looked at next.
    async fn put(&self, kept: &Kept, found: Option<&Secret>) -> Result<(), KeeperError> {
        let mut secret = written(kept, &self.operator, &self.secret);
        let parameters = PostParams { field_manager: Some(self.operator.clone()), dry_run: false };
        let answer = match found {
            None => self.secrets().create(&parameters, &secret).await,
            Some(found) => {
                secret.metadata.resource_version = found.metadata.resource_version.clone();
                secret.type_ = found.type_.clone(); // cannot be changed
                self.secrets().replace(&self.secret, &parameters, &secret).await
            }
        };
        match answer {
            Ok(_) => Ok(()),
            Err(kube::Error::Api(status)) if status.code == 409 => Ok(()),
            Err(source) => Err(self.failed("write", source)),
        }
    }

    fn secrets(&self) -> Api<Secret> {
        Api::namespaced(self.client.clone(), &self.namespace)
    }

    fn failed(&self, doing: &'static str, source: kube::Error) -> KeeperError {
        let name = format!("{}/{}", self.namespace, self.secret);
        KeeperError::Secret { doing, name, source: Box::new(source) }
    }
}
