//! What OLM is installed from: documents, in the order in which they are applied, with the label by which they
//! are found again. Pure but for the download of a release.

use std::time::Duration;

use anyhow::Context as _;
use kubewright::cluster;
use serde_json::{Value, json};
use ureq::tls::{RootCerts, TlsConfig};

use super::OLM;
use super::objects::{name, text};

/// For a connection; whoever takes longer is not there.
const CONNECT: Duration = Duration::from_secs(10);
/// For the whole of a file of some hundred kilobytes, over a slow line.
const DOWNLOAD: Duration = Duration::from_mins(2);
/// Far more than a release has.
const LARGEST: u64 = 32 << 20;
/// Kinds for Prometheus, which a cluster need not have.
const OPTIONAL: [&str; 2] = ["ServiceMonitor", "PrometheusRule"];

/// The documents of a release, as its project publishes them.
pub(crate) fn released(version: &str) -> anyhow::Result<Vec<Value>> {
    let base = "https://github.com/operator-framework/operator-lifecycle-manager/releases/download";
    let mut documents = Vec::new();
    for file in ["crds.yaml", "olm.yaml"] {
        let url = format!("{base}/v{version}/{file}");
        let text = download(&url).with_context(|| {
            format!(
                "cannot get {url}: name files with --manifests, or build OLM for the local Kubernetes with \
                 `kubewright olm install --local`"
            )
        })?;
        documents.extend(cluster::documents(&text)?);
    }
    Ok(documents)
}

fn download(url: &str) -> Result<String, ureq::Error> {
    let tls = TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).build();
    let agent: ureq::Agent = ureq::Agent::config_builder()
        .timeout_connect(Some(CONNECT))
        .timeout_global(Some(DOWNLOAD))
        .tls_config(tls)
        .build()
        .into();
    let mut response = agent.get(url).call()?;
    response.body_mut().with_config().limit(LARGEST).read_to_string()
}

/// In the order in which they can be applied, each with the label.
pub(crate) fn prepared(mut documents: Vec<Value>, version: &str) -> Vec<Value> {
    documents.retain(|document| !OPTIONAL.contains(&text(document, "/kind")));
    documents.sort_by_key(rank);
    for document in &mut documents {
        document["metadata"]["labels"][OLM] = json!(version);
    }
    documents
}

/// Kinds of which one may be there before OLM is, with what is in it.
pub(crate) const SHARED: [(&str, &str); 2] =
    [("v1", "Namespace"), ("apiextensions.k8s.io/v1", "CustomResourceDefinition")];

/// Without the label on those of the `SHARED` kind that are called as one of `theirs`: whoever takes OLM off again must
/// leave them.
pub(crate) fn left_to_others(documents: &mut [Value], kind: &str, theirs: &[String]) {
    let is_theirs = |document: &&mut Value| {
        text(document, "/kind") == kind && theirs.iter().any(|one| one == name(document))
    };
    for document in documents.iter_mut().filter(is_theirs) {
        if let Some(labels) = document["metadata"]["labels"].as_object_mut() {
            labels.remove(OLM);
        }
    }
}

/// Namespaces and kinds before what is in them and of them; the rest as it came.
fn rank(document: &Value) -> u8 {
    match text(document, "/kind") {
        "Namespace" => 0,
        "CustomResourceDefinition" => 1,
        "ServiceAccount" | "ClusterRole" | "ClusterRoleBinding" => 2,
        _ => 3,
    }
}

/// For a cluster that reaches no registry: with these images, which the nodes have, and without catalogues
/// that are elsewhere.
pub(crate) fn localised(mut documents: Vec<Value>, olm: &str, opm: &str) -> Vec<Value> {
    documents.retain(|document| text(document, "/kind") != "CatalogSource");
    for document in &mut documents {
        match text(document, "/kind") {
            "Deployment" => containers(&mut document["spec"], olm, opm),
            "ClusterServiceVersion" => {
                let deployments = document.pointer_mut("/spec/install/spec/deployments");
                let deployments = deployments.and_then(Value::as_array_mut).into_iter().flatten();
                deployments.for_each(|deployment| containers(&mut deployment["spec"], olm, opm));
            }
            _ => {}
        }
    }
    documents
}

