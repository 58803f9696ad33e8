//! The webhooks of {{a}} `{{Kind}}`, called by a real API server.

use kubewright::kube::api::PostParams;
use kubewright_testenv::Env;
use {{crate}}::{{module}}::{{Kind}};

use crate::beside;

#[kubewright_testenv::test(own)]
async fn the_sample_of_{{a}}_{{module}}_passes_its_webhooks(env: Env) {
    beside::start(&env).await;
    let sample: {{Kind}} = beside::sample(include_str!("../../{{sample}}"));
    let api = {{api}};
    env.eventually("the sample is taken", async || {
        let taken = api.create(&PostParams::default(), &sample).await;
        taken.map(drop).map_err(|error| error.to_string())
    })
    .await;
}
