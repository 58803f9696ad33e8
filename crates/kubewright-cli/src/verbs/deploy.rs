//! `kubewright deploy`: the operator in a cluster, running. Owns the order: what the operator says that
//! it needs is applied, then waited for.

mod rollout;
mod trouble;

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use k8s_openapi::api::core::v1::Namespace;
use kube::api::PostParams;
use kube::{Api, Client};
use kubewright::cluster::{self, Change, Step};
use serde_json::{Value, json};

use crate::archive::Archive;
use crate::cluster::{Cluster, note, print};
use crate::output::Format;
use crate::project::Project;
use crate::registry::Reference;

/// Which image the pods were started for: the same name may stand for another one after a build.
const DIGEST: &str = "kubewright.dev/image-id";
/// What marks a namespace as the operator's; the generated one has it too.
pub(super) const OWNER: &str = "app.kubernetes.io/name";

#[derive(Debug, Args)]
pub(super) struct Deploy {
    /// The operator's image, which the cluster must be able to get [default: the project's]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    #[command(flatten)]
    place: Place,
    /// Narrow an integer field of the operator's kinds, for example spec.size=1..5; can be repeated
    #[arg(long, value_name = "FIELD=MIN..MAX")]
    bounds: Vec<String>,
    #[command(flatten)]
    cluster: Cluster,
    #[command(flatten)]
    format: Format,
}

/// Where an operator is, and what it looks after.
#[derive(Debug, Args)]
pub(super) struct Place {
    /// The namespace that the operator runs in [default: its name and `-system`]
    #[arg(long)]
    pub(super) namespace: Option<String>,
    /// Which namespaces it looks after [default: cluster]
    #[arg(long)]
    pub(super) scope: Option<Scope>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum Scope {
    /// All of them
    Cluster,
    /// The one that it runs in
    Namespaced,
}

impl Place {
    /// What the operator's `generate install` is to be given.
    pub(super) fn arguments(&self) -> Vec<String> {
        let scope = self.scope.map(|scope| match scope {
            Scope::Cluster => "cluster",
            Scope::Namespaced => "namespaced",
        });
        let namespace = self.namespace.as_deref().map(|name| ["--namespace", name]);
        let scope = scope.map(|scope| ["--scope", scope]);
        [namespace, scope].into_iter().flatten().flatten().map(str::to_owned).collect()
    }

    /// All objects of the operator's installation.
    pub(super) fn documents(
        &self,
        project: &Project,
        more: &[String],
    ) -> anyhow::Result<Vec<Value>> {
        let verb = ["generate", "install"].map(str::to_owned);
        let text = project.ask(&[&verb, &self.arguments()[..], more].concat())?;
        let documents = cluster::documents(&text)?;
        Ok(documents)
    }
}

impl Deploy {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let project = Project::find()?;
        let image = self.image(&project)?;
        let mut more = vec!["--image".to_owned(), image.clone()];
        more.extend(self.bounds.iter().flat_map(|bounds| ["--bounds".to_owned(), bounds.clone()]));
        let mut documents = self.place.documents(&project, &more)?;
        if let Some(archive) = built(&project, &image) {
            mark(&mut documents, &archive.id());
        }
        let deployment = deployment(&documents)?.clone();
        let mut tell: fn(Step) = if self.format.is_json() { note } else { print };
        self.cluster.connected(async |client| {
            provide_namespace(&client, &project.name, &documents, &mut tell).await?;
            let manager = format!("{}-install", project.name);
            cluster::apply(&client, &manager, &documents, &mut tell).await?;
            let running = rollout::wait(&client, &deployment, &image).await?;
            self.format.answer(&running, || {
                format!("{} runs in namespace {}\n", project.name, running.namespace)
            })
        })
    }

    /// Also one that is named by its digest, which none that is built here is.
    fn image(&self, project: &Project) -> anyhow::Result<String> {
        match &self.image {
            Some(image) => Ok(image.clone()),
            None => Ok(project.image_or(None)?.to_string()),
        }
    }
}

/// The image called `image`, if it was built here.
fn built(project: &Project, image: &str) -> Option<Archive> {
    let image: Reference = image.parse().ok()?;
    Archive::built(project, &image.to_string()).ok()
}

/// The operator's Deployment.
pub(super) fn deployment(documents: &[Value]) -> anyhow::Result<&Value> {
    let found = documents.iter().find(|document| document["kind"] == "Deployment");
    found.context("the operator's installation has no Deployment")
}

/// Pods are replaced when the image of the same name is another one.
fn mark(documents: &mut [Value], id: &str) {
    for document in documents.iter_mut().filter(|document| document["kind"] == "Deployment") {
        document["spec"]["template"]["metadata"]["annotations"][DIGEST] = json!(id);
    }
}

/// Makes a namespace that somebody chose and that is not there; the operator's own is among the documents.
async fn provide_namespace(
    client: &Client,
    operator: &str,
    documents: &[Value],
    tell: &mut fn(Step),
) -> anyhow::Result<()> {
    let name = deployment(documents)?["metadata"]["namespace"].as_str().unwrap_or_default();
    if documents.iter().any(|document| document["kind"] == "Namespace") {
        return Ok(());
    }
    let api: Api<Namespace> = Api::all(client.clone());
    if api
        .get_opt(name)
        .await
        .with_context(|| format!("cannot look for namespace {name}"))?
        .is_some()
    {
        return Ok(());
    }
    let namespace = json!({ "metadata": { "name": name, "labels": { OWNER: operator } } });
    let made = api.create(&PostParams::default(), &serde_json::from_value(namespace)?).await;
    made.with_context(|| format!("cannot make the namespace {name}"))?;
    tell(Step { resource: "namespace".to_owned(), name: name.to_owned(), change: Change::Created });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_is_passed_on() {
        let place = |namespace: Option<&str>, scope| Place {
            namespace: namespace.map(str::to_owned),
            scope,
        };
        assert!(place(None, None).arguments().is_empty());
        let all = place(Some("a"), Some(Scope::Namespaced)).arguments();
        assert_eq!(all, ["--namespace", "a", "--scope", "namespaced"]);
    }

    #[test]
    fn another_image_of_the_same_name_changes_the_pods() {
        let mut documents = vec![json!({ "kind": "Role" }), json!({ "kind": "Deployment" })];
        mark(&mut documents, "sha256:1");
        let annotations = &documents[1]["spec"]["template"]["metadata"]["annotations"];
        assert_eq!(annotations[DIGEST], "sha256:1");
        assert_eq!(documents[0], json!({ "kind": "Role" }));
    }
}
