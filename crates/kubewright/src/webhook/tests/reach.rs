//! A keeper that does not reach all that it looks after: what it serves is served on, and renewed.

use std::time::Duration;

use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::Secret;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, Config};
use kubewright_testenv::{Env, Identity};
use serde_json::json;

use super::super::certificate::make;
use super::super::secret::{RENEW_AFTER, read};
use super::jugs::{Jug, NAME, jug, ready, served};
use crate::clock::Clock;
use crate::generate::webhook::secret_name;

const OVERLAP: Duration = Duration::from_secs(2);

async fn renew(env: &Env) {
    let past = json!({"metadata": {"annotations": {RENEW_AFTER: "2020-01-01T00:00:00Z"}}});
    let secrets = env.api::<Secret>();
    secrets.patch(&secret_name(NAME), &PatchParams::default(), &Patch::Merge(past)).await.unwrap();
}

#[kubewright_testenv::test(own)]
async fn a_configuration_that_is_missing_holds_up_neither_readiness_nor_renewal(env: Env) {
    let served = served().await;
    served.install(&env, None).await;
    let api: Api<ValidatingWebhookConfiguration> = Api::all(env.client());
    let name = format!("{NAME}-validating-webhook-configuration");
    api.delete(&name, &DeleteParams::default()).await.unwrap();
    let standing = served.keep(&env, OVERLAP);
    ready(&env, &standing).await;
    let secrets = env.api::<Secret>();
    let before = read(&secrets.get(&secret_name(NAME)).await.unwrap()).unwrap();
    renew(&env).await;
    env.eventually("another certificate is served", async || {
        let secret = secrets.get(&secret_name(NAME)).await.map_err(|error| error.to_string())?;
        let is_over = read(&secret)
            .is_some_and(|kept| kept.serving != before.serving && kept.authorities.len() == 1);
        is_over.then_some(()).ok_or_else(|| "not yet".to_owned())
    })
    .await;

    served.install(&env, None).await;
    env.eventually("it is called again", async || {
        let made = env.api::<Jug>().create(&PostParams::default(), &jug("a")).await;
        made.map(drop).map_err(|error| error.to_string())
    })
    .await;
}

#[kubewright_testenv::test(own)]
async fn an_api_server_that_does_not_answer_makes_no_replica_unready(env: Env) {
    let served = served().await;
    served.install(&env, None).await;
    let disturbed = env.environment().disturbed(Identity::Admin).await.unwrap();
    let kubeconfig = Kubeconfig::read_from(&disturbed.kubeconfig).unwrap();
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await;
    let client = Client::try_from(config.unwrap()).unwrap();
    let standing = served.keep_by(&env, client, OVERLAP);
    ready(&env, &standing).await;
    disturbed.proxy.cut();
    renew(&env).await; // so that there is something to do
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(standing.get(), Ok(()));
    disturbed.proxy.heal();
}

#[kubewright_testenv::test(own)]
async fn a_secret_that_is_damaged_is_written_anew(env: Env) {
    let served = served().await;
    served.install(&env, None).await;
    let standing = served.keep(&env, OVERLAP);
    ready(&env, &standing).await;
    let (secrets, name) = (env.api::<Secret>(), secret_name(NAME));
    let good = read(&secrets.get(&name).await.unwrap()).unwrap();
    let foreign = make(&[], Clock::system().now(), 90).unwrap().authority;
    for (key, value) in [("tls.crt", "damaged"), ("tls.key", "damaged"), ("ca.crt", &foreign)] {
        let value = k8s_openapi::ByteString(value.into());
        let damage = Patch::Merge(json!({"data": {key: value}}));
        secrets.patch(&name, &PatchParams::default(), &damage).await.unwrap();
        env.eventually("what was served is there again", async || {
            let secret = secrets.get(&name).await.map_err(|error| error.to_string())?;
            (read(&secret).as_ref() == Some(&good)).then_some(()).ok_or_else(|| key.to_owned())
        })
        .await;
        assert_eq!(standing.get(), Ok(()));
    }
}
