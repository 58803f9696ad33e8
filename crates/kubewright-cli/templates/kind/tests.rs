//! What the operator does for {{a}} `{{Kind}}`.

use kubewright::conditions;
use kubewright_testenv::Env;
use {{crate}}::{{module}}::{{{Kind}}, {{Kind}}Spec};

use crate::start;

#[kubewright_testenv::test]
async fn {{a}}_{{module}}_is_looked_after(env: Env) {
    start(&env).await;
    let sample = {{Kind}}::new("sample", {{Kind}}Spec::default());
    env.create(sample).await;
    env.eventually("Reconciled=True", async || {
        let found = env.api::<{{Kind}}>().get("sample").await;
        let status = found.map_err(|error| error.to_string())?.status.unwrap_or_default();
        let is_reconciled = conditions::is_true(&status.conditions, "Reconciled");
        is_reconciled.then_some(()).ok_or_else(|| format!("{status:?}"))
    })
    .await;
}
