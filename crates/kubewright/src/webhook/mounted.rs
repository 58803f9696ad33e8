//! Certificates that others make and mount as files: cert-manager's by a flag, those of the Operator Lifecycle
//! Manager where it puts them. Whoever makes them also tells the API server whom to trust.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use tracing::{info, warn};

use super::Standing;
use super::certificate::Current;
use crate::error::chain;
use crate::flags::Flags;
use crate::metrics::Webhooks;

/// As often as controller-runtime looks. A file system need not tell of changes, so nothing else is relied on.
const LOOK: Duration = Duration::from_secs(10);

/// Where the Operator Lifecycle Manager mounts them, for webhooks and for servers of an API.
const MOUNTED: [(&str, &str, &str); 2] = [
    ("/tmp/k8s-webhook-server/serving-certs", "tls.crt", "tls.key"),
    ("/apiserver.local.config/certificates", "apiserver.crt", "apiserver.key"),
];

/// A certificate and its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Files {
    pub(crate) certificate: PathBuf,
    pub(crate) key: PathBuf,
}

/// The files that the flags name, or those that are mounted; none if the operator is to make its own.
pub(crate) fn found(flags: &Flags) -> Option<Files> {
    found_below(Path::new("/"), flags)
}

fn found_below(root: &Path, flags: &Flags) -> Option<Files> {
    let files = |folder: &Path, certificate: &str, key: &str| Files {
        certificate: folder.join(certificate),
        key: folder.join(key),
    };
    if let Some(folder) = &flags.webhook_cert_path {
        return Some(files(folder, &flags.webhook_cert_name, &flags.webhook_cert_key));
    }
    let mounted = MOUNTED.iter().map(|(folder, certificate, key)| {
        files(&root.join(folder.trim_start_matches('/')), certificate, key)
    });
    mounted.into_iter().find(|files| files.certificate.is_file())
}

impl Files {
    /// Serves what the files say, and what they come to say, until it is dropped. A pair that cannot be
    /// served, as one that is half written, changes nothing.
    pub(crate) async fn follow(self, current: Arc<Current>, standing: Standing, metrics: Webhooks) {
        let mut served = None;
        loop {
            match self.read() {
                Ok(read) if served.as_ref() != Some(&read) => {
                    let set = current.set(&read.0, &read.1);
                    metrics.read_certificate(set.is_ok());
                    match set {
                        Ok(()) => {
                            let path = self.certificate.display();
                            info!(%path, "serving the webhooks with a certificate");
                            standing.set(Ok(()));
                            served = Some(read);
                        }
                        Err(error) => self.tell(&standing, served.is_some(), &chain(&error)),
                    }
                }
                Ok(_) => {}
                Err(error) => {
                    metrics.read_certificate(false);
                    self.tell(&standing, served.is_some(), &error.to_string());
                }
            }
            sleep(LOOK).await;
        }
    }

    fn read(&self) -> std::io::Result<(Vec<u8>, Vec<u8>)> {
        Ok((std::fs::read(&self.certificate)?, std::fs::read(&self.key)?))
    }

    fn tell(&self, standing: &Standing, is_served: bool, error: &str) {
        let path = self.certificate.display();
        warn!(%path, error, "cannot use a certificate");
        if !is_served {
            standing.set(Err(format!("cannot use {path}: {error}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::metrics::Metrics;
    use crate::webhook::certificate::{Pair, make};

    fn write(files: &Files, pair: &Pair) {
        std::fs::write(&files.certificate, &pair.certificate).unwrap();
        std::fs::write(&files.key, &pair.key).unwrap();
    }

    #[test]
    fn what_the_lifecycle_manager_mounts_is_found_and_flags_are_stronger() {
        let root = tempfile::tempdir().unwrap();
        let mut flags = Flags::default();
        assert_eq!(found_below(root.path(), &flags), None);
        for (folder, certificate, key) in MOUNTED.iter().rev() {
            let folder = root.path().join(folder.trim_start_matches('/'));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join(certificate), "").unwrap();
            let expected = Files { certificate: folder.join(certificate), key: folder.join(key) };
            assert_eq!(found_below(root.path(), &flags), Some(expected));
        }
        flags.webhook_cert_path = Some("/certificates".into());
        let expected = Files {
            certificate: "/certificates/tls.crt".into(),
            key: "/certificates/tls.key".into(),
        };
        assert_eq!(found_below(root.path(), &flags), Some(expected));
    }

    #[tokio::test(start_paused = true)]
    async fn files_that_change_are_served_and_those_that_cannot_be_change_nothing() {
        let root = tempfile::tempdir().unwrap();
        let files = Files { certificate: root.path().join("a"), key: root.path().join("b") };
        let [first, second] = [1, 2].map(|_| make(&[], Clock::system().now(), 90).unwrap().pair);
        let (current, standing) = (Arc::new(Current::default()), Standing::new());
        let metrics = Metrics::with_webhooks().webhooks().unwrap();
        tokio::spawn(files.clone().follow(current.clone(), standing.clone(), metrics));
        sleep(LOOK).await;
        assert!(standing.get().unwrap_err().contains("cannot use"), "{:?}", standing.get());
        write(&files, &first);
        sleep(LOOK * 2).await;
        assert_eq!(standing.get(), Ok(()));
        let served = current.served();
        std::fs::write(&files.certificate, &second.certificate).unwrap(); // without its key
        sleep(LOOK * 2).await;
        assert_eq!((current.served(), standing.get()), (served.clone(), Ok(())));
        write(&files, &second);
        sleep(LOOK * 2).await;
        assert_ne!(current.served(), served);
    }
}
