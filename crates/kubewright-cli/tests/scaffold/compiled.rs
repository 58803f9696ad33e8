//! A project with kinds of all sorts, as it is written: it compiles without a warning, its files are in the
//! form of `rustfmt`, and its own tests pass on a real API server.

use std::path::PathBuf;
use std::process::Command;

use crate::folder::Folder;
use crate::upstream;

/// Everything that `add` can write, side by side.
const KINDS: [&str; 14] = [
    "create api --group cache --version v1alpha1 --kind Memcached --image=memcached:1.4.36-alpine --image-container-command=memcached,-m=64,-o,modern,-v --image-container-port=11211 --run-as-user=1001",
    "add api --group web --version v1 --kind Page --image example.com/page:1",
    "add api --group web --version v1 --kind Image --image example.com/image --image-container-port 80",
    "add api --group webapp --version v1 --kind Guestbook",
    "add api --group net --version v1beta1 --kind DNSZone --cluster --plural dnszones",
    "add api --group cache --version v2 --kind Store",
    "add api --group web --version v1 --kind Store",
    "add api --group web --version v1 --kind Type",
    "add api --group web --version v1 --kind Note --no-controller",
    "add api --api-version=other.example.org/v1 --kind=AVeryLongNameOfAKindThatIsWrittenOnSeveralLines",
    "add controller --api-version=other.example.org/v1 --kind=AVeryLongNameOfAKindThatIsWrittenOnSeveralLines",
    "create webhook --group cache --version v1alpha1 --kind Memcached --defaulting --programmatic-validation --conversion --spoke v1beta1",
    "add webhook --group webapp --version v1 --kind Guestbook --validation",
    "add webhook --group net --version v1beta1 --kind DNSZone --conversion --spoke v1",
];

/// What a person adds before a bundle can be made.
const BUNDLE: &str = r#"
[bundle]
display-name = "Sorts"
description = "Keeps objects of all sorts."
provider = { name = "Example" }
maintainers = [{ name = "A Person", email = "person@example.com" }]
icon = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
"#;

/// Shared by everything that is scaffolded in tests, so that the libraries are compiled once.
fn target() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let own = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target"));
    target.unwrap_or_else(own).join("scaffold")
}

#[test]
fn kinds_of_all_sorts_compile_without_a_warning_and_pass_their_tests() {
    let folder = Folder::new();
    folder.kubewright("new sorts-operator --domain example.com").well();
    let project = folder.within("sorts-operator");
    for line in KINDS {
        project.kubewright(line).well();
    }
    let format =
        Command::new("cargo").args(["fmt", "--check"]).current_dir(project.path("")).output();
    let format = format.unwrap();
    assert!(format.status.success(), "{}", String::from_utf8_lossy(&format.stdout));

    let said = project.kubewright_with("test", "CARGO_TARGET_DIR", &target()).all();
    assert!(!said.stderr.contains("warning"), "{}", said.stderr);
    assert!(said.stdout.contains("test result: ok. 16 passed"), "{}", said.stdout);

    let generate = |line| project.kubewright_with(line, "CARGO_TARGET_DIR", &target()).all();
    generate("generate");
    generate("generate --check");
    generate("generate k8s");
    let files = project.files();
    for expected in [
        "deploy/install.yaml",
        "deploy/crds/web.example.com_notes.yaml",
        "deploy/rbac/manager_role.yaml",
        "deploy/manager/validating_webhook_configuration.yaml",
    ] {
        assert!(files.iter().any(|file| file == expected), "{files:?}");
    }

    let described = project.read("kubewright.toml") + BUNDLE;
    std::fs::write(project.path("kubewright.toml"), described).unwrap();
    let said = generate("bundle --version 0.1.0 --channels stable").stdout;
    assert!(said.ends_with("bundle: 0 errors, 0 warnings\n"), "{said}");
    assert_eq!(upstream::said(&project.path("bundle")), Vec::<String>::new());
}
