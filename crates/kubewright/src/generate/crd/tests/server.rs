//! What a real API server says to the definitions, and to objects of their kinds.

use std::io::Write as _;
use std::process::Stdio;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{ApiResource, DynamicObject, GroupVersionKind, Patch, PatchParams, PostParams};
use kube::{Api, CustomResourceExt as _};
use kubewright_testenv::Env;
use serde_json::{Value, json};

use super::fixture::{Any, Either, Everything, Inner, Level, Optional, Podded, everything};
use crate::generate::crd::bounds::narrow;
use crate::generate::crd::tidy;
use crate::generate::yaml::documents;

/// A definition of the same kind in another group, so that tests do not meet.
fn in_group(definition: &CustomResourceDefinition, group: &str) -> CustomResourceDefinition {
    let mut definition = definition.clone();
    definition.metadata.name = Some(format!("{}.{group}", definition.spec.names.plural));
    definition.spec.group = group.to_owned();
    definition
}

/// What `kubectl apply` says besides that it did it.
fn apply(env: &Env, definitions: &[CustomResourceDefinition]) -> (bool, String) {
    let mut command = env.kubectl();
    command.args(["apply", "-f", "-"]);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let text = documents(definitions).unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[kubewright_testenv::test]
async fn kubectl_applies_them_without_a_warning(env: Env) {
    let definitions = [Everything::crd(), Podded::crd()];
    let raw = definitions.each_ref().map(|one| in_group(one, "raw.example.com"));
    let (_, words) = apply(&env, &raw);
    // 1.33 does not look at formats.
    let looks = env.environment().version().major_minor() != ("1", "33");
    assert_eq!(words.contains("unrecognized format"), looks, "{words}");
    assert!(words.contains("Too long"), "{words}");

    let tidied = definitions.each_ref().map(|one| tidy(in_group(one, "tidy.example.com")));
    assert_eq!(apply(&env, &tidied), (true, String::new()));
    let api: Api<CustomResourceDefinition> = Api::all(env.client());
    for definition in tidied {
        let name = definition.metadata.name.unwrap();
        let types = env.eventually("established", async || {
            let status = api.get(&name).await.unwrap().status.unwrap_or_default();
            let is_true = status.conditions.unwrap_or_default().into_iter();
            let types: Vec<_> =
                is_true.filter(|one| one.status == "True").map(|one| one.type_).collect();
            if types.iter().any(|one| one == "Established") {
                Ok(types)
            } else {
                Err(format!("{types:?}"))
            }
        });
        assert!(!types.await.contains(&"NonStructuralSchema".to_owned()), "{name}");
    }
}

async fn install(env: &Env) {
    env.install(&[tidy(Everything::crd()), tidy(Podded::crd())]).await;
}

fn filled() -> Optional {
    Optional {
        any: Some(Any::One { one: 1 }),
        boolean: Some(false),
        described: Some(Inner { name: "a".to_owned(), port: None }),
        described_level: Some(Level::Quiet),
        either: Some(Either::Left(Inner { name: "a".to_owned(), port: Some(1) })),
        level: Some(Level::Loud),
        list: Some(vec![String::new()]),
        map: Some([("a".to_owned(), "b".to_owned())].into()),
        number: Some(u32::MAX),
        object: Some(Inner { name: "b".to_owned(), port: Some(u16::MAX) }),
        quantity: Some(serde_json::from_value(json!("1Gi")).unwrap()),
        target: Some(serde_json::from_value(json!("http")).unwrap()),
        text: Some(String::new()),
        time: Some(serde_json::from_value(json!("2024-01-02T03:04:05Z")).unwrap()),
        resources: Some(serde_json::from_value(json!({ "limits": { "cpu": "1" } })).unwrap()),
    }
}

#[kubewright_testenv::test]
async fn every_field_comes_back_as_it_was_sent(env: Env) {
    install(&env).await;
    for (name, optional) in [("empty", Optional::default()), ("filled", filled())] {
        let mut spec = everything();
        spec.optional = optional;
        let object = Everything::new(name, spec);
        let created = env.create(object.clone()).await;
        assert_eq!(created.spec, object.spec);
    }
}

#[kubewright_testenv::test]
async fn null_means_absent_in_a_server_side_apply_except_for_an_enum(env: Env) {
    install(&env).await;
    let mut object = json!(Everything::new("nulls", everything()));
    assert!(object["spec"]["optional"].as_object().unwrap().values().all(Value::is_null));
    let words = refusal(&env, &object).await;
    assert!(words.contains("spec.optional.level") && !words.contains("optional.text"), "{words}");
    // All but the enums.
    object["spec"]["optional"].as_object_mut().unwrap().remove("level");
    object["spec"]["optional"].as_object_mut().unwrap().remove("describedLevel");
    let parameters = PatchParams::apply("tests").force().validation_strict();
    let applied = env.api::<Everything>().patch("nulls", &parameters, &Patch::Apply(&object)).await;
    assert_eq!(applied.unwrap().spec, everything());
}

#[kubewright_testenv::test]
async fn a_value_out_of_bounds_is_refused(env: Env) {
    install(&env).await;
    for (field, value) in [("uint8", 256_i64), ("uint32", 1 << 32), ("uint64", -1), ("int8", -129)]
    {
        let mut object = json!(Everything::new("out-of-bounds", everything()));
        object["spec"][field] = json!(value);
        let words = refusal(&env, &object).await;
        assert!(words.contains(&format!("spec.{field}")), "{words}");
    }
}

#[kubewright_testenv::test]
async fn whoever_installs_a_definition_can_narrow_a_field(env: Env) {
    let mut definitions = [in_group(&tidy(Everything::crd()), "narrow.example.com")];
    let bounds = ["spec.defaulted=5..9".parse().unwrap(), "spec.ranged=..5".parse().unwrap()];
    narrow(&mut definitions, &bounds).unwrap();
    env.install(&definitions).await;
    let resource = ApiResource::from_gvk_with_plural(
        &GroupVersionKind::gvk("narrow.example.com", "v1", "Everything"),
        "everythings",
    );
    let api: Api<DynamicObject> = Api::namespaced_with(env.client(), env.namespace(), &resource);
    let create = async |field: &str, value: Value| {
        let mut object = DynamicObject::new("a", &resource).data(json!({"spec": everything()}));
        object.data["spec"]["ranged"] = json!(5);
        object.data["spec"][field] = value;
        api.create(&PostParams { dry_run: true, ..PostParams::default() }, &object).await
    };
    let created = create("defaulted", Value::Null).await.unwrap();
    assert_eq!(created.data["spec"]["defaulted"], 5, "what is left out is in bounds");
    for (field, value, bound) in [("defaulted", 4, "5"), ("defaulted", 10, "9"), ("ranged", 6, "5")]
    {
        let words = create(field, json!(value)).await.unwrap_err().to_string();
        let expected = format!(
            "should be {} than or equal to {bound}",
            if value < 5 { "greater" } else { "less" }
        );
        assert!(words.contains(&format!("spec.{field}")) && words.contains(&expected), "{words}");
    }
}

/// What the API server says to an object that it does not take.
async fn refusal(env: &Env, object: &Value) -> String {
    let parameters = PatchParams::apply("tests").force().validation_strict();
    let name = object["metadata"]["name"].as_str().unwrap();
    let answer = env.api::<Everything>().patch(name, &parameters, &Patch::Apply(object)).await;
    answer.unwrap_err().to_string()
}

#[kubewright_testenv::test]
async fn a_condition_is_checked_as_kubernetes_checks_its_own(env: Env) {
    install(&env).await;
    env.create(Everything::new("a", everything())).await;
    let good = json!({
        "type": "Ready", "status": "True", "reason": "Done", "message": "",
        "lastTransitionTime": "2024-01-02T03:04:05Z", "observedGeneration": 1,
    });
    let with = |field: &str, value: Value| {
        let mut condition = good.clone();
        condition[field] = value;
        condition
    };
    assert_eq!(write_conditions(&env, &json!([good, with("type", json!("Other"))])).await, None);
    for (field, value) in [
        ("status", json!("Perhaps")),
        ("reason", json!("")),
        ("reason", json!("two words")),
        ("type", json!("a/b/c")),
        ("observedGeneration", json!(-1)),
        ("message", json!("a".repeat(32_769))),
        ("lastTransitionTime", json!("yesterday")),
    ] {
        let words = write_conditions(&env, &json!([with(field, value)])).await;
        assert!(words.as_ref().is_some_and(|words| words.contains(field)), "{field}: {words:?}");
    }
    let words = write_conditions(&env, &json!([good, with("status", json!("False"))])).await;
    assert!(words.is_some_and(|words| words.contains("Duplicate")));
}

async fn write_conditions(env: &Env, conditions: &Value) -> Option<String> {
    let body = json!({ "status": { "conditions": conditions } });
    let parameters = PatchParams::default().validation_strict();
    let api = env.api::<Everything>();
    let answer = api.patch_status("a", &parameters, &Patch::Merge(&body)).await;
    answer.err().map(|error| error.to_string())
}

#[kubewright_testenv::test]
async fn two_writers_share_the_containers_of_an_embedded_pod(env: Env) {
    install(&env).await;
    for name in ["first", "second"] {
        let container = json!({ "name": name, "ports": [{ "containerPort": 80 }] });
        let body = json!({
            "apiVersion": "example.com/v1", "kind": "Podded", "metadata": { "name": "a" },
            "spec": { "template": { "spec": { "containers": [container] } } },
        });
        let parameters = PatchParams::apply(name).validation_strict();
        env.api::<Podded>().patch("a", &parameters, &Patch::Apply(&body)).await.unwrap();
    }
    let template = env.api::<Podded>().get("a").await.unwrap().spec.template;
    let names: Vec<_> = template.spec.unwrap().containers.into_iter().map(|one| one.name).collect();
    assert_eq!(names, ["first", "second"]);
}

#[kubewright_testenv::test]
async fn an_object_with_a_whole_pod_comes_back_as_it_was_sent(env: Env) {
    install(&env).await;
    let spec = json!({
        "template": {
            "metadata": { "labels": { "a": "b" } },
            "spec": {
                "containers": [{
                    "name": "a", "image": "b", "env": [{ "name": "A", "value": "1" }],
                    "ports": [{ "containerPort": 80, "protocol": "UDP" }],
                    "resources": { "limits": { "cpu": "1", "memory": "1Gi" } },
                    "livenessProbe": { "httpGet": { "path": "/", "port": "http" } },
                }],
                "volumes": [{ "name": "a", "emptyDir": { "sizeLimit": "1Gi" } }],
            },
        },
        "service": null,
    });
    let object = Podded::new("whole", serde_json::from_value(spec.clone()).unwrap());
    let created: Podded = env.api().create(&PostParams::default(), &object).await.unwrap();
    assert_eq!(json!(created.spec), spec);
}
