//! What cannot be done: one sentence with the way out, and nothing changed.

use std::fs;

use crate::folder::{Folder, Said};
use crate::{MEMCACHED, project};

#[test]
fn what_cannot_be_is_refused_and_nothing_changes() {
    let project = project();
    let before = project.contents();
    for (line, expected) in [
        ("add api --group cache --version v1 --kind memcached", "as `Memcached`"),
        ("add api --group cache --version v1 --kind Self", "choose another"),
        ("add api --group cache --version v1 --kind Condition", "choose another"),
        ("add api --group cache --version 1 --kind Memcached", "write `v1`"),
        ("add api --group Cache --version v1 --kind Memcached", "cannot be a group"),
        (
            "add api --group a --domain k8s.io --version v1 --kind Memcached",
            "belongs to the Kubernetes project",
        ),
        (
            "add api --group a --version v1 --kind B --image x --cluster",
            "--image needs a kind in namespaces",
        ),
        (
            "add api --group a --version v1 --kind B --image x --no-controller",
            "leave out --no-controller",
        ),
        ("add api --group a --version v1 --kind B --image A:b:c", "is no name of an image"),
        (
            "add api --group a --version v1 --kind B --image-container-port 0 --image x",
            "0 is not in 1..=65535",
        ),
        ("add api --group a --version v1 --kind B --plural Bs", "write it in lower case"),
        (
            "add controller --group a --version v1 --kind B",
            "`kubewright add api --api-version a.example.com/v1 --kind B`",
        ),
        (
            "create api --resource=false --controller --group a --version v1 --kind B",
            "there is no a.example.com/v1 B",
        ),
        ("add api --api-version cache/v1 --kind B", "write it as cache.example.com/v1alpha1"),
    ] {
        let said = project.kubewright(line).failed();
        assert!(said.contains(expected), "{line}: {said}");
        assert_eq!(project.contents(), before, "{line}");
    }
    let folder = Folder::new();
    for (line, expected) in [
        ("new Memcached", "cannot be the name of a project"),
        ("new serde", "a crate that operators use has that name"),
        ("new fn", "Rust or a crate"),
        ("new a-operator --domain Example", "write it in lower case"),
        ("new a-operator --kubewright /nowhere", "there is no kubewright in /nowhere"),
        ("add api --group cache --version v1 --kind Memcached", "no kubewright.toml in"),
    ] {
        let said = folder.kubewright(line).failed();
        assert!(said.contains(expected), "{line}: {said}");
        assert!(folder.files().is_empty(), "{line}");
    }
    let odd = Folder::named("Odd Name");
    let said = odd.kubewright("init").failed();
    assert!(said.contains("say with --name") && odd.files().is_empty(), "{said}");
    odd.kubewright("init --name odd-operator").well();
}

#[test]
fn files_that_people_have_broken_or_put_in_the_way_are_named() {
    let project = project();
    fs::write(project.path("src/lib.rs"), "pub fn operator( {\n").unwrap();
    let before = project.contents();
    let said = project.kubewright(MEMCACHED).failed();
    assert!(said.contains("src/lib.rs cannot be edited, so nothing was changed: line 1"), "{said}");
    fs::write(project.path("src/lib.rs"), "pub fn operator() {}\n").unwrap();
    let said = project.kubewright(MEMCACHED).failed();
    assert!(said.contains("there is no `Operator::new(…)` in it"), "{said}");
    assert_eq!(project.contents().len(), before.len());

    let project = crate::project();
    fs::write(project.path("src/memcached.rs"), "// Mine.\n").unwrap();
    let before = project.contents();
    let said = project.kubewright(MEMCACHED).failed();
    assert!(said.contains("src/memcached.rs is there already and is not touched"), "{said}");
    assert_eq!(project.contents(), before);

    fs::write(project.path("kubewright.toml"), "name = \n").unwrap();
    let said = project.kubewright(MEMCACHED).failed();
    assert!(said.contains("kubewright.toml"), "{said}");
}

/// As somebody who may not write there; root may write everywhere.
#[test]
fn a_folder_that_cannot_be_written_to_stays_as_it_was() {
    let project = project();
    let before = project.contents();
    let Some(Said { code, stderr, .. }) = project.as_nobody(MEMCACHED) else { return };
    assert_ne!(code, Some(0), "{stderr}");
    assert!(stderr.contains("so nothing was changed: Permission denied"), "{stderr}");
    assert_eq!(project.contents(), before);
}
