//! The operator that `runtime` measures: one Deployment per object, and a status. No more than what a cache
//! of two kinds is measured with; the objects are of the size of real ones.

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A page that is served.
#[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
#[kube(group = "bench.kubewright.dev", version = "v1", kind = "Page", namespaced)]
#[kube(status = "PageStatus")]
#[serde(rename_all = "camelCase")]
pub(crate) struct PageSpec {
    /// How many instances serve it.
    pub(crate) size: i32,
    /// The image that serves it.
    pub(crate) image: String,
    /// What the program is told, as environment variables.
    #[serde(default)]
    pub(crate) settings: Vec<Setting>,
}

/// A name and a value.
#[derive(KubeSchema, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Setting {
    /// The name.
    pub(crate) name: String,
    /// The value.
    pub(crate) value: String,
}

/// What is known about a page.
#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PageStatus {
    /// How many instances are ready.
    #[serde(default)]
    pub(crate) ready: i32,
    /// What is the case, and since when.
    #[serde(default)]
    pub(crate) conditions: Vec<Condition>,
}

impl Conditions for PageStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

struct Pages {
    deployments: Owned<Deployment>,
}

impl Controller for Pages {
    type Kind = Page;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Page>) -> Self {
        Self { deployments: wiring.owns() }
    }

    async fn reconcile(&self, page: &Page, pass: &Pass<Page>) -> Result<Outcome, Error> {
        let deployment = self.deployments.apply(pass, deployment(page)).await?;
        let ready = deployment.status.and_then(|status| status.ready_replicas).unwrap_or(0);
        pass.status(PageStatus { ready, ..PageStatus::default() });
        Ok(Outcome::Done)
    }
}

fn deployment(page: &Page) -> Deployment {
    let labels = json!({
        "app.kubernetes.io/name": "page",
        "app.kubernetes.io/instance": page.name_any(),
    });
    let manifest = json!({
        "metadata": {"name": page.name_any(), "labels": labels},
        "spec": {
            "replicas": page.spec.size,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [{
                    "name": "page",
                    "image": page.spec.image,
                    "env": page.spec.settings,
                    "ports": [{"name": "http", "containerPort": 8080}],
                    "resources": {
                        "requests": {"cpu": "50m", "memory": "64Mi"},
                        "limits": {"memory": "64Mi"},
                    },
                }]},
            },
        },
    });
    serde_json::from_value(manifest).expect("the manifest fits its type")
}

fn main() -> ExitCode {
    Operator::new("page-operator").controller::<Pages>().main()
}
