//! What happens when all goes well.

use std::process::Command;

use kubewright_testenv::KubernetesVersion;
use kubewright_testenv::binaries::{Binaries, Binary};
use kubewright_testenv::cache::Cache;
use kubewright_testenv::progress::Progress;
use serde_json::Value;

use crate::bundles::Bundles;
use crate::place::{Before, Place, until};

const SAMPLE: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/samples/cache_v1alpha1_memcached.yaml");

pub(crate) fn olm_says_that_it_is_well(place: &Place) {
    let status: Value = serde_json::from_str(&place.succeeds("olm status -o json")).unwrap();
    assert_eq!(status["version"], "0.28.0", "{status}");
    let components = status["components"].as_array().unwrap();
    let names: Vec<_> = components.iter().filter_map(|one| one["name"].as_str()).collect();
    assert!(names.contains(&"olm-operator") && names.contains(&"catalog-operator"), "{status}");
    assert!(components.iter().all(|one| one["ready"] == one["wanted"]), "{status}");
}

/// The Operator Framework's own program finds nothing wrong with it.
pub(crate) fn a_catalogue_is_in_order(place: &Place, bundles: &Bundles) {
    let catalogue = place.folder().join("catalog");
    let releases = [(&bundles.folder, &bundles.first), (&bundles.second_folder, &bundles.second)];
    for (folder, image) in releases {
        let (folder, output) = (folder.display(), catalogue.display());
        place.succeeds(&format!("catalog {folder} --bundle-image {image} --output {output}"));
    }
    let version = KubernetesVersion::from_environment().unwrap();
    let binaries = Binaries::new(Cache::from_environment().unwrap(), version, Progress::Shown);
    let opm = binaries.unwrap().find(Binary::Opm).unwrap();
    let checked = Command::new(opm).arg("validate").arg(&catalogue).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

pub(crate) fn a_release_lives(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    let said = place.succeeds(&format!("run bundle {} -n pots", bundles.first));
    assert!(said.ends_with("memcached-operator.v0.0.1 runs in namespace pots\n"), "{said}");
    place.kubectl(&format!("apply --namespace pots -f {SAMPLE}"));
    served(place);

    let again = place.succeeds(&format!("run bundle {} -n pots", bundles.first));
    assert!(again.ends_with("memcached-operator.v0.0.1 runs in namespace pots\n"), "{again}");
    let other = place.fails(&format!("run bundle {} -n pots", bundles.second));
    assert!(other.contains("memcached-operator.v0.0.1 is installed already"), "{other}");

    let said = place.succeeds(&format!("run bundle-upgrade {} -n pots", bundles.second));
    assert!(said.ends_with("memcached-operator.v0.0.2 runs in namespace pots\n"), "{said}");
    served(place);
    until("the release before is gone", || {
        let releases = place.kubectl("get csv --namespace pots -o name");
        if releases.contains("v0.0.1") { Err(releases) } else { Ok(()) }
    });
    let status: Value = serde_json::from_str(&place.succeeds("olm status -o json")).unwrap();
    assert_eq!(status["operators"][0]["release"], "memcached-operator.v0.0.2", "{status}");

    let said = place.succeeds("cleanup memcached-operator -n pots");
    assert!(said.ends_with("memcached-operator is gone from namespace pots\n"), "{said}");
    place.until_as_before(&before);
    let again = place.succeeds("cleanup memcached-operator -n pots");
    assert_eq!(again, "there is nothing of memcached-operator in namespace pots\n");
}

/// The sample's caches run: the operator does its work.
fn served(place: &Place) {
    let line = "wait --for=condition=Available memcacheds --all --namespace pots --timeout=180s";
    place.kubectl(line);
}

pub(crate) fn a_folder_runs(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    let folder = bundles.folder.display();
    let line = format!("run bundle {folder} -n pots --install-mode OwnNamespace -o json");
    let supported = place.command(&line).output().unwrap();
    if !supported.status.success() {
        // A bundle need not support it; then it says which it does.
        let said = String::from_utf8_lossy(&supported.stderr).into_owned();
        assert!(said.contains("choose with --install-mode among"), "{said}");
        place.succeeds(&format!("run bundle {folder} -n pots"));
    }
    let jobs = place.kubectl("get jobs --namespace pots -o name");
    assert_eq!(jobs, "", "there is nothing to unpack");
    place.succeeds("cleanup memcached-operator -n pots");
    place.until_as_before(&before);
}
