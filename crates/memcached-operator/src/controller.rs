//! The controller: what it may touch, and the steps of a pass. No decision is made here.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use kubewright::kube::ResourceExt as _;
use kubewright::{Controller, Outcome, Owned, Pass, Reads, Wiring};
use memcached_api::condition::Reason;
use memcached_api::labels::INSTANCE;
use memcached_api::v1alpha1::Memcached;

use crate::IMAGE_VARIABLE;
use crate::desired::{Desired, desired};
use crate::error::Error;
use crate::events::{News, news};
use crate::reconcile::gather::gather;
use crate::reconcile::validate::validate;
use crate::status::{Progress, finalizing, status};

/// Looks after all objects of the kind `Memcached`.
#[derive(Debug)]
pub struct Memcacheds {
    deployments: Owned<Deployment>,
    services: Owned<Service>,
    pods: Reads<Pod>,
    default_image: Option<String>,
}

impl Controller for Memcacheds {
    type Kind = Memcached;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Memcached>) -> Self {
        Self {
            deployments: wiring.keeps(),
            services: wiring.keeps(),
            pods: wiring.reads_labelled(INSTANCE),
            default_image: std::env::var(IMAGE_VARIABLE).ok().filter(|image| !image.is_empty()),
        }
    }

    async fn reconcile(
        &self,
        memcached: &Memcached,
        pass: &Pass<Memcached>,
    ) -> Result<Outcome, Error> {
        let observed = gather(&self.pods.of(pass)?);
        let cluster = validate(memcached, self.default_image.as_deref());
        let applied = match &cluster {
            Ok(cluster) => self.apply(pass, desired(cluster)).await,
            Err(invalid) => Err(invalid.clone().into()),
        };
        let progress = match &applied {
            Ok(deployment) => Progress::Applied(deployment),
            Err(error) => Progress::Failed(error),
        };
        let status = status(memcached, cluster.as_ref().ok(), &observed, progress);
        for news in news(memcached.status.as_ref(), &status) {
            match news {
                News::Available(message) => pass.event("Available", message),
                News::Degraded(reason, message) => pass.warn(reason.as_str(), message),
            }
        }
        pass.status(status);
        applied.map(|_| Outcome::Done)
    }

    async fn finalize(
        &self,
        memcached: &Memcached,
        pass: &Pass<Memcached>,
    ) -> Result<Outcome, Error> {
        pass.status(finalizing(memcached));
        pass.warn(Reason::Finalizing.as_str(), going(memcached));
        Ok(Outcome::Done) // the children have an owner reference, and go with their owner
    }
}

impl Memcacheds {
    /// Both at once: neither needs the other.
    async fn apply(&self, pass: &Pass<Memcached>, desired: Desired) -> Result<Deployment, Error> {
        let Desired { deployment, service } = desired;
        let (deployment, _) = tokio::try_join!(
            self.deployments.apply(pass, deployment),
            self.services.apply(pass, service),
        )?;
        Ok(deployment)
    }
}

fn going(memcached: &Memcached) -> String {
    let (name, namespace) = (memcached.name_any(), memcached.namespace().unwrap_or_default());
    format!("Memcached {name} is being deleted from the namespace {namespace}")
}
