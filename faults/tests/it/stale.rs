//! What was so when the operator looked, and is no more when its write arrives.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kube::ResourceExt as _;
use kube::api::{DeleteParams, PostParams};
use kubewright_testenv::Env;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};
use memcached_faults::label;
use serde_json::json;

use crate::stage::Stage;

/// Long enough for people to replace an object.
const ON_ITS_WAY: Duration = Duration::from_secs(2);

/// Once it is armed, the next write of a Deployment is on its way for a while.
#[derive(Default)]
struct LateWrite {
    armed: AtomicBool,
    sent: AtomicBool,
}

impl Hook for LateWrite {
    fn request(&self, asked: &Asked) -> RequestFault {
        let is_it = label::is_write(asked) && label::place(&asked.path).resource == "deployments";
        if is_it && self.armed.swap(false, Ordering::SeqCst) {
            self.sent.store(true, Ordering::SeqCst);
            return RequestFault::Delay(ON_ITS_WAY);
        }
        RequestFault::Pass
    }
}

#[kubewright_testenv::test]
async fn s2_a_child_that_was_replaced_before_the_write_came_is_left_alone(env: Env) {
    let hook = Arc::new(LateWrite::default());
    let stage = Stage::new(&env, hook.clone(), &["--max-backoff=5s"]).await;
    stage.create("a", 0).await;
    stage.settled().await;
    hook.armed.store(true, Ordering::SeqCst);
    stage.resize("a", 1).await;
    stage
        .eventually("the write is on its way", async || {
            if hook.sent.load(Ordering::SeqCst) { Ok(()) } else { Err("not yet".to_owned()) }
        })
        .await;
    stage.deployments().delete("a", &DeleteParams::background()).await.unwrap();
    let foreign = json!({"metadata": {"name": "a"}, "spec": {"replicas": 0,
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "a", "image": "a"}]}}}});
    let foreign = serde_json::from_value(foreign).unwrap();
    let foreign = stage.deployments().create(&PostParams::default(), &foreign).await.unwrap();
    stage.told("a", "NameTaken").await;
    tokio::time::sleep(ON_ITS_WAY).await; // the late write has arrived by now
    let still = stage.deployments().get("a").await.unwrap();
    assert_eq!(
        still.resource_version(),
        foreign.resource_version(),
        "{:?}",
        still.managed_fields()
    );
    stage.deployments().delete("a", &DeleteParams::background()).await.unwrap();
    stage.settled().await;
    stage.stands();
}
