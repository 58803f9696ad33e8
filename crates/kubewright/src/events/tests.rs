//! Events on a real API server: how many requests, which objects, and that nobody waits.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::api::events::v1::Event as EventObject;
use kube::api::ListParams;
use kube::{Api, ResourceExt as _};
use kubewright_testenv::Env;
use tokio::task::JoinHandle;
use tracing::instrument::WithSubscriber as _;

use super::*;

/// A recorder whose publisher runs and whose losses are counted.
struct Bench {
    recorder: Recorder,
    publisher: JoinHandle<()>,
    dropped: Arc<AtomicU64>,
}

impl Bench {
    fn new(client: Client) -> Self {
        let (dropped, on_drop) = counter();
        let (recorder, publisher) =
            Recorder::new(client, "tester".into(), "tester-0".into(), Clock::system(), on_drop);
        Self { recorder, publisher: tokio::spawn(publisher), dropped }
    }

    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Ends the publisher, and says how many events were lost.
    async fn finish(self) -> u64 {
        drop(self.recorder);
        self.publisher.await.unwrap();
        self.dropped.load(Ordering::Relaxed)
    }
}

fn counter() -> (Arc<AtomicU64>, impl Fn() + Send + Sync) {
    let dropped = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&dropped);
    (dropped, move || {
        counted.fetch_add(1, Ordering::Relaxed);
    })
}

fn event(env: &Env, object: &str, note: impl Into<String>) -> Event {
    Event {
        type_: EventType::Warning,
        reason: "Failed".into(),
        action: "Apply".into(),
        note: note.into(),
        regarding: reference("v1", "ConfigMap", Some(env.namespace()), object, object),
    }
}

async fn events(env: &Env) -> Vec<EventObject> {
    env.api::<EventObject>().list(&ListParams::default()).await.unwrap().items
}

async fn until_there_are(env: &Env, number: usize) -> Vec<EventObject> {
    env.eventually(&format!("{number} events"), async || {
        let found = events(env).await;
        if found.len() == number { Ok(found) } else { Err(format!("{}", found.len())) }
    })
    .await
}

/// The verbs of the requests about events in the namespace of the test.
fn requests(env: &Env) -> Vec<String> {
    let records = env.environment().audit().unwrap();
    let ours = records.into_iter().filter(|one| {
        one.resource == "events" && one.namespace == env.namespace() && one.verb != "list"
    });
    ours.map(|one| one.verb).collect()
}

#[kubewright_testenv::test]
async fn a_thousand_equal_events_are_one_object_with_a_count_and_two_requests(env: Env) {
    let bench = Bench::new(env.client());
    for _ in 0..1000 {
        bench.recorder.record(event(&env, "a", "the disk is full"));
    }
    let made = until_there_are(&env, 1).await;
    assert_eq!(
        (made[0].note.as_deref(), made[0].series.as_ref()),
        (Some("the disk is full"), None)
    );
    assert_eq!(bench.finish().await, 0);

    let found = events(&env).await;
    assert_eq!(found.len(), 1);
    let series = found[0].series.as_ref().unwrap();
    assert_eq!(series.count, 1000);
    assert!(Some(&series.last_observed_time) >= found[0].event_time.as_ref());
    assert_eq!(found[0].type_.as_deref(), Some("Warning"));
    assert_eq!(found[0].reporting_controller.as_deref(), Some("tester"));
    assert_eq!(requests(&env), ["create", "patch"]);
}

