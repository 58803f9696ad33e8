//! A kind that comes and goes is used while it is there, and never waited or asked for otherwise.

use std::time::Duration;

use kubewright::k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kubewright::kube::api::DeleteParams;
use kubewright::kube::{Api, CustomResourceExt as _};
use kubewright::prelude::*;
use kubewright_testenv::Env;

use crate::books::{Book, book};
use crate::gadgets::{Gadget, GadgetBooks};
use crate::running;
use crate::seen;
use crate::world::reconciled;

async fn uninstall(env: &Env) {
    let api: Api<CustomResourceDefinition> = Api::all(env.client());
    let name = Gadget::crd().name_any();
    api.delete(&name, &DeleteParams::default()).await.unwrap();
    env.eventually("the definition is gone", async || match api.get_opt(&name).await {
        Ok(None) => Ok(()),
        other => Err(format!("{other:?}")),
    })
    .await;
}

/// Waits until the book has its gadget.
async fn has_gadget(env: &Env, name: &str) {
    let book = env.api::<Book>().get(name).await.unwrap();
    env.eventually_owned::<Gadget>(&book).await;
}

#[kubewright_testenv::test(own)]
async fn an_optional_kind_is_used_whenever_it_is_there(env: Env) {
    let operator = running::start::<GadgetBooks>(&env, running::flags(&env)).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let limit = Duration::from_secs(10);
    for round in ["installed", "installed again"] {
        env.install(&[Gadget::crd()]).await;
        let used = seen::within(limit, round, has_gadget(&env, "a")).await;
        reconciled(&env, "a", "True", "Reconciled").await;
        uninstall(&env).await;
        let name = round.replace(' ', "-");
        env.create(book(&name)).await;
        let gone_on = reconciled(&env, &name, "True", "Reconciled");
        let gone_on = seen::within(limit, "it goes on without", gone_on).await;
        reconciled(&env, "a", "True", "Reconciled").await;
        eprintln!("{round}: used after {used:?}, went on without after {gone_on:?}");
    }
    operator.stop().await;
}

#[kubewright_testenv::test(own)]
async fn a_kind_that_is_absent_is_not_asked_for_again_and_again(env: Env) {
    let user = seen::user(&env, "operator");
    let operator = running::start::<GadgetBooks>(&env, running::flags(&env)).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    // Definitions of others come and go as well.
    let mut other = Gadget::crd();
    other.metadata.name = Some("widgets.gadgets.kubewright.dev".to_owned());
    other.spec.names.plural = "widgets".to_owned();
    other.spec.names.kind = "Widget".to_owned();
    other.spec.names.singular = Some("widget".to_owned());
    other.spec.names.list_kind = None;
    env.install(&[other]).await;
    tokio::time::sleep(Duration::from_secs(50)).await;
    let asked = seen::asked(&env, &user);
    let asked = asked.iter().filter(|record| record.uri.contains("/gadgets")).count();
    assert!(asked < 5, "{asked} requests in a minute");
    eprintln!("{asked} requests in a minute");
    operator.stop().await;
}
