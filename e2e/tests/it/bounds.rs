//! Whoever installs may tighten what an object may ask for; what is committed stays as it is.

use kubewright_testenv::Env;
use memcached_e2e::kubectl::{apply, kubectl, refused};
use memcached_e2e::programs::{make, operator};

const COMMITTED: &str =
    concat!(env!("CARGO_MANIFEST_DIR"), "/../deploy/crds/cache.example.com_memcacheds.yaml");
const DEFINITION: &str =
    "customresourcedefinition.apiextensions.k8s.io/memcacheds.cache.example.com";

/// A cache called `a` whose spec is `spec`, in YAML's flow style.
fn cache(spec: &str) -> String {
    let kind = "apiVersion: cache.example.com/v1alpha1, kind: Memcached";
    format!("{{{kind}, metadata: {{name: a}}, spec: {spec}}}")
}

/// Waits for the complaint: a kind that is new to the API server is refused for another reason.
async fn until_refused(env: &Env, spec: &str, bound: &str) {
    env.eventually(&format!("{spec} is refused"), async || {
        let complaint = refused(env, &cache(spec));
        let names = complaint.contains("spec.size") && complaint.contains(bound);
        if names { Ok(()) } else { Err(complaint) }
    })
    .await;
}

fn size(env: &Env) -> String {
    kubectl(env, "get memcached a -o jsonpath={.spec.size}")
}

#[kubewright_testenv::test(own)]
async fn sizes_outside_of_tightened_bounds_are_refused_with_the_bound(env: Env) {
    let committed = std::fs::read_to_string(COMMITTED).unwrap();
    let said = make(&env, "--silent install MIN_SIZE=1 MAX_SIZE=5");
    assert_eq!(said.trim(), format!("{DEFINITION} created"));
    until_refused(&env, "{size: 0}", "greater than or equal to 1").await;
    until_refused(&env, "{size: 6}", "less than or equal to 5").await;
    apply(&env, &cache("{}"));
    assert_eq!(size(&env), "1");
    apply(&env, &cache("{size: 5}"));
    assert_eq!(size(&env), "5");
    assert_eq!(std::fs::read_to_string(COMMITTED).unwrap(), committed);
    let again = operator(&env, "install --bounds spec.size=1..5");
    assert_eq!(again.trim(), format!("{DEFINITION} unchanged"));
    let wide = operator(&env, "install");
    assert_eq!(wide.trim(), format!("{DEFINITION} configured"));
}

#[kubewright_testenv::test(own)]
async fn a_default_below_the_lowest_size_is_raised_to_it(env: Env) {
    let committed = std::fs::read_to_string(COMMITTED).unwrap();
    make(&env, "--silent install MIN_SIZE=2");
    until_refused(&env, "{size: 1}", "greater than or equal to 2").await;
    apply(&env, &cache("{}"));
    assert_eq!(size(&env), "2");
    assert_eq!(std::fs::read_to_string(COMMITTED).unwrap(), committed);
}
