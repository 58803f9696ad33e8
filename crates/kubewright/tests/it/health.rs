//! Probes and metrics over real HTTP: they tell what is the case, and by name.

use std::collections::BTreeMap;
use std::time::Duration;

use kubewright::prelude::*;
use kubewright_testenv::Env;

use crate::books::{Books, book, moody};
use crate::running;
use crate::seen;
use crate::world::reconciled;

#[kubewright_testenv::test(own)]
async fn it_is_ready_once_its_kind_is_there_and_listed(env: Env) {
    let port = seen::free_port();
    let mut flags = running::flags(&env);
    flags.health_probe_bind_address = format!("127.0.0.1:{port}");
    let operator = Operator::new("book-operator").controller::<Books>();
    let definitions = operator.definitions();
    let operator = running::start_as(&env, operator, flags, "operator").await;
    seen::answers(&env, port, "/healthz", 200).await;
    env.eventually("it says what is missing", async || {
        let (code, text) = seen::get(port, "/readyz").await?;
        assert_eq!(code, 500, "not ready at any time, also at its very start: {text}");
        let told = text.contains("books.test.kubewright.dev is not installed");
        told.then_some(()).ok_or(text)
    })
    .await;
    env.install(&definitions).await;
    let ready = seen::answers(&env, port, "/readyz", 200);
    let ready = seen::within(Duration::from_secs(35), "it is ready", ready).await;
    assert!(seen::answers(&env, port, "/readyz?verbose", 200).await.contains("[+]caches ok"));
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    eprintln!("ready after {ready:?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_pass_that_blocks_its_thread_is_told_by_name_until_it_ends(env: Env) {
    let port = seen::free_port();
    let mut flags = running::flags(&env);
    flags.health_probe_bind_address = format!("127.0.0.1:{port}");
    let operator = running::start::<Books>(&env, flags).await;
    seen::answers(&env, port, "/healthz", 200).await;
    env.create(moody("stone", "block")).await;
    let told = seen::answers(&env, port, "/healthz", 500).await;
    assert!(told.contains(&format!("book {}/stone", env.namespace())), "{told}");
    env.create(book("good")).await;
    let good = reconciled(&env, "good", "True", "Reconciled");
    seen::within(Duration::from_secs(3), "others keep working", good).await;
    assert_eq!(seen::get(port, "/healthz").await.unwrap().0, 500, "it still blocks");
    seen::edit(&env, "stone", |book| book.spec.mood.clear()).await;
    seen::answers(&env, port, "/healthz", 200).await;
    reconciled(&env, "stone", "True", "Reconciled").await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn as_many_passes_as_there_are_workers_may_block_and_others_keep_working(env: Env) {
    let port = seen::free_port();
    let mut flags = running::flags(&env);
    flags.health_probe_bind_address = format!("127.0.0.1:{port}");
    let stones: Vec<_> =
        (0..flags.max_concurrent_reconciles).map(|number| format!("stone-{number}")).collect();
    let operator = running::start::<Books>(&env, flags).await;
    for stone in &stones {
        env.create(moody(stone, "block")).await;
    }
    seen::answers(&env, port, "/healthz", 500).await;
    env.create(book("good")).await;
    let good = reconciled(&env, "good", "True", "Reconciled");
    seen::within(Duration::from_secs(3), "others keep working", good).await;
    assert_eq!(seen::get(port, "/healthz").await.unwrap().0, 500, "they still block");
    for stone in &stones {
        seen::edit(&env, stone, |book| book.spec.mood.clear()).await;
    }
    seen::answers(&env, port, "/healthz", 200).await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn metrics_tell_what_was_done(env: Env) {
    let port = seen::free_port();
    let operator = running::start::<Books>(&env, running::measured(&env, port)).await;
    for name in ["a", "b", "c"] {
        env.create(book(name)).await;
        reconciled(&env, name, "True", "Reconciled").await;
    }
    env.create(moody("failing", "terminal")).await;
    reconciled(&env, "failing", "False", "Moody").await;
    let writes = running::settled(|| operator.writes(&env)).await;
    let text = seen::answers(&env, port, "/metrics", 200).await;
    let series = parsed(&text);
    let sum = |name: &str, labels: &[&str]| -> f64 {
        let of = |key: &&String| {
            let (is, rest) = key.split_once('{').unwrap_or((key, ""));
            is == name && labels.iter().all(|label| rest.contains(label))
        };
        series.keys().filter(of).map(|key| series[key]).sum()
    };
    let total = "controller_runtime_reconcile_total";
    assert!(sum(total, &["controller=\"book\"", "result=\"success\""]) >= 3.0, "{text}");
    assert!(sum(total, &["controller=\"book\"", "result=\"error\""]) >= 1.0, "{text}");
    assert!(series.keys().any(|key| key.starts_with("workqueue_depth{")), "{text}");
    assert!(sum("workqueue_depth", &[]).abs() < 0.5, "nothing waits: {text}");
    assert!(sum("workqueue_adds_total", &["name=\"book\""]) >= 4.0, "{text}");
    assert!(sum("workqueue_unfinished_work_seconds", &[]).abs() < 1e-9, "nothing runs: {text}");
    let patches = sum("rest_client_requests_total", &["method=\"PATCH\""]);
    #[expect(clippy::cast_precision_loss, reason = "a handful")]
    let expected = writes.len() as f64;
    assert!(patches >= expected, "{patches} of {expected}: {text}");
    let leading = sum("leader_election_master_status", &["name=\"book-operator\""]);
    assert!((leading - 1.0).abs() < 1e-9, "{text}");
    operator.stop().await;
}

/// The series of an `OpenMetrics` text; fails where it is none.
fn parsed(text: &str) -> BTreeMap<String, f64> {
    let body = text.strip_suffix("# EOF\n").expect("it ends with # EOF");
    let mut series = BTreeMap::new();
    let (mut family, mut known) = (String::new(), std::collections::BTreeSet::new());
    for line in body.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            let mut words = comment.splitn(3, ' ');
            let (word, name) = (words.next().unwrap(), words.next().expect("a name"));
            assert!(matches!(word, "HELP" | "TYPE" | "UNIT"), "{line}");
            if name != family {
                assert!(known.insert(name.to_owned()), "{name} is in two places");
                name.clone_into(&mut family);
            }
            continue;
        }
        let (key, value) = line.rsplit_once(' ').expect("a value");
        assert!(key.starts_with(&family), "{line} is not of {family}");
        let braces = (key.contains('{'), key.ends_with('}'));
        assert_eq!(braces.0, braces.1, "{line}");
        let value = value.parse().unwrap_or_else(|_| panic!("no number: {line}"));
        assert!(series.insert(key.to_owned(), value).is_none(), "twice: {line}");
    }
    series
}
