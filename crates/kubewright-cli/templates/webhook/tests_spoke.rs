//! {{A}} `{{Kind}}` in {{spoke}}, converted by the operator for a real API server.

use kubewright::kube::ResourceExt as _;
use kubewright::kube::api::PostParams;
use kubewright::webhook::Convert as _;
use kubewright_testenv::Env;
use serde_json::json;
use {{crate}}::{{module}}::{{{Kind}}, {{spoke}}};

use crate::beside;

#[kubewright_testenv::test(own)]
async fn every_field_of_{{a}}_{{module}}_survives_{{spoke}}(env: Env) {
    beside::start(&env).await;
    let sample: {{Kind}} = beside::sample(include_str!("../../{{sample}}"));
    let (api, other) = ({{api}}, {{spoke_api}});
    let other = env.eventually("it can be read in {{spoke}}", async || {
        let name = sample.name_any();
        if api.get_opt(&name).await.map_err(|error| error.to_string())?.is_none() {
            let made = api.create(&PostParams::default(), &sample).await;
            made.map_err(|error| error.to_string())?;
        }
        other.get(&name).await.map_err(|error| error.to_string())
    });
    let back = other.await.to_hub();
    let stored = api.get(&sample.name_any()).await.unwrap();
    assert_eq!(json!(back.spec), json!(stored.spec));
    assert_eq!(back.metadata.uid, stored.metadata.uid);
}
