//! `add webhook` and `create webhook`: what is written, what is declared, and what is refused.

use std::fs;

use crate::{MEMCACHED, project};

const WEBHOOK: &str = "webhook --group cache --version v1alpha1 --kind Memcached";

#[test]
fn what_is_asked_for_is_written_declared_and_turned_on() {
    let project = project();
    project.kubewright(MEMCACHED).well();
    let said = project
        .kubewright(&format!("create {WEBHOOK} --defaulting --programmatic-validation"))
        .well();
    assert!(said.contains("  created  src/memcached/webhook.rs\n"), "{said}");
    let webhook = project.read("src/memcached/webhook.rs");
    for implemented in
        ["impl webhook::Default for Memcached", "impl webhook::Validate for Memcached"]
    {
        assert!(webhook.contains(implemented), "{webhook}");
    }
    let controller = project.read("src/memcached/controller.rs");
    assert!(controller.contains("fn wire(wiring: &mut Wiring<Memcached>)"), "{controller}");
    assert!(controller.contains("wiring.validates();\n        wiring.defaults();"), "{controller}");
    assert!(project.read("src/memcached.rs").contains("mod webhook;"));
    assert!(project.read("Cargo.toml").contains("features = [\"webhook\"]"));
    let record = project.read("kubewright.toml");
    assert!(record.contains("webhooks = [\"defaulting\", \"validation\"]"), "{record}");

    let before = project.contents();
    let said = project.kubewright(&format!("add {WEBHOOK} --validation")).well();
    assert!(said.contains("has these webhooks already"), "{said}");
    assert_eq!(project.contents(), before);
}

#[test]
fn one_after_the_other_goes_into_what_people_have_made_of_the_first() {
    let project = project();
    project.kubewright(MEMCACHED).well();
    project.kubewright(&format!("add {WEBHOOK} --validation")).well();
    let path = "src/memcached/webhook.rs";
    fs::write(project.path(path), format!("{}// Ours.\n", project.read(path))).unwrap();
    project.kubewright(&format!("add {WEBHOOK} --defaulting")).well();
    let webhook = project.read(path);
    assert!(webhook.contains("// Ours.") && webhook.contains("Default for Memcached"), "{webhook}");
    assert_eq!(webhook.matches("Validate for Memcached").count(), 1, "{webhook}");
}

#[test]
fn another_version_begins_as_a_copy_of_the_stored_one() {
    let project = project();
    project.kubewright(&format!("{MEMCACHED} --image=memcached:1 --image-container-port=1")).well();
    project.kubewright(&format!("add {WEBHOOK} --conversion --spoke v1beta1")).well();
    let spoke = project.read("src/memcached/v1beta1.rs");
    for expected in [
        "version = \"v1beta1\"",
        "pub container_port: i32",
        "        let MemcachedSpec {
            size,
            container_port,",
    ] {
        assert!(spoke.contains(expected), "{spoke}");
    }
    assert!(project.read("src/memcached.rs").contains("pub mod v1beta1;"));
    let controller = project.read("src/memcached/controller.rs");
    assert!(controller.contains("wiring.converts::<super::v1beta1::Memcached>();"), "{controller}");
    assert!(project.read("kubewright.toml").contains("spokes = [\"v1beta1\"]"));
    let sample = "deploy/samples/cache_v1beta1_memcached.yaml";
    assert!(project.read(sample).starts_with("apiVersion: cache.example.com/v1beta1\n"));
    assert!(project.read("src/lib.rs").contains(sample));
}

#[test]
fn what_cannot_be_is_refused_and_nothing_changes() {
    let project = project();
    project.kubewright(&format!("{MEMCACHED} --controller=false")).well();
    project.kubewright("add api --group web --version v1 --kind Page").well();
    let before = project.contents();
    let page = "add webhook --group web --version v1 --kind Page";
    for (line, expected) in [
        (page.to_owned(), "which? Say it with --defaulting"),
        (format!("{page} --conversion"), "--spoke"),
        (format!("{page} --conversion --spoke v1"), "v1 is the version that is stored"),
        (format!("{page} --conversion --spoke 2"), "is no version"),
        (format!("add {WEBHOOK} --validation"), "has no controller"),
        (
            "add webhook --group a --version v1 --kind B --validation".into(),
            "there is no a.example",
        ),
        (
            "add webhook --group web --version v2 --kind Page --validation".into(),
            "as web.example.com/v1",
        ),
    ] {
        let said = project.kubewright(&line).failed();
        assert!(said.contains(expected), "{line}: {said}");
        assert_eq!(project.contents(), before, "{line}");
    }
}
