//! What should be: the Deployment of {{a}} `{{Kind}}`. A plain function, to be tested without a cluster.

use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::{Container, {{port_import}}PodSpec};
use kubewright::workload;

use super::{{Kind}};

/// Tells the pods of one object from those of another.
const INSTANCE: &str = "{{group}}/{{object}}";
{{command}}
pub(super) fn deployment({{kind}}: &{{Kind}}, image: &str) -> Deployment {
    let container = Container {
        name: "{{object}}".to_owned(),
        image: Some(image.to_owned()),{{command_field}}{{ports}}
        ..Default::default()
    };
    let pod = PodSpec { containers: vec![container], ..Default::default() };
    let pod = workload::restricted({{user}}, pod);
    workload::deployment({{kind}}, INSTANCE, {{kind}}.spec.size, pod)
}
