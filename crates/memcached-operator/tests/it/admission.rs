//! What the API server accepts and refuses, with nothing but the definition installed.

use kubewright::kube::api::{DynamicObject, PatchParams, PostParams, ValidationDirective};
use kubewright::kube::core::{ApiResource, GroupVersionKind, Status};
use kubewright::kube::{Api, Error, api::Patch};
use kubewright_testenv::harness::can_run;
use kubewright_testenv::preflight::Tier;
use kubewright_testenv::{Env, Environment, KubernetesVersion};
use serde_json::{Value, json};

/// As text, because the types could not say most of what is refused here.
async fn api(env: &Env) -> Api<DynamicObject> {
    env.install(&memcached_operator::operator().definitions()).await;
    let kind = GroupVersionKind::gvk("cache.example.com", "v1alpha1", "Memcached");
    let kind = ApiResource::from_gvk_with_plural(&kind, "memcacheds");
    Api::namespaced_with(env.client(), env.namespace(), &kind)
}

fn object(name: &str, spec: &Value) -> DynamicObject {
    let object = json!({
        "apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
        "metadata": {"name": name}, "spec": spec,
    });
    serde_json::from_value(object).unwrap()
}

async fn create(api: &Api<DynamicObject>, name: &str, spec: Value) -> Result<Value, Box<Status>> {
    match api.create(&PostParams::default(), &object(name, &spec)).await {
        Ok(created) => Ok(created.data["spec"].clone()),
        Err(Error::Api(status)) => Err(status),
        Err(error) => panic!("{error}"),
    }
}

#[kubewright_testenv::test]
async fn the_tutorials_objects_are_accepted(env: Env) {
    let api = api(&env).await;
    for (number, (spec, stored)) in [
        (json!({"size": 1, "containerPort": 11211}), json!({"size": 1, "containerPort": 11211})),
        (json!({"size": 2}), json!({"size": 2, "containerPort": 11211})),
        (json!({"size": 3}), json!({"size": 3, "containerPort": 11211})),
        (json!({"size": 0}), json!({"size": 0, "containerPort": 11211})),
        (json!({}), json!({"size": 1, "containerPort": 11211})),
        (json!({"size": null}), json!({"size": 1, "containerPort": 11211})),
        (
            json!({"size": 1000, "containerPort": 65535}),
            json!({"size": 1000, "containerPort": 65535}),
        ),
    ]
    .into_iter()
    .enumerate()
    {
        assert_eq!(create(&api, &format!("a{number}"), spec).await.unwrap(), stored);
    }
}

#[kubewright_testenv::test]
async fn what_is_out_of_bounds_is_refused_with_the_field_and_the_bound(env: Env) {
    let api = api(&env).await;
    for (spec, words) in [
        (json!({"size": -1}), ["spec.size", "greater than or equal to 0"]),
        (json!({"size": 1001}), ["spec.size", "less than or equal to 1000"]),
        (json!({"size": "3"}), ["spec.size", "must be of type integer: \"string\""]),
        (json!({"size": 1.5}), ["spec.size", "must be of type int"]),
        (json!({"size": 2_147_483_648_i64}), ["spec.size", "less than or equal to 1000"]),
        (json!({"containerPort": 0}), ["spec.containerPort", "greater than or equal to 1"]),
        (json!({"containerPort": 65536}), ["spec.containerPort", "less than or equal to 65535"]),
        (json!({"containerPort": "11211"}), ["spec.containerPort", "must be of type integer"]),
        (json!({"image": ""}), ["spec.image", "at least 1 chars long"]),
        (json!({"image": "two words"}), ["spec.image", "must name an image"]),
        (json!({"image": "example.com/UPPER"}), ["spec.image", "must name an image"]),
        (json!({"image": "a:b:c"}), ["spec.image", "must name an image"]),
        (json!({"image": "https://example.com/a"}), ["spec.image", "must name an image"]),
        (json!({"image": "a".repeat(513)}), ["spec.image", "may not be more than 512"]),
        (json!({"image": 5}), ["spec.image", "must be of type string"]),
        (
            json!({"resources": {"limits": {"memory": "much"}}}),
            ["spec.resources.limits.memory", "should match"],
        ),
        (
            json!({"resources": {"requests": {"memory": "2Gi"}, "limits": {"memory": "1Gi"}}}),
            ["spec.resources", "must not be larger than spec.resources.limits"],
        ),
        (
            json!({"resources": {"requests": {"cpu": 2}, "limits": {"cpu": "1500m"}}}),
            ["spec.resources", "must not be larger than spec.resources.limits"],
        ),
    ] {
        let refusal = create(&api, "refused", spec.clone()).await.unwrap_err();
        assert_eq!(refusal.code, 422, "{spec}: {}", refusal.message);
        for word in words {
            assert!(refusal.message.contains(word), "{spec}: {}", refusal.message);
        }
    }
}

