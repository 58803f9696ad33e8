//! The tutorials, done as a reader does them: what a page says one sees is what one sees.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by a panic")]

mod compare;
mod parse;
mod run;

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use kubewright_testenv::binaries::{Binaries, Binary};
use kubewright_testenv::cache::Cache;
use kubewright_testenv::harness::can_run;
use kubewright_testenv::preflight::Tier;
use kubewright_testenv::progress::Progress;
use kubewright_testenv::{KubernetesVersion, Registry};
use memcached_e2e::image::QUICK;
use memcached_e2e::programs::{program, said_by_upstream, scaffolded};
use parse::{Step, commands_until_running, steps};
use run::Terminal;

const GUESTBOOK: &str = include_str!("../../../docs/tutorials/guestbook.md");
const MEMCACHED: &str = include_str!("../../../docs/tutorials/memcached.md");
const WEBHOOKS: &str = include_str!("../../../docs/tutorials/webhooks.md");
const OPERATORHUB: &str = include_str!("../../../docs/guides/operatorhub.md");

/// One page at a time: each has a cluster, and all build in one folder.
static TURN: Mutex<()> = Mutex::new(());

#[test]
fn the_guestbook_is_as_its_page_says() {
    drop(follow("guestbook", GUESTBOOK));
}

#[test]
fn the_memcached_operator_is_as_its_page_says() {
    drop(follow("memcached", MEMCACHED));
}

#[test]
fn webhooks_are_as_their_page_says() {
    drop(follow("webhooks", WEBHOOKS));
}

/// With a registry of the test in the place of the reader's.
#[test]
fn publishing_is_as_its_page_says() {
    let registry = Registry::open().unwrap();
    let page = OPERATORHUB.replace("quay.io/you", &format!("{}/you", registry.address()));
    let Some(terminal) = follow("operatorhub", &page) else { return };
    // What the page has the reader propose is without fault by the Operator Framework's own rules, too.
    let proposed = terminal.folder().join("community-operators/operators/memcached-operator/0.0.1");
    assert_eq!(said_by_upstream(&proposed).unwrap(), Vec::<String>::new());
}

#[test]
fn a_project_made_from_an_image_takes_at_most_twelve_commands_to_running_pods() {
    let counts = commands_until_running(&steps(MEMCACHED).unwrap());
    let (first, count) = counts.first().unwrap();
    assert!(*count <= 12, "{count} from `{first}` on");
}

#[test]
fn the_reader_writes_at_most_forty_lines_of_reconciler() {
    let of_reconciler = |step: &Step| {
        let Step::File { path, content } = step else { return None };
        path.ends_with("controller.rs").then(|| content.lines().count())
    };
    let counts: Vec<_> = steps(GUESTBOOK).unwrap().iter().filter_map(of_reconciler).collect();
    let [count @ 1..=40] = counts[..] else { panic!("{counts:?}") };
    assert!(GUESTBOOK.contains(&format!("a reconciler of {count} lines")), "the page says another");
}

/// Does what the page says, tells how long each step takes, and how many commands it takes to pods. Gives the
/// terminal as it is then; none where no nodes can run.
fn follow(name: &str, page: &str) -> Option<Terminal> {
    if !can_run(name, Tier::Node) {
        return None;
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let steps = steps(page).unwrap_or_else(|error| panic!("{name}.md: {error}"));
    let mut terminal = Terminal::open(&programs(), scaffolded(), &QUICK).unwrap();
    for step in &steps {
        let started = Instant::now();
        let outcome = terminal.step(step);
        say(&format!("{name} {:6.1} s  {step}", started.elapsed().as_secs_f64()));
        outcome.unwrap_or_else(|error| panic!("{name}.md: {step}\n{error:#}"));
    }
    for (first, count) in commands_until_running(&steps) {
        say(&format!("{name}: {count} commands from `{first}` to running pods"));
    }
    Some(terminal)
}

/// `kubewright` as it is here, and the kubectl of the newest Kubernetes.
fn programs() -> [PathBuf; 2] {
    let version = KubernetesVersion::from_environment().unwrap();
    let binaries = Binaries::new(Cache::from_environment().unwrap(), version, Progress::Shown);
    let kubectl = binaries.unwrap().find(Binary::Kubectl).unwrap();
    [program("kubewright-cli").unwrap(), kubectl]
}

/// Also while the test runs: it takes minutes.
fn say(line: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
