//! `kubewright undeploy`: the operator out of a cluster, and nothing left that waits for it.
//!
//! Owns the order. The operator goes first, and takes its finalizers along; then what would ask it before an
//! object changes or goes, since nobody answers any more; what it had no time for is done here, then the kinds go
//! with their objects, then its rights, then its namespace.

mod certificate;
mod namespace;

use clap::Args;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::{Api, Client, ResourceExt as _};
use kubewright::cluster;
use serde_json::Value;

use super::deploy::{Place, Scope, deployment};
use crate::cluster::{Cluster, print};
use crate::output;
use crate::project::Project;

#[derive(Debug, Args)]
pub(super) struct Undeploy {
    #[command(flatten)]
    place: Place,
    /// Leave the operator's kinds and all their objects, with what runs for them
    #[arg(long)]
    keep_crd: bool,
    #[command(flatten)]
    cluster: Cluster,
}

/// What an installation is made of, by when it has to go.
struct Parts {
    deployment: Value,
    /// What has the API server call the operator.
    calls: Vec<Value>,
    definitions: Vec<CustomResourceDefinition>,
    rest: Vec<Value>,
    namespace: String,
}

impl Parts {
    fn of(documents: Vec<Value>) -> anyhow::Result<Self> {
        let deployment = deployment(&documents)?.clone();
        let namespace = deployment["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        let (mut calls, mut definitions, mut rest) = (Vec::new(), Vec::new(), Vec::new());
        for document in documents {
            match document["kind"].as_str() {
                Some("CustomResourceDefinition") => {
                    definitions.push(serde_json::from_value(document)?);
                }
                Some("MutatingWebhookConfiguration" | "ValidatingWebhookConfiguration") => {
                    calls.push(document);
                }
                Some("Deployment" | "Namespace") => {}
                _ => rest.push(document),
            }
        }
        Ok(Self { deployment, calls, definitions, rest, namespace })
    }
}

impl Undeploy {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let project = Project::find()?;
        let parts = Parts::of(self.place.documents(&project, &[])?)?;
        self.cluster.connected(async |client| {
            let parts = match self.place.scope {
                None if is_namespaced(&client, &parts).await? => {
                    let namespace = self.place.namespace.clone();
                    let place = Place { namespace, scope: Some(Scope::Namespaced) };
                    Parts::of(place.documents(&project, &[])?)?
                }
                _ => parts,
            };
            self.remove(&client, &project.name, parts).await
        })
    }

    async fn remove(&self, client: &Client, operator: &str, parts: Parts) -> anyhow::Result<()> {
        let Parts { deployment, calls, definitions, rest, namespace } = parts;
        self.announce(client, &definitions).await?;
        cluster::delete(client, &[deployment], &mut print).await?;
        cluster::delete(client, &calls, &mut print).await?;
        if self.keep_crd {
            // Or deleting them would wait for an operator that is not there.
            cluster::remove_finalizers(client, operator, &definitions).await?;
        } else {
            cluster::remove_definitions(client, operator, &definitions, &mut print).await?;
        }
        cluster::delete(client, &rest, &mut print).await?;
        let certificates = certificate::made_by(client, operator, &namespace).await?;
        cluster::delete(client, &certificates, &mut print).await?;
        let kept = if self.keep_crd { definitions.as_slice() } else { &[] };
        namespace::remove(client, operator, &namespace, kept).await
    }

    /// Says how many objects go, before they do.
    async fn announce(
        &self,
        client: &Client,
        definitions: &[CustomResourceDefinition],
    ) -> anyhow::Result<()> {
        for definition in definitions {
            let count = cluster::count(client, std::slice::from_ref(definition)).await?;
            let name = definition.name_any();
            if count > 0 {
                output::write(format!("{}\n", announcement(count, &name, self.keep_crd)))?;
            }
        }
        Ok(())
    }
}

fn announcement(count: usize, name: &str, keep: bool) -> String {
    let objects = if count == 1 { "1 object".to_owned() } else { format!("{count} objects") };
    if keep {
        format!("{objects} of {name} stay, and what runs for them")
    } else {
        format!("{objects} of {name} will be deleted, with what runs for them")
    }
}

/// True if the operator that is there was installed for one namespace; its settings say so.
async fn is_namespaced(client: &Client, parts: &Parts) -> anyhow::Result<bool> {
    let api: Api<Deployment> = Api::namespaced(client.clone(), &parts.namespace);
    let name = parts.deployment["metadata"]["name"].as_str().unwrap_or_default();
    let found = serde_json::to_value(api.get_opt(name).await?)?;
    let containers = found["spec"]["template"]["spec"]["containers"].as_array();
    let mut variables = containers
        .into_iter()
        .flatten()
        .flat_map(|container| container["env"].as_array().into_iter().flatten());
    Ok(variables.any(|variable| variable["name"] == "WATCH_NAMESPACE"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_goes_and_what_stays_is_counted_in_words() {
        assert_eq!(
            announcement(2, "memos.example.com", false),
            "2 objects of memos.example.com will be deleted, with what runs for them"
        );
        assert!(announcement(1, "a", true).starts_with("1 object of a stay"));
    }

    #[test]
    fn the_parts_of_an_installation_go_at_different_times() {
        let object =
            |kind: &str| json!({ "kind": kind, "metadata": { "name": "a", "namespace": "n" } });
        let call = "ValidatingWebhookConfiguration";
        let kinds = ["Namespace", "Role", "ServiceAccount", "Deployment", call];
        let parts = Parts::of(kinds.map(object).to_vec()).unwrap();
        assert_eq!(parts.namespace, "n");
        assert_eq!(parts.calls, [object(call)]);
        assert_eq!(parts.rest, [object("Role"), object("ServiceAccount")]);
    }
}