/// Changes the containers of a Deployment's spec.
fn containers(spec: &mut Value, olm: &str, opm: &str) {
    let containers = spec.pointer_mut("/template/spec/containers").and_then(Value::as_array_mut);
    for container in containers.into_iter().flatten() {
        container["image"] = json!(olm);
        container["imagePullPolicy"] = json!("IfNotPresent");
        if text(container, "/name") == "catalog-operator" {
            let arguments = container["args"].as_array().cloned().unwrap_or_default();
            container["args"] = json!(with_images(&arguments, olm, opm));
        }
    }
}

/// The arguments of the catalog operator with the images that it makes pods of, and no others.
fn with_images(arguments: &[Value], olm: &str, opm: &str) -> Vec<String> {
    const IMAGES: [&str; 3] = ["util-image", "opmImage", "configmapServerImage"];
    let mut kept = Vec::new();
    let mut is_value = false;
    for argument in arguments.iter().filter_map(Value::as_str) {
        let flag = argument.trim_start_matches('-');
        let (flag, has_value) =
            flag.split_once('=').map_or((flag, false), |(flag, _)| (flag, true));
        if std::mem::take(&mut is_value) {
            continue;
        }
        if argument.starts_with('-') && IMAGES.contains(&flag) {
            is_value = !has_value;
            continue;
        }
        kept.push(argument.to_owned());
    }
    // The server of ConfigMaps is for catalogues of old, which nobody makes here.
    kept.extend([format!("--util-image={olm}"), format!("--opmImage={opm}")]);
    kept.push(format!("--configmapServerImage={opm}"));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog_operator() -> Value {
        json!({
            "kind": "Deployment", "metadata": { "name": "catalog-operator" },
            "spec": { "template": { "spec": { "containers": [{
                "name": "catalog-operator", "image": "quay.io/a@sha256:0", "imagePullPolicy": "Always",
                "args": ["--namespace", "olm", "--util-image", "quay.io/a", "--opmImage=quay.io/b", "--x"],
            }]}}},
        })
    }

    #[test]
    fn what_others_need_comes_first_and_all_have_the_label() {
        let kinds = [
            "Deployment",
            "ServiceMonitor",
            "CustomResourceDefinition",
            "ClusterRole",
            "Namespace",
        ];
        let documents = kinds.map(|kind| json!({ "kind": kind, "metadata": { "name": "a" } }));
        let prepared = prepared(documents.to_vec(), "0.28.0");
        let order: Vec<_> = prepared.iter().map(|one| text(one, "/kind")).collect();
        assert_eq!(order, ["Namespace", "CustomResourceDefinition", "ClusterRole", "Deployment"]);
        assert!(prepared.iter().all(|one| one["metadata"]["labels"][OLM] == "0.28.0"));
    }

    #[test]
    fn a_namespace_that_was_there_before_gets_no_label_and_so_outlives_olm() {
        let document = |kind: &str, name: &str| json!({ "kind": kind, "metadata": { "name": name, "labels": { "a": "b" } } });
        let documents = [
            document("Namespace", "operators"),
            document("Namespace", "olm"),
            document("ServiceAccount", "operators"),
        ];
        let mut documents = prepared(documents.to_vec(), "0.28.0");
        left_to_others(&mut documents, "Namespace", &["operators".to_owned(), "x".to_owned()]);
        let labels: Vec<_> = documents.iter().map(|one| &one["metadata"]["labels"]).collect();
        let labelled = json!({ "a": "b", OLM: "0.28.0" });
        assert_eq!(labels, [&json!({ "a": "b" }), &labelled, &labelled]);
    }

    #[test]
    fn nothing_is_pulled_from_elsewhere_on_the_local_cluster() {
        let csv = json!({
            "kind": "ClusterServiceVersion",
            "spec": { "install": { "spec": { "deployments": [{ "name": "packageserver", "spec": {
                "template": { "spec": { "containers": [{ "name": "packageserver", "image": "quay.io/a" }] } },
            }}]}}},
        });
        let source = json!({ "kind": "CatalogSource" });
        let documents =
            localised(vec![catalog_operator(), csv, source], "local/olm:1", "local/opm:1");
        assert_eq!(documents.len(), 2);
        let text = json!(documents).to_string();
        assert!(!text.contains("quay.io") && !text.contains("Always"), "{text}");
        let arguments = documents[0].pointer("/spec/template/spec/containers/0/args").unwrap();
        assert_eq!(
            arguments,
            &json!([
                "--namespace",
                "olm",
                "--x",
                "--util-image=local/olm:1",
                "--opmImage=local/opm:1",
                "--configmapServerImage=local/opm:1",
            ])
        );
    }
}