#[kubewright_testenv::test]
async fn counts_are_sent_while_it_goes_on_but_not_one_by_one(env: Env) {
    let (dropped, on_drop) = counter();
    let (aggregator, clock) = (Mutex::new(Aggregator::new()), Clock::system());
    let (doomed, on_drop) = (Doomed::default(), Box::new(on_drop));
    let shared = Arc::new(Shared { aggregator, clock, doomed, on_drop });
    let reporter = Reporter::new("tester".into(), "tester-0".into());
    let pause = Duration::from_secs(1);
    let (recorder, publisher) = Recorder::with_pause(env.client(), reporter, shared, pause);
    let publisher = tokio::spawn(publisher.run());

    let started = Instant::now();
    let mut recorded = 0;
    while started.elapsed() < Duration::from_secs(4) {
        recorder.record(event(&env, "a", "again"));
        recorded += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    env.eventually("the count", async || {
        let count = events(&env).await.first().and_then(|one| one.series.clone());
        let count = count.map_or(0, |series| series.count);
        if count == recorded { Ok(()) } else { Err(format!("{count} of {recorded}")) }
    })
    .await;
    let verbs = requests(&env);
    assert!((3..=8).contains(&verbs.len()), "{verbs:?}");
    recorder.stop();
    publisher.await.unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
}

#[kubewright_testenv::test]
async fn a_hundred_different_events_about_one_object_are_limited(env: Env) {
    let bench = Bench::new(env.client());
    for number in 0..100 {
        bench.recorder.record(event(&env, "chatty", format!("problem {number}")));
        bench.recorder.record(event(&env, "quiet", "all is well"));
    }
    until_there_are(&env, 11).await;
    assert_eq!(bench.finish().await, 90);
    let about: Vec<_> = events(&env).await.into_iter().filter_map(|one| one.regarding).collect();
    let chatty = about.iter().filter(|one| one.name.as_deref() == Some("chatty"));
    assert_eq!((about.len(), chatty.count()), (11, 10));
}

#[kubewright_testenv::test]
async fn the_api_server_accepts_whatever_is_recorded(env: Env) {
    let (dropped, on_drop) = counter();
    let controller = format!("Über.Example/{}", "operator ".repeat(20));
    let (recorder, publisher) =
        Recorder::new(env.client(), controller, "ü".repeat(500), Clock::system(), on_drop);
    let publisher = tokio::spawn(publisher);
    let names =
        ["a", &"n".repeat(253), &format!("{}.b", "a.-".repeat(83)), "system:Node:ä", "::", ""];
    let texts =
        ["", "x", &"ä".repeat(5000), &"😀".repeat(5000), "a\nb\u{0}\t\"c", &"y".repeat(1024)];
    for (name, text) in names.iter().zip(texts) {
        let mut odd = event(&env, name, text);
        odd.regarding.uid = Some(format!("uid of {name}"));
        odd.reason = text.to_owned().into();
        odd.action = text.to_owned().into();
        recorder.record(odd.clone());
        recorder.record(odd);
    }
    let found = until_there_are(&env, names.len()).await;
    recorder.stop();
    publisher.await.unwrap();
    assert_eq!(dropped.load(Ordering::Relaxed), 0);
    let longest = found.iter().map(|one| one.name_any().len()).max();
    assert_eq!(longest, Some(253));
    let notes: HashSet<_> = found.iter().filter_map(|one| one.note.clone()).collect();
    assert!(notes.contains(&format!("{}…", "ä".repeat(510))) && notes.contains(texts[5]));
    for one in events(&env).await {
        assert_eq!(one.series.unwrap().count, 2, "{:?}", one.metadata.name);
    }
}

#[kubewright_testenv::test]
async fn events_about_a_cluster_scoped_object_are_in_the_default_namespace(env: Env) {
    let bench = Bench::new(env.client());
    let mut cluster_scoped = event(&env, "a", "about all of it");
    cluster_scoped.regarding = reference("v1", "Namespace", None, env.namespace(), "u");
    bench.recorder.record(cluster_scoped);
    assert_eq!(bench.finish().await, 0);
    let api: Api<EventObject> = Api::namespaced(env.client(), "default");
    let found = api.list(&ListParams::default()).await.unwrap();
    let is_ours = |one: &EventObject| one.name_any().starts_with(env.namespace());
    assert_eq!(found.items.into_iter().filter(is_ours).count(), 1);
}

#[kubewright_testenv::test]
async fn a_series_whose_object_was_deleted_begins_anew(env: Env) {
    let bench = Bench::new(env.client());
    bench.recorder.record(event(&env, "a", "again"));
    let first = until_there_are(&env, 1).await.remove(0);
    env.delete(&first).await;
    bench.recorder.record(event(&env, "a", "again"));
    assert_eq!(bench.finish().await, 1, "the count had nowhere to go");
    assert_eq!(requests(&env), ["create", "delete", "patch"]);
}

#[kubewright_testenv::test(own)]
async fn nobody_waits_for_an_api_server_that_hangs_and_what_is_lost_is_counted(env: Env) {
    let bench = Bench::new(env.client());
    bench.recorder.record(event(&env, "before", "all is well"));
    until_there_are(&env, 1).await;

    env.environment().apiserver().pause();
    let started = Instant::now();
    for number in 0..10_000 {
        bench.recorder.record(event(&env, &format!("object-{number}"), "it hangs"));
    }
    assert!(started.elapsed() < Duration::from_secs(2), "took {:?}", started.elapsed());
    assert!(bench.dropped() >= 10_000 - 2 * u64::try_from(QUEUE).unwrap(), "{}", bench.dropped());

    let started = Instant::now();
    assert_eq!(bench.finish().await, 10_000);
    assert!(started.elapsed() < Duration::from_secs(4), "took {:?}", started.elapsed());
    env.environment().apiserver().resume();
}

#[kubewright_testenv::test(own)]
async fn it_goes_on_when_the_api_server_is_back(env: Env) {
    let bench = Bench::new(env.client());
    let apiserver = env.environment().apiserver();
    apiserver.pause();
    bench.recorder.record(event(&env, "a", "during"));
    let lost = env
        .eventually("the end of the request", async || match bench.dropped() {
            0 => Err("it still waits".to_owned()),
            number => Ok(number),
        })
        .await;
    assert_eq!(lost, 1);
    apiserver.resume();
    for _ in 0..3 {
        bench.recorder.record(event(&env, "a", "during"));
    }
    env.eventually("the event", async || {
        if events(&env).await.is_empty() { Err("there is none".to_owned()) } else { Ok(()) }
    })
    .await;
    assert_eq!(bench.finish().await, 1);
}

/// A client whose API server is not there.
fn unreachable() -> Client {
    Client::try_from(kube::Config::new("http://127.0.0.1:1".parse().unwrap())).unwrap()
}

fn event_about(name: &str) -> Event {
    Event {
        type_: EventType::Normal,
        reason: "Reason".into(),
        action: "Action".into(),
        note: String::new(),
        regarding: reference("v1", "ConfigMap", Some("a"), name, name),
    }
}

#[tokio::test]
async fn a_recorder_without_a_publisher_counts_and_forgets() {
    let (dropped, on_drop) = counter();
    let (recorder, publisher) =
        Recorder::new(unreachable(), String::new(), String::new(), Clock::system(), on_drop);
    drop(publisher);
    recorder.record(event_about("a"));
    assert_eq!(dropped.load(Ordering::Relaxed), 1);
}

/// What is logged, as text.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn an_api_server_that_is_not_there_is_a_warning_once() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::DEBUG)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    let (dropped, on_drop) = counter();
    let (recorder, publisher) =
        Recorder::new(unreachable(), String::new(), String::new(), Clock::system(), on_drop);
    let publisher = tokio::spawn(publisher.with_subscriber(subscriber));
    for name in ["a", "b", "c"] {
        recorder.record(event_about(name));
    }
    while dropped.load(Ordering::Relaxed) < 3 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(recorder);
    publisher.await.unwrap();
    let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let lines = |level: &str| {
        log.lines().filter(|line| line.contains(level) && line.contains("publish an event")).count()
    };
    assert_eq!((lines(" WARN "), lines("DEBUG ")), (1, 2), "{log}");
    assert!(log.contains("refused"), "{log}");
}
