//! Answers that come after the news of what happened since, and answers that nobody may wait for.

use std::sync::Arc;
use std::time::Duration;

use http::{Response, StatusCode};
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::ResourceExt as _;
use kubewright::kube::api::DeleteParams;
use kubewright_testenv::Env;
use kubewright_testenv::proxy::hook::{Asked, Hook, RequestFault};
use serde_json::json;

use crate::books::book;
use crate::faults::{any_behind_proxy, behind_proxy};
use crate::finalizer::{Endings, gone};
use crate::running;
use crate::seen;
use crate::world::{merge, reconciled};

/// Every answer to a write of a map takes a second and a half; all news is faster.
struct SlowAnswers;

impl Hook for SlowAnswers {
    fn request(&self, asked: &Asked) -> RequestFault {
        let is_write = asked.method == http::Method::PATCH && asked.path.contains("/configmaps/");
        if is_write { RequestFault::Slow(Duration::from_millis(50)) } else { RequestFault::Pass }
    }
}

/// No status of a book that goes is taken.
struct NoFarewell;

impl Hook for NoFarewell {
    fn request(&self, asked: &Asked) -> RequestFault {
        let is_farewell = asked.path.ends_with("/status")
            && String::from_utf8_lossy(&asked.body).contains("Gone");
        if !is_farewell {
            return RequestFault::Pass;
        }
        let status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 422,
            "reason": "Invalid", "message": "status.conditions: not as it was agreed",
        });
        let answer = Response::builder().status(StatusCode::UNPROCESSABLE_ENTITY);
        let answer = answer.header("content-type", "application/json");
        RequestFault::Answer(answer.body(status.to_string().into()).unwrap())
    }
}

async fn map_is_there(env: &Env, unlike: &str) -> ConfigMap {
    env.eventually("the map is there", async || {
        let map = env.api::<ConfigMap>().get_opt("a").await.unwrap();
        map.filter(|map| map.uid().as_deref() != Some(unlike)).ok_or_else(|| "none".to_owned())
    })
    .await
}

#[kubewright_testenv::test]
async fn a_child_that_is_deleted_before_its_creation_is_answered_is_made_anew(env: Env) {
    let (operator, proxy) = behind_proxy(&env, running::flags(&env)).await;
    proxy.set_hook(Some(Arc::new(SlowAnswers)));
    env.create(book("a")).await;
    let first = map_is_there(&env, "").await;
    env.api::<ConfigMap>().delete("a", &DeleteParams::default()).await.unwrap();
    map_is_there(&env, &first.uid().unwrap()).await;
    proxy.set_hook(None);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_child_that_is_changed_before_its_creation_is_answered_is_put_right(env: Env) {
    let (operator, proxy) = behind_proxy(&env, running::flags(&env)).await;
    proxy.set_hook(Some(Arc::new(SlowAnswers)));
    env.create(book("a")).await;
    map_is_there(&env, "").await;
    merge::<ConfigMap>(&env, "a", json!({"data": {"text": "scribbled"}})).await;
    seen::text(&env, "a", "once").await;
    proxy.set_hook(None);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_farewell_that_is_refused_holds_nobody_up(env: Env) {
    let (operator, proxy) = any_behind_proxy::<Endings>(&env, running::flags(&env)).await;
    proxy.set_hook(Some(Arc::new(NoFarewell)));
    let book = env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    env.delete(&book).await;
    gone(&env, "a").await;
    proxy.set_hook(None);
    operator.stop().await;
}
