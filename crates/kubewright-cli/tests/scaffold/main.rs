//! `new`, `init`, `add` and `create` as people type them: what is written, what is left alone, and what is
//! said. That it compiles and works is in `compiled`.

#![expect(
    clippy::unwrap_used,
    reason = "the lint's exception for tests does not know their helpers"
)]

mod compiled;
mod folder;
mod refused;
#[path = "../bundle/upstream.rs"]
mod upstream;
mod webhooks;

use std::fs;

use folder::Folder;

const MEMCACHED: &str = "create api --group cache --version v1alpha1 --kind Memcached";

fn project() -> Folder {
    let folder = Folder::new();
    folder.kubewright("new memcached-operator --domain example.com").well();
    folder.within("memcached-operator")
}

#[test]
fn a_project_is_made_in_a_folder_of_its_own() {
    let folder = Folder::new();
    let said = folder.kubewright("new guestbook-operator --domain example.com").well();
    assert!(said.contains("cd guestbook-operator\n"), "{said}");
    let project = folder.within("guestbook-operator");
    let files = [
        ".gitignore",
        "Cargo.toml",
        "Makefile",
        "README.md",
        "kubewright.toml",
        "src/lib.rs",
        "src/main.rs",
    ];
    assert_eq!(project.files(), files);
    assert!(project.read("Cargo.toml").contains("name = \"guestbook-operator\""));
    let again = folder.kubewright("new guestbook-operator").failed();
    assert!(again.contains("is there already: to make a project in it, go there"), "{again}");
}

#[test]
fn what_is_in_the_folder_already_stays() {
    let folder = Folder::named("page-operator");
    fs::write(folder.path("README.md"), "mine\n").unwrap();
    let said = folder.kubewright("init --domain example.com").well();
    assert!(said.contains("  kept     README.md\n"), "{said}");
    assert_eq!(folder.read("README.md"), "mine\n");
    let before = folder.contents();
    let said = folder.kubewright("init --domain example.com").well();
    assert_eq!(said, "kubewright.toml is there already: this is a project\n");
    assert_eq!(folder.contents(), before);

    let crowded = Folder::named("other-operator");
    fs::write(crowded.path("Cargo.toml"), "[package]\n").unwrap();
    let before = crowded.contents();
    let said = crowded.kubewright("init").failed();
    assert!(said.contains("Cargo.toml is there already and is not touched"), "{said}");
    assert_eq!(crowded.contents(), before);
}

/// Section 7 of what the tutorials promise, with nothing but the program's name replaced.
#[test]
fn the_lines_of_the_tutorials_work() {
    for lines in [
        &[
            "init --domain=example.com",
            "create api --group cache --version v1alpha1 --kind Memcached --image=memcached:1.4.36-alpine --image-container-command=\"memcached,-m=64,-o,modern,-v\" --image-container-port=\"11211\" --run-as-user=\"1001\" --plugins=\"deploy-image/v1-alpha\" --make=false",
        ][..],
        &["init --domain=example.com", MEMCACHED],
        &[
            "init --domain tutorial.kubebuilder.io --repo tutorial.kubebuilder.io/project",
            "create api --group webapp --version v1 --kind Guestbook",
        ],
        &[
            "init --domain=some.dotted.domain --repo=github.com/me/memcached-operator --skip-go-version-check",
            "create api --resource=true --controller=true --group=cache --version=v1alpha1 --kind=Memcached",
        ],
        &["version"],
    ] {
        let folder = Folder::named("memcached-operator");
        for line in lines {
            folder.kubewright(line).well();
        }
    }
    let folder = Folder::new();
    folder.kubewright("new memcached-operator --repo=github.com/me/memcached-operator").well();
    let project = folder.within("memcached-operator");
    project.kubewright("add api --api-version=cache.example.com/v1alpha1 --kind=Memcached").well();
    assert!(project.read("src/lib.rs").contains(".kind::<memcached::Memcached>()"));
    project
        .kubewright("add controller --api-version=cache.example.com/v1alpha1 --kind=Memcached")
        .well();
    let library = project.read("src/lib.rs");
    assert!(library.contains(".controller::<memcached::MemcachedController>()"), "{library}");
    assert!(!library.contains(".kind::<"), "{library}");
}

#[test]
fn a_group_is_the_group_and_the_domain() {
    let folder = Folder::named("project");
    folder.kubewright("init --domain tutorial.kubebuilder.io").well();
    folder.kubewright("create api --group webapp --version v1 --kind Guestbook").well();
    assert!(folder.read("src/guestbook.rs").contains("group = \"webapp.tutorial.kubebuilder.io\""));
    assert!(
        folder
            .read("deploy/samples/webapp_v1_guestbook.yaml")
            .starts_with("apiVersion: webapp.tutorial.kubebuilder.io/v1\n")
    );
}

#[test]
fn flags_without_a_meaning_are_named_in_one_line_each() {
    let project = project();
    let said = project.kubewright(&format!("{MEMCACHED} --plugins=\"x\" --make=false")).all();
    let notes: Vec<_> = said.stderr.lines().filter(|line| line.starts_with("note: --")).collect();
    assert_eq!(notes.len(), 2, "{}", said.stderr);
}

