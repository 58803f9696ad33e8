//! What is said when something is wrong: one sentence with the way out; and then `cleanup` works.

use crate::bundles::Bundles;
use crate::place::{Before, Place};

/// Nothing may be on the cluster where nothing could come of it.
fn nothing_was_made(place: &Place, before: &Before) {
    place.until_as_before(before);
    assert_eq!(place.kubectl("get catalogsources,subscriptions --namespace pots -o name"), "");
}

pub(crate) fn a_missing_image_is_told(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    let said = place.fails(&format!("run bundle {} -n pots", bundles.missing));
    assert!(said.contains(&format!("has no image {}", bundles.missing)), "{said}");
    assert!(said.contains("kubewright bundle push"), "{said}");
    nothing_was_made(place, &before);
}

pub(crate) fn a_registry_that_is_down_is_told(place: &Place, _: &Bundles) {
    let before = Before::of(place);
    let said = place.fails("run bundle localhost:1/a:1 -n pots");
    assert!(said.contains("cannot reach the registry localhost:1: check its name"), "{said}");
    nothing_was_made(place, &before);
}

/// Read here, and out of the nodes' reach: OLM's unpack job never gets it.
pub(crate) fn a_registry_that_nodes_cannot_reach_is_told(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    let said = place.fails(&format!("run bundle {} -n pots", bundles.unreachable));
    assert!(said.contains(&format!("the nodes cannot pull {}", bundles.unreachable)), "{said}");
    assert!(said.contains("push it to a registry that the nodes reach"), "{said}");
    place.succeeds("cleanup memcached-operator -n pots");
    place.until_as_before(&before);
}

pub(crate) fn a_refusal_is_told(place: &Place, bundles: &Bundles) {
    place.kubectl("create serviceaccount weak --namespace pots");
    let token = place.kubectl("create token weak --namespace pots");
    let weak = place.folder().join("weak.kubeconfig");
    std::fs::copy(place.kubeconfig(), &weak).unwrap();
    let weak = weak.display();
    let config = format!("--kubeconfig {weak} config");
    place.kubectl(&format!("{config} set-credentials weak --token={}", token.trim()));
    place.kubectl(&format!("{config} set-context --current --user=weak"));
    let said = place.fails(&format!("run bundle {} -n pots --kubeconfig {weak}", bundles.first));
    assert!(said.contains("your user may not do all that this takes"), "{said}");
    assert!(
        said.contains("forbidden") && said.contains("system:serviceaccount:pots:weak"),
        "{said}"
    );
    assert_eq!(said.matches("is forbidden").count(), 1, "told more than once: {said}");
    place.kubectl("delete serviceaccount weak --namespace pots");
}

pub(crate) fn a_failing_operator_is_told(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    let said = place.fails(&format!("run bundle {} -n pots", bundles.broken.display()));
    assert!(said.contains("the nodes cannot pull localhost/none:1"), "{said}");
    let said = place.succeeds("cleanup memcached-operator -n pots");
    assert!(said.ends_with("is gone from namespace pots\n"), "{said}");
    place.until_as_before(&before);
}
