//! A policy that makes something else of what we apply is not fought.

use kube::api::{DeleteParams, Patch, PatchParams, WatchEvent, WatchParams};
use kube::discovery::ApiResource;
use kube::{Api, ResourceExt as _};
use kubewright_testenv::Env;
use serde_json::{Value, json};

use super::subject::Subject;
use crate::raw::Raw;

/// Rewrites the image, and takes away an annotation of ours.
const REWRITE: &str = r#"[
    JSONPatch{op: "replace", path: "/spec/template/spec/containers/0/image", value: "mirror/" + object.spec.template.spec.containers[0].image},
    JSONPatch{op: "remove", path: "/metadata/annotations/dropped"}]"#;

fn policies(env: &Env, kind: &str) -> Api<Raw> {
    let resource = ApiResource {
        group: "admissionregistration.k8s.io".to_owned(),
        version: "v1".to_owned(),
        api_version: "admissionregistration.k8s.io/v1".to_owned(),
        kind: kind.to_owned(),
        plural: format!("{}s", kind.to_lowercase()).replace("policys", "policies"),
    };
    Api::all_with(env.client(), &resource)
}

async fn set_up(env: &Env, name: &str) -> kube::Result<()> {
    let rules = json!([{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["deployments"]}]);
    let once = "!object.spec.template.spec.containers[0].image.startsWith('mirror/')";
    let policy = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": name}, "spec": {
        "matchConstraints": {"resourceRules": rules, "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": env.namespace()}}},
        "matchConditions": [{"name": "once", "expression": once}], "failurePolicy": "Fail", "reinvocationPolicy": "Never",
        "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": REWRITE}}]}});
    let binding = json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding",
        "metadata": {"name": name}, "spec": {"policyName": name}});
    let apply = PatchParams::apply("test").force();
    for object in [policy, binding] {
        let policies = policies(env, object["kind"].as_str().unwrap());
        policies.patch(name, &apply, &Patch::Apply(object)).await?;
    }
    Ok(())
}

async fn tear_down(env: &Env, name: &str) {
    for kind in ["MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"] {
        let _ = policies(env, kind).delete(name, &DeleteParams::default()).await;
    }
}

fn subject(env: &Env, image: &str) -> Subject {
    let desired = json!({"metadata": {"annotations": {"dropped": "x"}}, "spec": {"selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "m", "image": image}]}}}});
    Subject::new(env.client(), env.namespace(), "apps/v1 Deployment deployments", desired)
}

fn image(raw: &Raw) -> Value {
    raw.value()["spec"]["template"]["spec"]["containers"][0]["image"].clone()
}

#[kubewright_testenv::test]
async fn what_admission_makes_of_an_apply_is_accepted(env: Env) {
    let name = env.namespace().to_owned();
    if let Err(error) = set_up(&env, &name).await {
        // Not served before Kubernetes 1.36.
        assert!(matches!(&error, kube::Error::Api(status) if status.is_not_found()), "{error}");
        return;
    }
    // The policy works some time after it was made.
    let subject = subject(&env, "m:1");
    let created = env
        .eventually("the policy to work", async || {
            let raw = subject.recreate().await;
            if image(&raw) == "mirror/m:1" { Ok(raw) } else { Err(image(&raw).to_string()) }
        })
        .await;

    let held = Subject::held(&created);
    held.applied(&subject.intent);
    assert!(held.is_quiet(&subject.intent), "remembered");

    let watch = WatchParams::default().fields(&format!("metadata.name={}", subject.name));
    let mut events = Box::pin(subject.api.watch(&watch, "0").await.unwrap());
    let event = futures_util::TryStreamExt::try_next(&mut events).await.unwrap().unwrap();
    let WatchEvent::Added(seen) = event else { panic!("{event:?}") };
    let mut carried = Subject::held(&seen);
    carried.carry_memo(&held);
    assert!(carried.is_quiet(&subject.intent), "the watch shows what the apply answered");

    assert!(subject.is_quiet(&created), "after a restart");
    let again = subject.apply(subject.intent.body_update(&created.uid().unwrap())).await.unwrap();
    assert_eq!(
        again.resource_version(),
        created.resource_version(),
        "it would have changed nothing"
    );
    tear_down(&env, &name).await;
}