#[test]
fn a_command_that_cannot_start_is_written_as_given_with_the_spelling_that_works() {
    let project = project();
    let command = "--image-container-command=memcached,-m=64,-o,modern,-v";
    let said =
        project.kubewright(&format!("{MEMCACHED} --image=memcached:1.4.36-alpine {command}")).all();
    assert!(
        said.stderr.contains("warning: ") && said.stderr.contains("--memory-limit=64"),
        "{}",
        said.stderr
    );
    assert!(project.read("src/memcached/deployment.rs").contains("\"-m=64\""));
}

#[test]
fn what_is_there_already_is_said_and_nothing_changes() {
    let project = project();
    project.kubewright(MEMCACHED).well();
    let before = project.contents();
    for line in [MEMCACHED, "add controller --group cache --version v1alpha1 --kind Memcached"] {
        let said = project.kubewright(line).well();
        let expected = "cache.example.com/v1alpha1 Memcached is there already: src/memcached.rs, with its controller\n";
        assert_eq!(said, expected);
    }
    let said = project.kubewright("add api --group cache --version v1 --kind Memcached").failed();
    assert!(said.contains("--conversion --spoke v1`"), "{said}");
    assert!(said.contains("change `version` in its `#[kube(…)]`"), "{said}");
    assert_eq!(project.contents(), before);
}

#[test]
fn a_second_kind_goes_into_what_people_have_made_of_the_first() {
    let project = project();
    project.kubewright(MEMCACHED).well();
    let library = project
        .read("src/lib.rs")
        .replace("use kubewright", "mod mine {}\n\n// Ours.\nuse kubewright");
    let library = library.replace(".version(", ".clock(mine::clock()) // why\n        .version(");
    fs::write(project.path("src/lib.rs"), &library).unwrap();
    fs::write(
        project.path("kubewright.toml"),
        format!("# Ours.\n{}", project.read("kubewright.toml")),
    )
    .unwrap();
    let said = project
        .kubewright("add api --group web --version v1 --kind HTTPRoute --cluster --plural routes")
        .well();
    assert!(said.contains("  changed  src/lib.rs\n"), "{said}");
    let after = project.read("src/lib.rs");
    for kept in ["mod mine {}", "// Ours.", ".clock(mine::clock()) // why"] {
        assert!(after.contains(kept), "{after}");
    }
    assert!(after.contains("pub mod http_route;"), "{after}");
    let kind = project.read("src/http_route.rs");
    assert!(kind.contains("plural = \"routes\"") && !kind.contains("namespaced"), "{kind}");
    assert!(project.read("kubewright.toml").starts_with("# Ours.\n"));
    assert!(project.read("tests/it/main.rs").contains("mod http_route;\nmod memcached;\n"));
}

#[test]
fn a_kind_of_the_same_name_in_another_group_gets_a_module_of_its_own() {
    let project = project();
    project.kubewright("add api --group cache --version v1 --kind Store").well();
    project.kubewright("add api --group web --version v1 --kind Store").well();
    let library = project.read("src/lib.rs");
    assert!(library.contains("pub mod store;\npub mod web_store;"), "{library}");
    let before = project.contents();
    let said = project.kubewright("add api --group web --version v1 --kind Store").well();
    assert!(said.contains("is there already: src/web_store.rs"), "{said}");
    let said = project.kubewright("add api --group cache --version v1 --kind Store").well();
    assert!(said.contains("is there already: src/store.rs"), "{said}");
    assert_eq!(project.contents(), before);
}

#[test]
fn a_project_without_a_domain_asks_for_it_at_the_first_kind() {
    let folder = Folder::named("a-operator");
    folder.kubewright("init").well();
    let said = folder.kubewright("add api --group cache --version v1 --kind Memcached").failed();
    assert!(said.contains("say it with --domain example.com"), "{said}");
    folder
        .kubewright("add api --group cache --version v1 --kind Memcached --domain example.com")
        .well();
    folder.kubewright("add api --group web --version v1 --kind Page").well();
    assert!(folder.read("src/page.rs").contains("group = \"web.example.com\""));
}

#[test]
fn a_dry_run_shows_the_diff_and_changes_nothing() {
    let project = project();
    let before = project.contents();
    let said = project.kubewright(&format!("{MEMCACHED} --dry-run")).well();
    for line in
        ["+++ b/src/memcached.rs\n", "--- a/src/lib.rs\n", "+pub mod memcached;\n", "+[[api]]\n"]
    {
        assert!(said.contains(line), "{said}");
    }
    assert_eq!(project.contents(), before);
}

#[test]
fn programs_read_what_was_done_as_json() {
    let folder = Folder::new();
    let said = folder.kubewright("new a-operator --domain example.com -o json").well();
    let answer: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["created"][1], "Cargo.toml");
    let said = folder.within("a-operator").kubewright(&format!("{MEMCACHED} -o json")).well();
    let answer: serde_json::Value = serde_json::from_str(&said).unwrap();
    assert_eq!(answer["changed"], serde_json::json!(["kubewright.toml", "src/lib.rs"]));
}

/// On a terminal, as Kubebuilder does: `script` gives the program one.
#[test]
fn create_api_asks_on_a_terminal() {
    let project = project();
    let Some(said) = project.on_a_terminal(MEMCACHED, "y\nn\n") else { return };
    assert!(
        said.contains("Create Resource [Y/n]") && said.contains("Create Controller [Y/n]"),
        "{said}"
    );
    let files = project.files();
    assert!(files.iter().any(|file| file == "src/memcached.rs"), "{said}");
    assert!(!files.iter().any(|file| file == "src/memcached/controller.rs"), "{said}");
}
