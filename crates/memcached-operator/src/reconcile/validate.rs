//! What is asked for: an object with every default resolved, or what is wrong with it. Pure.
//!
//! The API server has checked the object against the schema of its definition; what is checked here is
//! what a definition of another version could have let through, and the operator's own environment.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kubewright::kube::ResourceExt as _;
use kubewright::names::label_value;
use memcached_api::v1alpha1::{MAX_SIZE, Memcached, Resources};

use crate::{DEFAULT_IMAGE, IMAGE_VARIABLE};

/// One cache, with nothing left open.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The name of the object, and of its Deployment.
    pub name: String,
    /// The name as the value of a label.
    pub instance: String,
    /// How many instances.
    pub size: i32,
    /// The port that they serve on.
    pub port: u16,
    /// Their image.
    pub image: String,
    /// What each may use.
    pub resources: ResourceRequirements,
}

/// What an object asks for that cannot be.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Invalid {
    /// The number of instances is out of bounds.
    #[error("spec.size is {0}: it must be 0 to {MAX_SIZE}")]
    Size(i32),
    /// The port is none.
    #[error("spec.containerPort is {0}: it must be 1 to 65535")]
    Port(i32),
    /// No image is named.
    #[error(
        "{IMAGE_VARIABLE} in the operator's environment is {0:?}: it must name an image, for example {DEFAULT_IMAGE}"
    )]
    Image(String),
}

/// Resolves an object. `default_image` is what the operator's environment names, if it does.
pub fn validate(memcached: &Memcached, default_image: Option<&str>) -> Result<Cluster, Invalid> {
    let spec = &memcached.spec;
    if !(0..=MAX_SIZE).contains(&spec.size) {
        return Err(Invalid::Size(spec.size));
    }
    let port = u16::try_from(spec.container_port).ok().filter(|port| *port > 0);
    let port = port.ok_or(Invalid::Port(spec.container_port))?;
    let image = spec.image.as_deref().or(default_image).unwrap_or(DEFAULT_IMAGE);
    if image.is_empty() || image.contains(char::is_whitespace) {
        return Err(Invalid::Image(image.to_owned()));
    }
    let name = memcached.name_any();
    Ok(Cluster {
        instance: label_value(&name),
        name,
        size: spec.size,
        port,
        image: image.to_owned(),
        resources: spec.resources.as_ref().map_or_else(default_resources, resources),
    })
}

/// Memcached keeps items in 64 MiB; a full cache of small items, one page of each size and a thousand
/// connections need up to 80 MiB beside them.
fn default_resources() -> ResourceRequirements {
    let amounts = |amounts: &[(&str, &str)]| {
        let amounts = amounts.iter().map(|(name, amount)| {
            let (name, amount): (String, String) = ((*name).into(), (*amount).into());
            (name, Quantity(amount))
        });
        Some(amounts.collect())
    };
    ResourceRequirements {
        requests: amounts(&[("cpu", "50m"), ("memory", "128Mi")]),
        limits: amounts(&[("memory", "160Mi")]),
        ..ResourceRequirements::default()
    }
}

fn resources(resources: &Resources) -> ResourceRequirements {
    let amounts = |amounts: &BTreeMap<String, memcached_api::Quantity>| {
        amounts.iter().map(|(name, amount)| (name.clone(), Quantity(amount.to_string()))).collect()
    };
    ResourceRequirements {
        requests: resources.requests.as_ref().map(amounts),
        limits: resources.limits.as_ref().map(amounts),
        ..ResourceRequirements::default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::fixtures::memcached;

    #[test]
    fn the_image_is_the_objects_else_the_operators_else_the_default() {
        let none = memcached("a", json!({}));
        let own = memcached("a", json!({"image": "own:1"}));
        let image = |object, default| validate(object, default).unwrap().image;
        assert_eq!(image(&own, Some("operators:1")), "own:1");
        assert_eq!(image(&none, Some("operators:1")), "operators:1");
        assert_eq!(image(&none, None), DEFAULT_IMAGE);
    }

    #[test]
    fn what_is_out_of_bounds_is_named() {
        let of = |spec, image| validate(&memcached("a", spec), image).unwrap_err();
        assert_eq!(of(json!({"size": -1}), None), Invalid::Size(-1));
        assert_eq!(of(json!({"size": 1001}), None), Invalid::Size(1001));
        assert_eq!(of(json!({"containerPort": 0}), None), Invalid::Port(0));
        assert_eq!(of(json!({"containerPort": 65536}), None), Invalid::Port(65536));
        let error = of(json!({}), Some("two words")).to_string();
        assert!(error.starts_with("MEMCACHED_IMAGE in the operator's environment"), "{error}");
    }

    #[test]
    fn resources_are_taken_as_a_whole() {
        let spec = json!({"resources": {"limits": {"cpu": 1, "memory": "1Gi"}}});
        let resources = validate(&memcached("a", spec), None).unwrap().resources;
        let limits = resources.limits.unwrap();
        assert_eq!((limits["cpu"].0.as_str(), limits["memory"].0.as_str()), ("1", "1Gi"));
        assert_eq!(resources.requests, None);
    }
}
