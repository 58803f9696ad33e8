//! What is asked for: an object with every default resolved, or what is wrong with it. Pure.
//!
//! The API server has checked the object against the schema of its definition; what is checked here is
//! what a definition of another version could have let through, and the operator's own environment.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ResourceRequirements;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use kubewright::kube::ResourceExt as _;
use kubewright::names::label_value;
use memcached_api::v1alpha1::{MAX_IMAGE, MAX_SIZE, Memcached, Resources};

use crate::DEFAULT_IMAGE;

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
    #[error("{whose} is {image:?}: it must name an image, for example {DEFAULT_IMAGE}")]
    Image {
        /// The field or variable that names it.
        whose: &'static str,
        /// What it names.
        image: String,
    },
    /// A container cannot have this.
    #[error(
        "{field} names {name:?}: use cpu, memory, ephemeral-storage or hugepages-SIZE, or a name with the domain of its vendor, for example example.com/device"
    )]
    Resource {
        /// `spec.resources.limits` or `spec.resources.requests`.
        field: &'static str,
        /// What it names.
        name: String,
    },
    /// Not as much as can be counted.
    #[error("{field}.{name} is {amount:?}: it must be an amount, for example 500m or 1Gi")]
    Amount {
        /// `spec.resources.limits` or `spec.resources.requests`.
        field: &'static str,
        /// What is counted.
        name: String,
        /// How much of it.
        amount: String,
    },
}

/// Names [`crate::IMAGE_VARIABLE`].
const DEFAULTED: &str = "MEMCACHED_IMAGE in the operator's environment";
const LIMITS: &str = "spec.resources.limits";
const REQUESTS: &str = "spec.resources.requests";

/// Resolves an object. `default_image` is what the operator's environment names, if it does.
pub fn validate(memcached: &Memcached, default_image: Option<&str>) -> Result<Cluster, Invalid> {
    let spec = &memcached.spec;
    if !(0..=MAX_SIZE).contains(&spec.size) {
        return Err(Invalid::Size(spec.size));
    }
    let port = u16::try_from(spec.container_port).ok().filter(|port| *port > 0);
    let port = port.ok_or(Invalid::Port(spec.container_port))?;
    let image = image(spec.image.as_deref(), default_image)?;
    let resources = spec.resources.as_ref().map_or_else(|| Ok(default_resources()), resources)?;
    let name = memcached.name_any();
    Ok(Cluster { instance: label_value(&name), name, size: spec.size, port, image, resources })
}

fn image(own: Option<&str>, default: Option<&str>) -> Result<String, Invalid> {
    let (whose, image) = match (own, default) {
        (Some(own), _) => ("spec.image", own),
        (None, Some(default)) => (DEFAULTED, default),
        (None, None) => return Ok(DEFAULT_IMAGE.to_owned()),
    };
    let length = image.chars().take(MAX_IMAGE + 1).count();
    let names_one = (1..=MAX_IMAGE).contains(&length)
        && !image.contains(|it: char| it.is_whitespace() || it.is_control());
    let invalid = || Invalid::Image { whose, image: shown(image) };
    names_one.then(|| image.to_owned()).ok_or_else(invalid)
}

/// Nothing that people wrote is longer in what is told of it: a text may fill the whole object.
const SHOWN: usize = 100;

fn shown(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
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

fn resources(resources: &Resources) -> Result<ResourceRequirements, Invalid> {
    let of = |field, amounts: &Option<Amounts>| {
        amounts.as_ref().map(|amounts| checked(field, amounts)).transpose()
    };
    Ok(ResourceRequirements {
        requests: of(REQUESTS, &resources.requests)?,
        limits: of(LIMITS, &resources.limits)?,
        ..ResourceRequirements::default()
    })
}

type Amounts = BTreeMap<String, memcached_api::Quantity>;

fn checked(field: &'static str, amounts: &Amounts) -> Result<BTreeMap<String, Quantity>, Invalid> {
    let one = |(name, amount): (&String, &memcached_api::Quantity)| {
        if !is_resource(name) {
            return Err(Invalid::Resource { field, name: shown(name) });
        }
        if !amount.is_amount() {
            let (name, amount) = (shown(name), shown(&amount.to_string()));
            return Err(Invalid::Amount { field, name, amount });
        }
        Ok((name.clone(), Quantity(amount.to_string())))
    };
    amounts.iter().map(one).collect()
}

/// What Kubernetes lets a container have: a list of its own, and what has a domain in its name. A rule in the
/// schema would say it earlier, but keys without a bound on their length make such a rule too dear.
fn is_resource(name: &str) -> bool {
    let is_part = |part: &str| {
        let ends = part.starts_with(|it: char| it.is_ascii_alphanumeric())
            && part.ends_with(|it: char| it.is_ascii_alphanumeric());
        ends && part.chars().all(|it| it.is_ascii_alphanumeric() || "-_.".contains(it))
    };
    match name.split_once('/') {
        None => {
            let own = matches!(name, "cpu" | "memory" | "ephemeral-storage");
            own || name.strip_prefix("hugepages-").is_some_and(is_part)
        }
        Some((domain, name)) => {
            let is_domain = is_part(domain)
                && !domain.contains('_')
                && !domain.contains(|it: char| it.is_ascii_uppercase());
            let short = domain.len() <= 253 && name.len() <= 63;
            is_domain && short && !domain.starts_with("requests.") && is_part(name)
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::IMAGE_VARIABLE;
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
        assert!(error.starts_with(IMAGE_VARIABLE), "{error}");
        let error = of(json!({"image": "two words"}), Some("operators:1")).to_string();
        assert!(error.starts_with("spec.image is \"two words\": it must name an image"), "{error}");
    }

    #[test]
    fn a_text_that_fills_its_object_is_refused_in_few_words() {
        let error = |spec| validate(&memcached("a", spec), None).unwrap_err().to_string();
        let huge = "x".repeat(1_000_000);
        for spec in [
            json!({"image": huge}),
            json!({"image": "é".repeat(513)}),
            json!({"resources": {"limits": {&huge: 1}}}),
            json!({"resources": {"limits": {format!("{huge}/a"): 1}}}),
            json!({"resources": {"limits": {"memory": huge}}}),
        ] {
            let error = error(spec);
            assert!(error.contains('…') && error.len() < 500, "{error}");
        }
        assert!(validate(&memcached("a", json!({"image": "é".repeat(512)})), None).is_ok());
    }

    #[test]
    fn what_a_container_cannot_have_is_named_with_its_field_and_what_to_do() {
        let of = |limits: serde_json::Value| {
            let spec = json!({"resources": {"limits": limits}});
            validate(&memcached("a", spec), None).map(drop).map_err(|error| error.to_string())
        };
        for name in ["cpu", "memory", "ephemeral-storage", "hugepages-2Mi", "example.com/thing"] {
            assert_eq!(of(json!({name: 1})), Ok(()), "{name}");
        }
        for name in
            ["unknown", "", "/", "a/", "/a", "a/b/c", "UPPER/a", "requests.a/b", "two words"]
        {
            let error = of(json!({name: 1})).unwrap_err();
            let expected = format!("spec.resources.limits names {name:?}: use cpu, memory");
            assert!(error.starts_with(&expected), "{error}");
        }
        let error = of(json!({"memory": "much"})).unwrap_err();
        assert!(
            error.starts_with("spec.resources.limits.memory is \"much\": it must be"),
            "{error}"
        );
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
