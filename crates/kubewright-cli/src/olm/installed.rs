//! The OLM that is on a cluster: whether there is one, whose it is, how its parts are, what it runs. Looks only.

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::ListParams;
use kube::{Api, Client, Error, ResourceExt as _};
use serde::Serialize;

use super::OLM;
use super::objects::{Kind, Objects, text};

/// The Deployments of OLM, by the labels that they have in every installation: what is installed, and what OLM then
/// installs of itself.
const PARTS: [&str; 2] = [
    "app in (olm-operator,catalog-operator)",
    "olm.owner=packageserver,olm.owner.kind=ClusterServiceVersion",
];
/// What OLM unpacks and we serve with where it does not say.
const OPM: &str = "quay.io/operator-framework/opm:v1.55.0";

/// What is there of OLM.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Installed {
    /// The version that was installed by us; none if somebody else did.
    pub(crate) version: Option<String>,
    pub(crate) components: Vec<Component>,
    pub(crate) operators: Vec<Operator>,
}

/// A Deployment of OLM.
#[derive(Debug, Serialize)]
pub(crate) struct Component {
    pub(crate) name: String,
    pub(crate) namespace: String,
    pub(crate) ready: i32,
    pub(crate) wanted: i32,
}

/// What was installed through OLM.
#[derive(Debug, Serialize)]
pub(crate) struct Operator {
    pub(crate) package: String,
    pub(crate) namespace: String,
    pub(crate) release: String,
    pub(crate) phase: String,
}

/// True if the cluster knows OLM's kinds.
pub(crate) async fn is_there(client: &Client) -> anyhow::Result<bool> {
    match client.list_api_group_resources(Kind::Subscription.api_version()).await {
        Ok(_) => Ok(true),
        Err(Error::Api(status)) if status.code == 404 => Ok(false),
        Err(error) => Err(error).context("cannot ask whether OLM is on the cluster"),
    }
}

/// An error that says what to do where there is no OLM.
pub(crate) async fn required(client: &Client) -> anyhow::Result<()> {
    anyhow::ensure!(
        is_there(client).await?,
        "OLM is not on this cluster: `kubewright olm install` puts it there (with --local on the Kubernetes of \
         `kubewright dev`)"
    );
    Ok(())
}

/// What is there.
pub(crate) async fn look(client: &Client) -> anyhow::Result<Installed> {
    let found = parts(client).await.context("cannot look at OLM's Deployments")?;
    let version = found.iter().find_map(|one| one.labels().get(OLM).cloned());
    let components = found.iter().map(component).collect();
    let everywhere = Objects::everywhere(client);
    let cannot = "cannot look at what OLM runs";
    let subscriptions = everywhere.all(Kind::Subscription).await.context(cannot)?;
    let releases = everywhere.all(Kind::ClusterServiceVersion).await.context(cannot)?;
    let operators = subscriptions.iter().map(|subscription| {
        let release = text(subscription, "/status/installedCSV");
        let namespace = text(subscription, "/metadata/namespace");
        let found = releases.iter().find(|one| {
            text(one, "/metadata/name") == release && text(one, "/metadata/namespace") == namespace
        });
        let phase = found.map(|found| text(found, "/status/phase")).unwrap_or_default();
        Operator {
            package: text(subscription, "/spec/name").to_owned(),
            namespace: namespace.to_owned(),
            release: release.to_owned(),
            phase: phase.to_owned(),
        }
    });
    Ok(Installed { version, components, operators: operators.collect() })
}

/// OLM's Deployments.
pub(crate) async fn parts(client: &Client) -> Result<Vec<Deployment>, Error> {
    let api: Api<Deployment> = Api::all(client.clone());
    let mut found = Vec::new();
    for labels in PARTS {
        found.extend(api.list(&ListParams::default().labels(labels)).await?.items);
    }
    Ok(found)
}

fn component(deployment: &Deployment) -> Component {
    let ready = deployment.status.as_ref().and_then(|status| status.ready_replicas);
    let wanted = deployment.spec.as_ref().and_then(|spec| spec.replicas);
    Component {
        name: deployment.name_any(),
        namespace: deployment.namespace().unwrap_or_default(),
        ready: ready.unwrap_or_default(),
        wanted: wanted.unwrap_or(1),
    }
}

/// The image of opm that OLM itself unpacks bundles with; who may not look gets the usual one.
pub(crate) async fn opm_image(client: &Client) -> String {
    let found = parts(client).await.unwrap_or_default();
    found.iter().find_map(opm_of).unwrap_or_else(|| OPM.to_owned())
}

fn opm_of(deployment: &Deployment) -> Option<String> {
    let template = &deployment.spec.as_ref()?.template;
    let containers = &template.spec.as_ref()?.containers;
    containers.iter().find_map(|container| {
        let mut arguments = container.args.iter().flatten();
        let found =
            arguments.find(|argument| argument.trim_start_matches('-').starts_with("opmImage"))?;
        match found.split_once('=') {
            Some((_, image)) => Some(image.to_owned()),
            None => arguments.next().cloned(),
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_opm_of_an_installation_is_read_from_its_arguments() {
        let opm = |arguments: &[&str]| {
            let containers = json!([{ "name": "catalog-operator", "args": arguments }]);
            let template = json!({ "spec": { "containers": containers } });
            let deployment = json!({ "spec": { "selector": {}, "template": template } });
            opm_of(&serde_json::from_value(deployment).unwrap())
        };
        assert_eq!(opm(&["--x", "--opmImage=a:1"]).as_deref(), Some("a:1"));
        assert_eq!(opm(&["-opmImage", "a:2"]).as_deref(), Some("a:2"));
        assert_eq!(opm(&["--x"]), None);
    }
}
