//! The leases of a package's operator: nobody owns them, and they would stay.

use std::time::Instant;

use anyhow::Context as _;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Pod;
use kube::{Api, ResourceExt as _};
use serde_json::{Value, json};

use super::belonging::{is_given_back, is_held_by};
use super::package::Package;
use super::{LIMIT, POLL, remove};
use crate::cluster::print;
use crate::olm::objects::{Objects, resource};

/// What pods have that OLM has put there.
const OF_OLM: &str = "olm.operatorNamespace";

impl Package<'_> {
    /// The leases that the operator's pods hold: nobody owns them, and they would stay. To be asked for while the
    /// operator runs, since one that ends lets go of its lease.
    pub(super) async fn leases(&self, releases: &[Value]) -> Result<Vec<Value>, kube::Error> {
        let within = Objects::within(self.client, self.namespace);
        let mut found = within.labelled(&resource("coordination.k8s.io/v1", "Lease"), "").await?;
        found.retain(|lease| is_held_by(lease, releases) || is_given_back(lease, self.name));
        Ok(found)
    }

    /// The lease of an operator whose release went before, in a run that was interrupted; true if it was there.
    pub(super) async fn remove_lease(&self) -> anyhow::Result<bool> {
        let cannot = "cannot look for the operator's lease";
        let leases: Api<Lease> = Api::namespaced(self.client.clone(), self.namespace);
        let begun = Instant::now();
        while let Some(lease) = leases.get_opt(self.name).await.context(cannot)? {
            let holder = lease.spec.and_then(|spec| spec.holder_identity).unwrap_or_default();
            match self.holder(&holder).await.context(cannot)? {
                Holder::Gone => {
                    let lease = json!({
                        "apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                        "metadata": { "name": self.name, "namespace": self.namespace },
                    });
                    remove(self.client, &lease, print).await?;
                    return Ok(true);
                }
                Holder::Going if begun.elapsed() < LIMIT => tokio::time::sleep(POLL).await,
                Holder::Going | Holder::Alive => return Ok(false),
            }
        }
        Ok(false)
    }

    /// How whoever holds the lease is. Who is not called as pods of the package are may be anywhere.
    async fn holder(&self, identity: &str) -> Result<Holder, kube::Error> {
        let Some(pod) = identity.split('_').next().filter(|pod| !pod.is_empty()) else {
            return Ok(Holder::Gone);
        };
        if !pod.starts_with(&format!("{}-", self.name)) {
            return Ok(Holder::Alive);
        }
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), self.namespace);
        Ok(match pods.get_metadata_opt(pod).await? {
            None => Holder::Gone,
            Some(pod) => {
                let is_of_olm = pod.annotations().contains_key(OF_OLM);
                let is_going = pod.metadata.deletion_timestamp.is_some();
                // Its release is gone, so what OLM put there goes as soon as the garbage collector has seen it.
                if is_going || is_of_olm { Holder::Going } else { Holder::Alive }
            }
        })
    }
}

/// Who holds a lease.
enum Holder {
    Alive,
    Going,
    Gone,
}
