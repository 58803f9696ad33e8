//! {{A}} `{{Kind}}` in {{spoke}}, converted by the operator for a real API server. Only what the sample says is tried: put
//! every field into it.

use kubewright::kube::ResourceExt as _;
use kubewright::kube::api::PostParams;
use kubewright::webhook::Convert as _;
use kubewright_testenv::Env;
use serde_json::json;
use {{crate}}::{{module}}::{{{Kind}}, {{spoke}}};

use crate::beside;

#[kubewright_testenv::test(own)]
async fn what_the_sample_of_{{a}}_{{module}}_says_survives_{{spoke}}(env: Env) {
    beside::start(&env).await;
    let mut sample: {{Kind}} = beside::sample(include_str!("../../{{sample}}"));
    sample.labels_mut().insert("label".to_owned(), "kept".to_owned());
    sample.annotations_mut().insert("annotation".to_owned(), "kept".to_owned());
    let (api, other) = ({{api}}, {{spoke_api}});
    let other = env.eventually("it can be read in {{spoke}}", async || {
        let name = sample.name_any();
        if api.get_opt(&name).await.map_err(|error| error.to_string())?.is_none() {
            let made = api.create(&PostParams::default(), &sample).await;
            made.map_err(|error| error.to_string())?;
        }
        other.get(&name).await.map_err(|error| error.to_string())
    });
    let other = other.await;
    let stored = api.get(&sample.name_any()).await.unwrap();
    let there = {{spoke}}::{{Kind}}::from_hub(stored.clone());
    assert_eq!(json!(other.spec), json!(there.spec), "what the API server has of it");
    assert_eq!(json!(there.to_hub()), json!(stored), "there and back");
    let back = {{spoke}}::{{Kind}}::from_hub(other.clone().to_hub());
    assert_eq!(json!(back), json!(other), "back and there, with metadata and status");
}
