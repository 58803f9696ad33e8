//! A child is deleted, and the end of its owner is on its way: it comes by another watch, perhaps later.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::api::{DeleteParams, PropagationPolicy};
use kubewright_testenv::Env;
use kubewright_testenv::proxy::Proxy;
use kubewright_testenv::proxy::hook::{Asked, Event, EventFault, Hook};
use serde_json::json;

use crate::books::{Book, book};
use crate::faults::behind_proxy;
use crate::running::{self, Running, settled};
use crate::seen;
use crate::world::{merge, reconciled};

/// Once it is true nothing more is heard of books.
struct NoNews(AtomicBool);

impl Hook for NoNews {
    fn event(&self, watch: &Asked, _event: &Event) -> EventFault {
        let is_news = watch.path.ends_with("/books") && self.0.load(Ordering::Acquire);
        if is_news { EventFault::Drop } else { EventFault::Pass }
    }
}

/// An operator, a book with its map, and from then on no news of books.
async fn without_news(env: &Env) -> (Running, Proxy) {
    let (operator, proxy) = behind_proxy(env, running::flags(env)).await;
    let hook = Arc::new(NoNews(AtomicBool::new(false)));
    proxy.set_hook(Some(hook.clone()));
    proxy.expire_watches(); // those that began without the hook
    env.create(book("a")).await;
    reconciled(env, "a", "True", "Reconciled").await;
    settled(|| operator.writes(env).len()).await;
    hook.0.store(true, Ordering::Release);
    (operator, proxy)
}

async fn delete_map(env: &Env) {
    env.api::<ConfigMap>().delete("a", &DeleteParams::default()).await.unwrap();
}

fn looks_at_the_book(env: &Env) -> usize {
    let asked = seen::asked(env, &seen::user(env, "operator"));
    asked.iter().filter(|record| record.verb == "get" && record.resource == "books").count()
}

async fn looked_at_the_book(env: &Env, before: usize) {
    env.eventually("the owner was looked at", async || match looks_at_the_book(env) {
        looks if looks > before => Ok(()),
        looks => Err(format!("{looks} times")),
    })
    .await;
}

#[kubewright_testenv::test]
async fn a_child_is_made_anew_after_one_look_at_its_owner(env: Env) {
    let (operator, _proxy) = without_news(&env).await;
    let before = (operator.writes(&env).len(), looks_at_the_book(&env));
    delete_map(&env).await;
    seen::text(&env, "a", "once").await;
    let after = settled(|| (operator.writes(&env).len(), looks_at_the_book(&env))).await;
    assert_eq!(after, (before.0 + 1, before.1 + 1));
}

#[kubewright_testenv::test]
async fn a_child_that_its_owner_lets_go_is_not_taken_back(env: Env) {
    let (operator, _proxy) = without_news(&env).await;
    let before = (operator.writes(&env).len(), looks_at_the_book(&env));
    let orphan = DeleteParams {
        propagation_policy: Some(PropagationPolicy::Orphan),
        ..DeleteParams::default()
    };
    env.api::<Book>().delete("a", &orphan).await.unwrap();
    // What the garbage collector does then.
    merge::<ConfigMap>(&env, "a", json!({"metadata": {"ownerReferences": null}})).await;
    looked_at_the_book(&env, before.1).await;
    let after = settled(|| (operator.writes(&env).len(), looks_at_the_book(&env))).await;
    assert_eq!(after, (before.0, before.1 + 1));
    let map = env.api::<ConfigMap>().get("a").await.unwrap();
    assert_eq!(map.metadata.owner_references, None);
}

#[kubewright_testenv::test]
async fn an_owner_that_somebody_takes_off_a_child_is_put_back_after_one_look(env: Env) {
    let (operator, _proxy) = without_news(&env).await;
    let before = (operator.writes(&env).len(), looks_at_the_book(&env));
    merge::<ConfigMap>(&env, "a", json!({"metadata": {"ownerReferences": null}})).await;
    looked_at_the_book(&env, before.1).await;
    let after = settled(|| (operator.writes(&env).len(), looks_at_the_book(&env))).await;
    assert_eq!(after, (before.0 + 1, before.1 + 1));
    let map = env.api::<ConfigMap>().get("a").await.unwrap();
    assert_eq!(map.metadata.owner_references.map(|owners| owners.len()), Some(1));
}

#[kubewright_testenv::test]
async fn no_child_is_made_anew_for_an_owner_that_is_gone(env: Env) {
    let (operator, _proxy) = without_news(&env).await;
    let before = (operator.writes(&env).len(), looks_at_the_book(&env));
    env.api::<Book>().delete("a", &DeleteParams::default()).await.unwrap();
    delete_map(&env).await;
    looked_at_the_book(&env, before.1).await;
    let after = settled(|| (operator.writes(&env).len(), looks_at_the_book(&env))).await;
    assert_eq!(after, (before.0, before.1 + 1));
    assert!(env.api::<ConfigMap>().get_opt("a").await.unwrap().is_none());
}

#[kubewright_testenv::test]
async fn no_child_is_made_anew_for_an_owner_that_goes(env: Env) {
    let (operator, _proxy) = without_news(&env).await;
    let before = (operator.writes(&env).len(), looks_at_the_book(&env));
    // It stays until its children are gone, and nobody collects them here.
    let foreground = DeleteParams::foreground();
    env.api::<Book>().delete("a", &foreground).await.unwrap();
    delete_map(&env).await;
    looked_at_the_book(&env, before.1).await;
    let after = settled(|| operator.writes(&env).len()).await;
    assert_eq!(after, before.0);
    assert!(env.api::<ConfigMap>().get_opt("a").await.unwrap().is_none());
}
