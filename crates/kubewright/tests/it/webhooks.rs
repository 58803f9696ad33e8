//! Webhooks as people meet them: on a real API server that calls the operator.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use kubewright::cluster;
use kubewright::k8s_openapi::api::core::v1::Secret;
use kubewright::kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::Books;
use crate::pots::{self, documents, flags, operator, pot, start, start_with, v1alpha1, v1beta1};
use crate::{running, seen};

/// What the API server says to a pot that it does not take.
async fn refused(env: &Env, pot: &v1beta1::Pot) -> String {
    let answer = env.api::<v1beta1::Pot>().create(&PostParams::default(), pot).await;
    answer.unwrap_err().to_string()
}

#[kubewright_testenv::test(own)]
async fn what_is_wrong_is_refused_with_all_its_fields(env: Env) {
    let operator = start(&env, seen::free_port()).await;
    let mut bad = pot("bad", 0);
    bad.spec.handles = ["a", "b", "c"].map(str::to_owned).to_vec();
    let said = refused(&env, &bad).await;
    assert!(said.contains("spec.litres: 0 is too little; spec.handles: nobody has"), "{said}");
    assert!(said.contains("validate.pots.test.kubewright.dev"), "{said}");

    env.create(pot("good", 3)).await;
    let api = env.api::<v1beta1::Pot>();
    let smaller = Patch::Merge(json!({"spec": {"litres": 2}}));
    let said = api.patch("good", &PatchParams::default(), &smaller).await.unwrap_err().to_string();
    assert!(said.contains("a pot does not shrink"), "{said}");

    let mut gold = pot("gold", 1);
    gold.spec.colour = Some("gold".to_owned());
    env.create(gold).await;
    let said = api.delete("gold", &DeleteParams::default()).await.unwrap_err().to_string();
    assert!(said.contains("nobody throws gold away"), "{said}");
    api.delete("good", &DeleteParams::default()).await.unwrap();
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn warnings_reach_whoever_types(env: Env) {
    let operator = start(&env, seen::free_port()).await;
    let manifest = json!({
        "apiVersion": "test.kubewright.dev/v1beta1", "kind": "Pot", "metadata": {"name": "a"},
        "spec": {"litres": 1, "colour": "mauve"},
    });
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), manifest.to_string()).unwrap();
    let applied = env.kubectl().args(["apply", "-f"]).arg(file.path()).output().unwrap();
    let said = String::from_utf8_lossy(&applied.stderr);
    assert!(
        applied.status.success() && said.contains("Warning: mauve is out of fashion"),
        "{said}"
    );
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn defaults_are_set_and_a_dry_run_leaves_nothing_behind(env: Env) {
    let operator = start(&env, seen::free_port()).await;
    let api = env.api::<v1beta1::Pot>();
    let dry = PostParams { dry_run: true, ..PostParams::default() };
    let tried = api.create(&dry, &pot("a", 7)).await.unwrap();
    assert_eq!(tried.spec.colour.as_deref(), Some("dry"));
    assert!(api.get_opt("a").await.unwrap().is_none());
    let made = env.create(pot("a", 7)).await;
    assert_eq!(made.spec.colour.as_deref(), Some("black"));
    assert_eq!(made.spec.handles, ["left", "right"]);
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn every_field_survives_the_way_through_the_other_version(env: Env) {
    let operator = start(&env, seen::free_port()).await;
    let spec = v1beta1::PotSpec {
        litres: 4,
        colour: Some("red".to_owned()),
        handles: vec!["left".to_owned()],
        lid: Some(v1beta1::Lid { material: "glass".to_owned(), tight: true }),
    };
    let made = env.create(v1beta1::Pot::new("a", spec.clone())).await;
    let (old, new) = (env.api::<v1alpha1::Pot>(), env.api::<v1beta1::Pot>());
    let mut seen = old.get("a").await.unwrap();
    assert_eq!((seen.spec.millilitres, seen.spec.handles.as_str()), (4000, "left"));
    env.eventually("it is written in the older version", async || {
        seen = old.get("a").await.map_err(|error| error.to_string())?;
        seen.spec.color = Some("blue".to_owned());
        let replaced = old.replace("a", &PostParams::default(), &seen).await;
        replaced.map(drop).map_err(|error| error.to_string()) // the operator writes its status
    })
    .await;
    let after = new.get("a").await.unwrap();
    assert_eq!(after.spec, v1beta1::PotSpec { colour: Some("blue".to_owned()), ..spec });
    assert_eq!(after.metadata.uid, made.metadata.uid);

    let older = v1alpha1::PotSpec {
        millilitres: 2000,
        color: Some("green".to_owned()),
        handles: "left,right".to_owned(),
    };
    env.create(v1alpha1::Pot::new("b", older.clone())).await;
    assert_eq!(old.get("b").await.unwrap().spec, older);
    assert_eq!(new.get("b").await.unwrap().spec.handles, ["left", "right"]);
    assert_eq!(
        old.list(&kubewright::kube::api::ListParams::default()).await.unwrap().items.len(),
        2
    );
    // What is validated is the stored version, whatever was sent.
    let empty = v1alpha1::PotSpec { millilitres: 0, ..older };
    let answer = old.create(&PostParams::default(), &v1alpha1::Pot::new("c", empty)).await;
    assert!(answer.unwrap_err().to_string().contains("spec.litres: 0 is too little"));
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn a_webhook_that_panics_or_hangs_costs_its_own_call_only(env: Env) {
    let port = seen::free_port();
    let metrics = seen::free_port();
    let mut flags = flags(&env, port);
    flags.metrics_bind_address = format!("127.0.0.1:{metrics}");
    let operator = start_with(&env, port, flags).await;
    let mut panicking = pot("panicking", 1);
    panicking.spec.colour = Some("panic".to_owned());
    let said = refused(&env, &panicking).await;
    assert!(said.contains("panicked: asked to"), "{said}");
    let mut slow = pot("slow", 1);
    slow.spec.colour = Some("slow".to_owned());
    let waiting = tokio::spawn({
        let (env, slow) = (env.clone(), slow.clone());
        async move { refused(&env, &slow).await }
    });
    for number in 0..20 {
        env.create(pot(&format!("good-{number}"), 1)).await;
    }
    let said = waiting.await.unwrap();
    assert!(said.contains("failed calling webhook"), "{said}");
    let text = seen::answers(&env, metrics, "/metrics", 200).await;
    let path = "webhook=\"/validate-test-kubewright-dev-v1beta1-pot\"";
    for name in [
        &format!("controller_runtime_webhook_panics_total{{{path}}} 1"),
        &format!("controller_runtime_webhook_requests_total{{code=\"500\",{path}}} 1"),
        "controller_runtime_webhook_latency_seconds_count",
        "controller_runtime_webhook_requests_in_flight",
        "certwatcher_read_certificate_total",
    ] {
        assert!(text.contains(name), "{name}: {text}");
    }
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn what_somebody_resets_is_put_right_again(env: Env) {
    let port = seen::free_port();
    let operator = start(&env, port).await;
    env.create(pot("a", 1)).await;
    let name = format!("{}-webhook-server-cert", pots::NAME);
    let secrets: kubewright::kube::Api<Secret> =
        kubewright::kube::Api::namespaced(env.client(), env.client().default_namespace());
    let before = secrets.get(&name).await.unwrap().data.unwrap();
    secrets.delete(&name, &DeleteParams::default()).await.unwrap();
    let after = env
        .eventually("the Secret is there again", async || {
            secrets.get(&name).await.map_err(|error| error.to_string())
        })
        .await;
    assert!(after.data.unwrap() == before, "nobody had to trust anything new");
    env.create(pot("b", 1)).await;

    let mut untrusting = documents(port);
    let configurations = untrusting.iter_mut().filter_map(|one| one.get_mut("webhooks"));
    for webhook in configurations.flat_map(|list| list.as_array_mut().unwrap()) {
        webhook["clientConfig"]["caBundle"] = json!("");
    }
    cluster::apply(&env.client(), "other", &untrusting, &mut |_| {}).await.unwrap();
    env.eventually("it is trusted again", async || {
        let made = env.api().create(&PostParams::default(), &pot("c", 1)).await;
        made.map(drop).map_err(|error| error.to_string())
    })
    .await;
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn an_object_that_is_being_deleted_waits_for_no_webhook(env: Env) {
    let operator = start(&env, seen::free_port()).await;
    let mut held = pot("held", 1);
    held.metadata.finalizers = Some(vec!["test.kubewright.dev/held".to_owned()]);
    env.create(held).await;
    let api = env.api::<v1beta1::Pot>();
    api.delete("held", &DeleteParams::default()).await.unwrap();
    operator.stop().await;
    let free = Patch::Merge(json!({"metadata": {"finalizers": null}}));
    api.patch("held", &PatchParams::default(), &free).await.unwrap();
    assert!(api.get_opt("held").await.unwrap().is_none());
}

#[kubewright_testenv::test(own)]
async fn an_operator_that_is_replaced_answers_until_everybody_has_heard_of_it(env: Env) {
    let port = seen::free_port();
    let mut flags = flags(&env, port);
    flags.own_deployment = Some("pots".to_owned());
    let operator = start_with(&env, port, flags).await;
    let begun = Instant::now();
    let stopping = tokio::spawn(operator.stop());
    let mut number = 0;
    while begun.elapsed() < Duration::from_secs(4) {
        env.create(pot(&format!("a-{number}"), 1)).await;
        number += 1;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    stopping.await.unwrap();
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    let said = refused(&env, &pot("late", 1)).await;
    assert!(said.contains("failed calling webhook"), "{said}");
}

/// Each permission for webhooks that was used, as `verb resource`.
fn used(env: &Env, account: &str) -> BTreeSet<String> {
    let asked = seen::asked(env, account).into_iter();
    let asked = asked.filter(|record| {
        assert_ne!(record.code, 403, "{record:?}");
        !matches!(record.resource.as_str(), "pots" | "events" | "leases")
    });
    asked.map(|record| format!("{} {}", record.verb, record.resource)).collect()
}

#[kubewright_testenv::test(own)]
async fn with_its_roles_only_it_keeps_its_certificate_and_no_rule_is_left_over(env: Env) {
    let port = seen::free_port();
    let (operator, account) = pots::start_under_its_roles(&env, port).await;
    env.create(pot("a", 1)).await;
    let name = format!("{}-webhook-server-cert", pots::NAME);
    let past = json!({"metadata": {"annotations": {"kubewright.dev/renew-after": "2020-01-01T00:00:00Z"}}});
    let secrets = env.api::<Secret>();
    secrets.patch(&name, &PatchParams::default(), &Patch::Merge(past)).await.unwrap();
    env.eventually("the next certificate is prepared", async || {
        let secret = secrets.get(&name).await.map_err(|error| error.to_string())?;
        secret.data.unwrap().contains_key("next.crt").then_some(()).ok_or("not yet".to_owned())
    })
    .await;
    env.create(pot("b", 1)).await;
    let keep = |resource: &str| ["get", "patch", "watch"].map(|verb| format!("{verb} {resource}"));
    let mut expected: BTreeSet<_> =
        ["create", "get", "update", "watch"].map(|verb| format!("{verb} secrets")).into();
    for resource in [
        "customresourcedefinitions",
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
    ] {
        expected.extend(keep(resource));
    }
    assert_eq!(used(&env, &account), expected);
    operator.stop().await;
}

#[test]
fn an_operator_without_webhooks_pays_nothing() {
    let plain = Operator::new("book-operator").controller::<Books>();
    let installation = plain.installation().unwrap();
    assert!(plain.webhooks().is_empty());
    let text = json!(kubewright::generate::install::install(&installation)).to_string();
    assert!(!text.contains("webhook") && !text.contains("secrets"), "{text}");
    assert_eq!(operator().webhooks().len(), 3);
}

#[kubewright_testenv::test(own)]
async fn an_operator_without_webhooks_listens_nowhere_and_makes_no_secret(env: Env) {
    let (port, health) = (seen::free_port(), seen::free_port());
    let mut flags = flags(&env, port);
    flags.health_probe_bind_address = format!("127.0.0.1:{health}");
    let operator = running::start::<Books>(&env, flags).await;
    seen::answers(&env, health, "/readyz", 200).await;
    let connected = tokio::net::TcpStream::connect(("127.0.0.1", port)).await;
    assert!(connected.is_err(), "somebody listens");
    let secrets: kubewright::kube::Api<Secret> = kubewright::kube::Api::all(env.client());
    let secrets = secrets.list(&kubewright::kube::api::ListParams::default()).await.unwrap();
    assert!(secrets.items.is_empty(), "{secrets:?}");
    operator.stop().await;
}
