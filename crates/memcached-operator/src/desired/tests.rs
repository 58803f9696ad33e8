//! Golden cases, and what holds for every object.

mod any;

use std::path::Path;

use kubewright::generate::yaml::documents;
use memcached_api::v1alpha1::Memcached;
use serde_json::{Value, json};

use super::*;
use crate::fixtures::cluster;
use crate::invariants::violations;
use crate::reconcile::validate::validate;

/// Each folder of tests/golden holds an object and what becomes of it. `UPDATE_GOLDEN=1` writes the
/// latter anew, to be read as a diff.
#[test]
fn what_is_desired_is_as_the_golden_files_say() {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let mut cases = 0;
    for case in std::fs::read_dir(golden).unwrap() {
        let folder = case.unwrap().path();
        let text = std::fs::read_to_string(folder.join("cr.yaml")).unwrap();
        let memcached: Memcached = serde_saphyr::from_str(&text).unwrap();
        let Desired { deployment, service } = desired(&validate(&memcached, None).unwrap());
        let objects = [json!(deployment), json!(service)];
        let (actual, expected) = (documents(&objects).unwrap(), folder.join("desired.yaml"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&expected, &actual).unwrap();
        }
        let expected = std::fs::read_to_string(expected).unwrap();
        assert_eq!(actual, expected, "{}", folder.display());
        cases += 1;
    }
    assert!(cases >= 3, "only {cases} cases were found");
}

#[test]
fn any_object_yields_what_fits_together() {
    let names = ["a", "1", "a.b", "0.0", &"a".repeat(63), &"b".repeat(64), &"9".repeat(253)];
    for name in names {
        for port in [1, 80, 1023, 1024, 11211, 65535] {
            for size in [0, 1, 1000] {
                let spec = json!({"size": size, "containerPort": port});
                let violations = violations(&desired(&cluster(name, spec)));
                assert!(violations.is_empty(), "{name} {port} {size}: {violations:?}");
            }
        }
    }
}

#[test]
fn two_objects_never_share_a_service_or_a_selector() {
    let long = "a".repeat(70);
    let names = ["1", "x1", "a.b", "a-b", "a.b.c", long.as_str(), &long[1..]];
    let of = |name: &str| {
        let Desired { service, deployment } = desired(&cluster(name, json!({})));
        (service.metadata.name.unwrap(), deployment.spec.unwrap().selector)
    };
    for (at, one) in names.iter().enumerate() {
        for other in &names[at + 1..] {
            let (one, other) = (of(one), of(other));
            assert_ne!(one.0, other.0);
            assert_ne!(one.1, other.1);
        }
    }
}

#[test]
fn the_port_is_given_only_where_it_is_not_memcacheds_own() {
    let command = |spec: Value| {
        let pod = desired(&cluster("a", spec)).deployment.spec.unwrap().template.spec.unwrap();
        pod.containers[0].command.clone().unwrap().join(" ")
    };
    assert_eq!(command(json!({})), "memcached --memory-limit=64 -o modern -v");
    let other = json!({"containerPort": 12345});
    assert_eq!(command(other), "memcached --memory-limit=64 -o modern -v --port=12345");
}
