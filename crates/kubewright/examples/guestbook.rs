//! Guestbook: a Deployment and a Service per object, and a status that tells the truth.
//!
//!     cargo run --example guestbook -- generate crd | kubectl apply --server-side -f -
//!     cargo run --example guestbook

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::{Pod, Service};
use kubewright::prelude::*;
use serde::{Deserialize, Serialize};

/// A page that everybody can write on.
#[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
#[kube(group = "demo.kubewright.dev", version = "v1", kind = "Guestbook", namespaced)]
#[kube(status = "GuestbookStatus", shortname = "gb")]
#[serde(rename_all = "camelCase")]
struct GuestbookSpec {
    /// How many instances serve it.
    #[serde(default = "one")]
    #[schemars(range(min = 0, max = 100))]
    size: i32,
    /// The image that serves it.
    image: String,
}

fn one() -> i32 {
    1
}

/// What is known about a guestbook.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct GuestbookStatus {
    /// How many instances are ready.
    #[serde(default)]
    ready: i32,
    /// What is the case, and since when.
    #[serde(default)]
    conditions: Vec<Condition>,
}

impl Conditions for GuestbookStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

struct Guestbooks {
    deployments: Owned<Deployment>,
    services: Owned<Service>,
    pods: Reads<Pod>,
}

impl Controller for Guestbooks {
    type Kind = Guestbook;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Guestbook>) -> Self {
        Self {
            deployments: wiring.owns(),
            services: wiring.owns(),
            pods: wiring.reads_labelled("demo.kubewright.dev/guestbook"),
        }
    }

    async fn reconcile(
        &self,
        guestbook: &Guestbook,
        pass: &Pass<Guestbook>,
    ) -> Result<Outcome, Error> {
        tokio::try_join!(
            self.deployments.apply(pass, desired::deployment(guestbook)),
            self.services.apply(pass, desired::service(guestbook)),
        )?;
        pass.status(status::of(guestbook, &self.pods.of(pass)?));
        Ok(Outcome::Done)
    }
}

/// What there should be: plain functions, without a cluster.
mod desired {
    use kubewright::names::{label_value, service_name};
    use serde_json::json;

    use super::{Deployment, Guestbook, ResourceExt, Service};

    pub(super) fn deployment(guestbook: &Guestbook) -> Deployment {
        let labels = labels(guestbook);
        typed(json!({
            "metadata": {"name": guestbook.name_any()},
            "spec": {
                "replicas": guestbook.spec.size,
                "selector": {"matchLabels": labels},
                "template": {
                    "metadata": {"labels": labels},
                    "spec": {"containers": [{"name": "guestbook", "image": guestbook.spec.image}]},
                },
            },
        }))
    }

    pub(super) fn service(guestbook: &Guestbook) -> Service {
        typed(json!({
            "metadata": {"name": service_name(&guestbook.name_any())},
            "spec": {"selector": labels(guestbook), "ports": [{"name": "http", "port": 80}]},
        }))
    }

    fn labels(guestbook: &Guestbook) -> serde_json::Value {
        json!({"demo.kubewright.dev/guestbook": label_value(&guestbook.name_any())})
    }

    /// A manifest as its type: a typing error in it is found by the first test.
    fn typed<K: serde::de::DeserializeOwned>(manifest: serde_json::Value) -> K {
        serde_json::from_value(manifest).expect("the manifest fits its type")
    }
}

/// What is: a plain function too.
mod status {
    use kubewright::conditions::{self, Status};

    use super::{Guestbook, GuestbookStatus, Pod};

    pub(super) fn of(guestbook: &Guestbook, pods: &[Pod]) -> GuestbookStatus {
        let is_ready = |pod: &&Pod| {
            let status = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
            status.into_iter().flatten().any(|is| is.type_ == "Ready" && is.status == "True")
        };
        let ready = i32::try_from(pods.iter().filter(is_ready).count()).unwrap_or(i32::MAX);
        let wanted = guestbook.spec.size;
        let message = format!("{ready} of {wanted} instances are ready");
        let available = if ready >= wanted {
            conditions::new("Available", Status::True, "AllReady", message)
        } else {
            conditions::new("Available", Status::False, "NotReady", message)
        };
        GuestbookStatus { ready, conditions: vec![available] }
    }
}

fn main() -> ExitCode {
    Operator::new("guestbook-operator").controller::<Guestbooks>().main()
}
