//! What holds of everything that is desired, whatever an object says: checked in tests over many objects.

use std::collections::BTreeMap;

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::desired::Desired;

/// What is wrong, as sentences.
pub(crate) fn violations(desired: &Desired) -> Vec<&'static str> {
    let Desired { deployment, service } = desired;
    let spec = deployment.spec.as_ref().unwrap();
    let template = spec.template.metadata.as_ref().unwrap();
    let pod = spec.template.spec.as_ref().unwrap();
    let container = &pod.containers[0];
    let port = &container.ports.as_ref().unwrap()[0];
    let service_spec = service.spec.as_ref().unwrap();
    let service_port = &service_spec.ports.as_ref().unwrap()[0];
    let labels = template.labels.as_ref().unwrap();
    let selects = |selector: &Option<BTreeMap<String, String>>| {
        let selector = selector.as_ref().unwrap();
        !selector.is_empty() && selector.iter().all(|(key, value)| labels.get(key) == Some(value))
    };
    let target = IntOrString::String(port.name.clone().unwrap());
    let surge = spec.strategy.as_ref().and_then(|strategy| strategy.rolling_update.as_ref());
    let name = service.metadata.name.as_deref().unwrap();
    let low = port.container_port < 1024;
    let sysctls = pod.security_context.as_ref().and_then(|context| context.sysctls.as_ref());
    [
        (selects(&spec.selector.match_labels), "the Deployment selects its pods"),
        (selects(&service_spec.selector), "the Service selects the pods"),
        (service_port.target_port.as_ref() == Some(&target), "the Service's port is the pods'"),
        (service_port.port == port.container_port, "the Service serves the same port"),
        (surge.unwrap().max_surge == Some(IntOrString::Int(0)), "there are never more instances"),
        (labels.values().all(|value| value.len() <= 63), "labels have legal values"),
        ((1..=63).contains(&name.len()) && !name.contains('.'), "the Service has a legal name"),
        (name.starts_with(|first: char| first.is_ascii_lowercase()), "it begins with a letter"),
        (low == sysctls.is_some(), "a low port, and only that, needs a setting of the kernel"),
    ]
    .into_iter()
    .filter_map(|(holds, sentence)| (!holds).then_some(sentence))
    .collect()
}
