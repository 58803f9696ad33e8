//! A task of the author's own starts when its instance leads, ends with the operator, and ends it if it fails.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kubewright::chain;
use kubewright::k8s_openapi::api::coordination::v1::Lease;
use kubewright::kube::api::{Patch, PatchParams};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::Books;
use crate::running;

fn operator() -> Operator {
    Operator::new("book-operator").controller::<Books>()
}

async fn is_set(env: &Env, what: &str, flag: &AtomicBool) {
    env.eventually(what, async || {
        flag.load(Ordering::SeqCst).then_some(()).ok_or_else(|| "not yet".to_owned())
    })
    .await;
}

#[kubewright_testenv::test]
async fn it_starts_only_when_its_instance_leads(env: Env) {
    env.install(&operator().definitions()).await;
    let now = kubewright::Clock::system().now().to_string();
    let lease: Lease = serde_json::from_value(json!({
        "metadata": {"name": "book-operator"},
        "spec": {"holderIdentity": "another", "leaseDurationSeconds": 3600, "renewTime": now},
    }))
    .unwrap();
    env.create(lease).await;
    let started = Arc::new(AtomicBool::new(false));
    let start = started.clone();
    let operator =
        operator().runnable("greeter", move |client: kubewright::kube::Client| async move {
            client.apiserver_version().await?;
            start.store(true, Ordering::SeqCst);
            std::future::pending().await
        });
    let mut flags = running::flags(&env);
    flags.leader_elect = true;
    flags.leader_election_namespace = Some(env.namespace().to_owned());
    let operator = running::start_as(&env, operator, flags, "operator").await;
    env.eventually("the standby looks at the lease", async || {
        let records = env.environment().audit().unwrap();
        let user = crate::seen::user(&env, "operator");
        let looked = records.iter().any(|it| it.user == user && it.resource == "leases");
        looked.then_some(()).ok_or_else(|| "not yet".to_owned())
    })
    .await;
    assert!(!running::settled(|| started.load(Ordering::SeqCst)).await);
    let free = Patch::Merge(json!({"spec": {"holderIdentity": ""}}));
    env.api::<Lease>().patch("book-operator", &PatchParams::default(), &free).await.unwrap();
    is_set(&env, "it starts", &started).await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn its_failure_ends_the_operator_with_its_name(env: Env) {
    env.install(&operator().definitions()).await;
    for (says, panics) in [("no words left", false), ("lost its voice", true)] {
        let operator = operator().runnable("singer", |_client| async { Ok(()) }).runnable(
            "greeter",
            move |_client| async move {
                assert!(!panics, "{says}");
                Err(says.into())
            },
        );
        let operator = running::start_as(&env, operator, running::flags(&env), "operator").await;
        let ended = tokio::time::timeout(Duration::from_secs(10), operator.ended()).await;
        let error = chain(&ended.expect("it ends").unwrap_err());
        assert!(error.contains("`greeter` failed") && error.contains(says), "{error}");
    }
}

#[kubewright_testenv::test]
async fn it_is_dropped_when_the_operator_stops(env: Env) {
    struct Farewell(Arc<AtomicBool>);
    impl Drop for Farewell {
        fn drop(&mut self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }
    env.install(&operator().definitions()).await;
    let (started, dropped) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (start, farewell) = (started.clone(), Farewell(dropped.clone()));
    let operator = operator().runnable("greeter", move |_client| async move {
        let _farewell = farewell;
        start.store(true, Ordering::SeqCst);
        std::future::pending().await
    });
    let operator = running::start_as(&env, operator, running::flags(&env), "operator").await;
    is_set(&env, "it starts", &started).await;
    assert!(!dropped.load(Ordering::SeqCst));
    operator.stop().await;
    assert!(dropped.load(Ordering::SeqCst), "it outlives the operator");
}
