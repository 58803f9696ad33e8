//! What tests do to the world as a stranger, and what they wait for in it.

use std::fmt::Debug;

use kubewright::RECONCILED;
use kubewright::conditions::find;
use kubewright::k8s_openapi::NamespaceResourceScope;
use kubewright::kube::api::{Patch, PatchParams};
use kubewright::kube::{self, Api};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::books::Book;
use crate::running::{Running, settled};

/// The field manager of everybody who is not the operator.
pub const STRANGER: &str = "stranger";

/// Waits until the library's condition has this status and reason, and gives its message.
pub async fn reconciled(env: &Env, name: &str, status: &str, reason: &str) -> String {
    env.eventually(&format!("{name} is {status}/{reason}"), async || {
        let book = env.api::<Book>().get(name).await.map_err(|error| error.to_string())?;
        let generation = book.metadata.generation;
        let conditions = book.status.unwrap_or_default().conditions;
        let condition = find(&conditions, RECONCILED).ok_or("no condition yet")?;
        let wanted = (status, reason, generation);
        let seen = (&*condition.status, &*condition.reason, condition.observed_generation);
        if seen == wanted { Ok(condition.message.clone()) } else { Err(format!("{condition:?}")) }
    })
    .await
}

/// Creates a Book and waits until nothing is left to do for it.
pub async fn converged(env: &Env, operator: &Running, book: Book) -> Book {
    let name = env.create(book).await.name_any();
    reconciled(env, &name, "True", "Reconciled").await;
    settled(|| operator.writes(env).len()).await;
    env.api::<Book>().get(&name).await.unwrap()
}

/// Merges `patch` into an object, as a stranger.
pub async fn merge<K>(env: &Env, name: &str, patch: Value) -> K
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
    K: Clone + Debug + DeserializeOwned,
{
    try_patch(&env.api::<K>(), name, &Patch::Merge(patch)).await.unwrap()
}

/// Patches an object, as a stranger.
pub async fn try_patch<K>(api: &Api<K>, name: &str, patch: &Patch<Value>) -> kube::Result<K>
where
    K: Resource<DynamicType = ()> + Clone + Debug + DeserializeOwned,
{
    let parameters =
        PatchParams { field_manager: Some(STRANGER.to_owned()), ..PatchParams::default() };
    api.patch(name, &parameters, patch).await
}

/// What the operator wrote beyond the first `before` writes, once it has come to rest.
pub async fn writes_since(env: &Env, operator: &Running, before: usize) -> Vec<String> {
    settled(|| operator.writes(env)).await.split_off(before)
}
