//! What the operator does for {{a}} `{{Kind}}`.

use kubewright::conditions;
use kubewright::kube::Api;
use kubewright::kube::api::{DeleteParams, PostParams};
use kubewright_testenv::Env;
use {{crate}}::{{module}}::{{{Kind}}, {{Kind}}Spec};

use crate::start;

#[kubewright_testenv::test]
async fn {{a}}_{{module}}_is_looked_after(env: Env) {
    start(&env).await;
    let (api, name) = (Api::<{{Kind}}>::all(env.client()), env.namespace());
    let sample = {{Kind}}::new(name, {{Kind}}Spec::default());
    api.create(&PostParams::default(), &sample).await.unwrap();
    env.eventually("Reconciled=True", async || {
        let found = api.get(name).await.map_err(|error| error.to_string())?;
        let status = found.status.unwrap_or_default();
        let is_reconciled = conditions::is_true(&status.conditions, "Reconciled");
        is_reconciled.then_some(()).ok_or_else(|| format!("{status:?}"))
    })
    .await;
    api.delete(name, &DeleteParams::default()).await.unwrap();
}
