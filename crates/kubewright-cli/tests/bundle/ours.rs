//! Rules that upstream has in other programs than `operator-verify`, or not at all.

use serde_json::{Value, json};

use crate::folder::{ANNOTATIONS, CSV, Folder};

type Case = (&'static str, &'static str, fn(&Folder));

const PREFIX: &str = "operators.operatorframework.io.bundle.";

fn annotation(folder: &Folder, key: &str, value: Option<&str>) {
    folder.edit(ANNOTATIONS, |file| {
        let map = file["annotations"].as_object_mut().unwrap();
        map.remove(&format!("{PREFIX}{key}"));
        if let Some(value) = value {
            map.insert(format!("{PREFIX}{key}"), json!(value));
        }
    });
}

fn csv(folder: &Folder, pointer: &str, value: Value) {
    folder.edit(CSV, |object| *object.pointer_mut(pointer).unwrap() = value);
}

fn affinity(processors: &[&str]) -> Value {
    let asked = json!([{"key": "kubernetes.io/arch", "operator": "In", "values": processors}]);
    let terms = json!({"nodeSelectorTerms": [{"matchExpressions": asked}]});
    json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}})
}

/// A webhook that OLM would make, with `change` in its description.
fn webhook(folder: &Folder, change: &Value) {
    let mut webhook = json!({
        "type": "ValidatingAdmissionWebhook", "generateName": "validate.memcacheds.example.com",
        "deploymentName": "memcached-operator-controller-manager", "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    });
    let changes = change.as_object().unwrap().clone();
    webhook.as_object_mut().unwrap().extend(changes);
    folder.edit(CSV, |csv| csv["spec"]["webhookdefinitions"] = json!([webhook]));
}

const POD: &str = "/spec/install/spec/deployments/0/spec/template/spec";

const CASES: &[Case] = &[
    ("format/annotations", "error", |f| f.remove(ANNOTATIONS)),
    ("format/folder", "error", |f| f.remove(ANNOTATIONS)),
    ("format/annotation", "error", |f| annotation(f, "mediatype.v1", Some("helm"))),
    ("format/annotation", "error", |f| annotation(f, "manifests.v1", None)),
    ("format/annotation", "error", |f| annotation(f, "metadata.v1", Some("meta/"))),
    ("format/package", "error", |f| annotation(f, "package.v1", None)),
    ("format/channels", "error", |f| annotation(f, "channels.v1", Some(""))),
    ("format/channels", "error", |f| annotation(f, "channels.v1", Some("stable,,fast"))),
    ("format/default-channel", "error", |f| annotation(f, "channel.default.v1", Some(""))),
    ("format/default-channel-unknown", "warning", |f| {
        annotation(f, "channel.default.v1", Some("fast"));
    }),
    ("format/dependencies", "error", |f| {
        f.write("metadata/dependencies.yaml", "dependencies: [{type: olm.helm, value: {}}]\n");
    }),
    ("format/dependencies", "error", |f| {
        f.write(
            "metadata/dependencies.yaml",
            "dependencies: [{type: olm.package, value: {packageName: a}}]\n",
        );
    }),
    ("format/dependencies", "error", |f| f.write("metadata/dependencies.yaml", "[")),
    ("content/kind", "error", |f| f.write("manifests/a.yaml", "{apiVersion: v1, kind: Namespace}")),
    ("content/kind", "error", |f| {
        f.write("manifests/a.yaml", "{apiVersion: apps/v1, kind: Deployment}");
    }),
    ("content/version", "error", |f| f.write("manifests/a.yaml", "{kind: ConfigMap}")),
    ("content/documents", "warning", |f| {
        f.write(
            "manifests/a.yaml",
            "{apiVersion: v1, kind: ConfigMap}\n---\n{apiVersion: v1, kind: Secret}\n",
        );
    }),
    ("content/definition-v1beta1", "warning", |f| {
        f.write(
            "manifests/a.yaml",
            "{apiVersion: apiextensions.k8s.io/v1beta1, kind: CustomResourceDefinition}",
        );
    }),
    ("csv/install-mode-twice", "error", |f| {
        f.edit(CSV, |csv| {
            let modes = csv["spec"]["installModes"].as_array_mut().unwrap();
            modes.push(modes[0].clone());
        });
    }),
    ("csv/install-mode-unknown", "warning", |f| {
        csv(f, "/spec/installModes/0/type", json!("Everywhere"));
    }),
    ("csv/webhook-type", "error", |f| webhook(f, &json!({"type": "ValidatingWebhook"}))),
    ("csv/webhook-name", "error", |f| webhook(f, &json!({"generateName": "pots.example"}))),
    ("csv/webhook-name", "error", |f| {
        webhook(f, &json!({"generateName": format!("{}.example.com", "a".repeat(60))}));
    }),
    ("csv/webhook-deployment", "error", |f| webhook(f, &json!({"deploymentName": "another"}))),
    ("csv/webhook-required", "error", |f| webhook(f, &json!({"sideEffects": ""}))),
    ("bundle/related-image", "error", |f| csv(f, "/spec/relatedImages/0/image", json!(""))),
    ("bundle/related-image", "error", |f| {
        csv(f, "/spec/relatedImages/0/image", json!("not an image"));
    }),
    ("bundle/related-image-missing", "warning", |f| csv(f, "/spec/relatedImages", json!([]))),
    ("bundle/related-image-twice", "warning", |f| {
        f.edit(CSV, |csv| {
            let images = csv["spec"]["relatedImages"].as_array_mut().unwrap();
            images.push(images[0].clone());
        });
    }),
    ("practice/channel", "warning", |f| annotation(f, "channels.v1", Some("stable,alpha"))),
    ("practice/deployment", "error", |f| csv(f, "/spec/install/spec/deployments", json!([]))),
    ("practice/requests", "warning", |f| {
        csv(f, &format!("{POD}/containers/0/resources"), json!({"requests": {"cpu": "10m"}}));
    }),
    ("practice/definitions", "warning", |f| {
        let rule = json!({"apiGroups": ["apiextensions.k8s.io"], "resources": ["customresourcedefinitions"], "verbs": ["create"]});
        csv(f, "/spec/install/spec/permissions/0/rules", json!([rule]));
    }),
    ("practice/name", "warning", |f| csv(f, "/metadata/name", json!("memcached-operator-0.0.1"))),
    ("practice/name-version", "warning", |f| csv(f, "/spec/version", json!("0.0.2"))),
    ("practice/description", "warning", |f| {
        csv(f, "/spec/customresourcedefinitions/owned/0/description", json!(""));
    }),
    ("arch/label", "warning", |f| {
        f.edit(CSV, |csv| {
            csv.pointer_mut(POD).unwrap()["affinity"] = affinity(&["amd64", "arm64"]);
        });
    }),
    ("arch/affinity", "error", |f| {
        f.edit(CSV, |csv| {
            csv.pointer_mut(POD).unwrap()["affinity"] = affinity(&["arm64"]);
        });
    }),
];

#[test]
fn what_upstreams_program_does_not_look_at_is_found() {
    for (rule, severity, break_it) in CASES {
        let folder = Folder::good();
        break_it(&folder);
        let findings = folder.validated().findings;
        let found = findings.iter().find(|finding| finding.id == *rule);
        let found = found.unwrap_or_else(|| panic!("{rule}: {findings:#?}"));
        assert_eq!(found.severity, *severity, "{found:?}");
        assert!(!found.file.is_empty() && !found.wrong.is_empty() && !found.remedy.is_empty());
    }
}

#[test]
fn a_webhook_that_is_described_well_is_fine() {
    let folder = Folder::good();
    webhook(&folder, &json!({}));
    assert_eq!(folder.validated().findings, []);
}

#[test]
fn a_folder_that_is_not_there_is_said_so() {
    let folder = Folder::good();
    let nowhere = folder.path().join("nowhere");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_kubewright"))
        .args(["bundle", "validate"])
        .arg(nowhere)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("`kubewright bundle` makes one"), "{said}");
}
