//! What the operator does for {{a}} `{{Kind}}`.

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::kube::ResourceExt as _;
use kubewright_testenv::Env;
use {{crate}}::{{module}}::{{{Kind}}, {{Kind}}Spec};

use crate::start;

fn sample() -> {{Kind}} {
    {{Kind}}::new("sample", {{Kind}}Spec { size: 2{{port_value}} })
}

#[kubewright_testenv::test]
async fn {{a}}_{{module}}_gets_a_deployment_of_its_size(env: Env) {
    start(&env).await;
    let owner = env.create(sample()).await;
    let deployment = env.eventually_owned::<Deployment>(&owner).await;
    assert_eq!(deployment.spec.unwrap().replicas, Some(2));
}

#[kubewright_testenv::test]
async fn a_deleted_deployment_comes_back(env: Env) {
    start(&env).await;
    let owner = env.create(sample()).await;
    let first = env.eventually_owned::<Deployment>(&owner).await;
    env.delete(&first).await;
    let second = env.eventually_owned::<Deployment>(&owner).await;
    assert_ne!(first.uid(), second.uid());
}
