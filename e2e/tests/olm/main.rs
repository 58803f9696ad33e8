//! Bundles through an OLM that really runs, as people type it: `make test-olm`. On a local Kubernetes of its own,
//! which nothing else uses, because OLM is the whole cluster's.
//!
//! One test, and in it one scenario after the other, because bringing up the cluster and OLM takes longer than
//! each of them.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]
#![expect(clippy::print_stderr, reason = "a long test says what it is at")]

mod bundles;
mod interrupted;
mod life;
mod menus;
#[path = "../tutorials/parse.rs"]
mod parse;
mod place;
mod registry;
mod troubles;

use kubewright_testenv::harness::can_run;
use kubewright_testenv::preflight::Tier;

use bundles::Bundles;
use place::{Place, until};
use registry::Registry;

/// Something that happens to people.
type Scenario = fn(&Place, &Bundles);

#[test]
#[ignore = "builds OLM and takes long: `make test-olm`"]
fn bundles_run_through_olm_and_leave_nothing() {
    if !can_run("bundles_run_through_olm", Tier::Node) {
        return;
    }
    let place = Place::up();
    let untouched = place.of_the_cluster();
    assert!(place.fails("run bundle ./bundle").contains("OLM is not on this cluster"));

    let installed = place.succeeds("olm install --local");
    assert!(installed.ends_with("OLM 0.28.0 runs\n"), "{installed}");
    life::olm_says_that_it_is_well(&place);
    place.kubectl("create namespace pots");
    let registry = Registry::start(&place);
    let bundles = Bundles::publish(&place, &registry);

    let scenarios: [(&str, Scenario); 12] = [
        ("a catalogue of two releases is in order", life::a_catalogue_is_in_order),
        ("a release is installed, upgraded and removed", life::a_release_lives),
        ("a folder runs without an image", life::a_folder_runs),
        ("an image that is missing is told at once", troubles::a_missing_image_is_told),
        ("a registry that is down is told at once", troubles::a_registry_that_is_down_is_told),
        (
            "a registry that nodes cannot reach is told",
            troubles::a_registry_that_nodes_cannot_reach_is_told,
        ),
        ("a user without rights is told who may help", troubles::a_refusal_is_told),
        ("an operator that cannot start is told", troubles::a_failing_operator_is_told),
        ("webhooks are called", menus::webhooks_are_called_with_olms_certificate),
        ("cleanup needs nobody to be alive", menus::cleanup_needs_nobody),
        ("Ctrl-C again and again does not stop it", interrupted::again_and_again),
        ("Ctrl-C at any step leaves what cleanup removes", interrupted::at_every_step),
    ];
    for (name, scenario) in scenarios {
        eprintln!("--- {name}");
        scenario(&place, &bundles);
    }

    place.succeeds(&format!("run bundle {} -n pots", bundles.first));
    let refused = place.fails("olm uninstall");
    assert!(refused.contains("memcached-operator in namespace pots"), "{refused}");
    place.succeeds("cleanup memcached-operator -n pots");
    place.succeeds("olm uninstall");
    until("nothing is left of OLM", || {
        let left: Vec<_> = place.of_the_cluster().difference(&untouched).cloned().collect();
        // The namespace is the test's own.
        if left.iter().all(|one| one == "namespace/pots") { Ok(()) } else { Err(left.join(" ")) }
    });
    assert_eq!(place.succeeds("olm uninstall"), "there is no OLM on this cluster\n");
    drop(registry);
}