#[kubewright_testenv::test]
async fn images_and_resources_as_people_write_them_are_accepted(env: Env) {
    let api = api(&env).await;
    let digest = "a".repeat(64);
    for (number, image) in [
        "memcached",
        "memcached:1.6.45",
        "docker.io/library/memcached:1.6.45-alpine",
        "localhost:5000/team/memcached",
        "[fd00::1]:5000/memcached:1",
        "registry.example.com/a__b/c.d-e:X_1.2-3",
        &format!("example.com/memcached:1@sha256:{digest}"),
        &format!("memcached@sha256:{digest}"),
    ]
    .into_iter()
    .enumerate()
    {
        create(&api, &format!("i{number}"), json!({"image": image})).await.unwrap();
    }
    for (number, resources) in [
        json!({"limits": {"cpu": 1, "memory": "1Gi"}}),
        json!({"limits": {"cpu": "1.5", "memory": "1e9"}, "requests": {"cpu": "100m"}}),
        json!({"requests": {"memory": 4_294_967_296_i64}}),
        json!({}),
        json!(null),
    ]
    .into_iter()
    .enumerate()
    {
        create(&api, &format!("r{number}"), json!({"resources": resources})).await.unwrap();
    }
}

#[kubewright_testenv::test]
async fn an_unknown_field_is_refused_where_that_is_asked_for_and_pruned_otherwise(env: Env) {
    let api = api(&env).await;
    let strict = PatchParams {
        field_validation: Some(ValidationDirective::Strict),
        ..PatchParams::apply("test")
    };
    let unknown = object("a", &json!({"size": 1, "replicas": 3}));
    let refusal = api.patch("a", &strict, &Patch::Apply(unknown)).await.unwrap_err();
    assert!(refusal.to_string().contains("spec.replicas"), "{refusal}");
    let kept = create(&api, "a", json!({"size": 1, "replicas": 3})).await.unwrap();
    assert_eq!(kept, json!({"size": 1, "containerPort": 11211}));
    let kept = create(&api, "b", json!({"Size": 7, "resources": {"limits": null}})).await.unwrap();
    let nothing = json!({"limits": null});
    assert_eq!(
        kept,
        json!({"size": 1, "containerPort": 11211, "resources": nothing}),
        "another case"
    );
}

/// As text, because no value has a key twice.
#[kubewright_testenv::test]
async fn a_key_that_is_there_twice_is_refused_where_that_is_asked_for(env: Env) {
    let api = api(&env).await;
    let twice = r#"{"apiVersion": "cache.example.com/v1alpha1", "kind": "Memcached",
        "metadata": {"name": "a"}, "spec": {"size": 1, "size": 2}}"#;
    let path = format!("{}?fieldValidation=Strict", api.resource_url());
    let request = http::Request::post(path).header("content-type", "application/json");
    let request = request.body(twice.as_bytes().to_vec()).unwrap();
    let refusal = env.client().request::<Value>(request).await.unwrap_err();
    assert!(refusal.to_string().contains(r#"duplicate field "spec.size""#), "{refusal}");
}

#[kubewright_testenv::test]
async fn kubectl_scale_changes_the_size(env: Env) {
    let api = api(&env).await;
    create(&api, "a", json!({"size": 1})).await.unwrap();
    let patch = Patch::Merge(json!({"spec": {"replicas": 4}}));
    let scale = api.patch_scale("a", &PatchParams::default(), &patch).await.unwrap();
    assert_eq!(scale.spec.unwrap().replicas, Some(4));
    assert_eq!(api.get("a").await.unwrap().data["spec"]["size"], json!(4));
    for replicas in [-1, 1001, i64::from(i32::MAX) + 1] {
        let refused = Patch::Merge(json!({"spec": {"replicas": replicas}}));
        let outcome = api.patch_scale("a", &PatchParams::default(), &refused).await;
        assert!(outcome.is_err(), "{replicas}");
    }
    // One who has not seen that the spec was changed meanwhile.
    let outdated = api.get_scale("a").await.unwrap();
    let other = Patch::Merge(json!({"spec": {"size": 2}}));
    api.patch("a", &PatchParams::default(), &other).await.unwrap();
    let refusal = api.replace_scale("a", &PostParams::default(), &outdated).await.unwrap_err();
    assert!(matches!(&refusal, Error::Api(status) if status.code == 409), "{refusal}");
    assert_eq!(api.get("a").await.unwrap().data["spec"]["size"], json!(2));
}

/// Servers count differently what a rule costs, and refuse a definition whose rules are too dear.
#[tokio::test]
async fn the_oldest_supported_version_takes_the_definition() {
    if !can_run("the_oldest_supported_version_takes_the_definition", Tier::ControlPlane) {
        return;
    }
    let oldest = KubernetesVersion::all().last().unwrap();
    let environment = Environment::builder().version(oldest).start().await.unwrap();
    environment.install(&memcached_operator::operator().definitions()).await.unwrap();
    environment.stop().await.unwrap();
}
