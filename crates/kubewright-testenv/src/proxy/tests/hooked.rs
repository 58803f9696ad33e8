//! What a hook decides, as the client sees it.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use http::{Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::{Bytes, Incoming};

use super::super::hook::{Asked, Event, EventFault, Hook, RequestFault};
use super::fixture::{Fixture, WATCH, WHO_AM_I, heard};
use super::rest;

const WAIT: Duration = Duration::from_millis(300);

/// Does this to every request, and the next of these to each event.
struct Script {
    request: fn() -> RequestFault,
    events: Mutex<Vec<EventFault>>,
    told: Mutex<Vec<String>>,
}

impl Hook for Script {
    fn request(&self, asked: &Asked) -> RequestFault {
        self.told.lock().unwrap().push(format!("{} {}", asked.method, asked.path));
        (self.request)()
    }

    fn answered(&self, _: &Asked, status: StatusCode, _: &Bytes) {
        self.told.lock().unwrap().push(format!("answered {status}"));
    }

    fn handed(&self, _: &Asked) {
        self.told.lock().unwrap().push("handed".to_owned());
    }

    fn event(&self, _: &Asked, _: &Event) -> EventFault {
        let mut events = self.events.lock().unwrap();
        if events.is_empty() { EventFault::Pass } else { events.remove(0) }
    }
}

async fn scripted(request: fn() -> RequestFault, events: &[EventFault]) -> (Fixture, Arc<Script>) {
    let fixture = Fixture::start().await;
    let events = Mutex::new(events.to_vec());
    let script = Arc::new(Script { request, events, told: Mutex::default() });
    fixture.proxy.set_hook(Some(script.clone()));
    (fixture, script)
}

fn event(name: &str, version: u32) -> &'static str {
    let object =
        serde_json::json!({"metadata": {"name": name, "resourceVersion": version.to_string()}});
    let event = serde_json::json!({"type": "MODIFIED", "object": object});
    Box::leak(format!("{event}\n").into_boxed_str())
}

async fn watch(fixture: &Fixture) -> Incoming {
    fixture.connect().await.unwrap().get(WATCH).await.unwrap().into_body()
}

/// The versions of so many events that the client hears.
async fn versions(watch: &mut Incoming, count: usize) -> Vec<String> {
    let mut text = String::new();
    while text.lines().count() < count {
        text += &heard(watch).await.unwrap().unwrap();
    }
    let version = |line: &str| {
        let event: Event = serde_json::from_str(line).unwrap();
        event.version().unwrap_or("none").to_owned()
    };
    text.lines().map(version).collect()
}

#[tokio::test]
async fn it_sees_the_request_its_answer_and_that_it_was_handed_on() {
    let (fixture, script) = scripted(|| RequestFault::Pass, &[]).await;
    let answer = fixture.connect().await.unwrap().get(WHO_AM_I).await.unwrap();
    let certificate = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(*certificate, *fixture.certificate);
    let told = script.told.lock().unwrap().clone();
    assert_eq!(told, ["GET /whoami", "answered 200 OK", "handed"]);
}

#[tokio::test]
async fn it_answers_in_the_servers_place_and_nothing_is_sent() {
    let refuse = || {
        let answer = Response::builder().status(429).header("retry-after", "1");
        RequestFault::Answer(answer.body(Bytes::from_static(b"{}")).unwrap())
    };
    let (fixture, _) = scripted(refuse, &[]).await;
    let answer = fixture.connect().await.unwrap().get(WHO_AM_I).await.unwrap();
    assert_eq!(answer.status(), 429);
    assert_eq!(answer.headers()["retry-after"], "1");
    assert_eq!(rest(answer.into_body()).await, "{}");
    assert_eq!(fixture.proxy.requests(), 0);
}

#[tokio::test]
async fn it_closes_before_sending_or_loses_the_answer_after_it() {
    for (fault, sent) in
        [((|| RequestFault::Close) as fn() -> RequestFault, 0), (|| RequestFault::LoseAnswer, 1)]
    {
        let (fixture, _) = scripted(fault, &[]).await;
        assert!(fixture.connect().await.unwrap().get(WHO_AM_I).await.is_err());
        assert_eq!(fixture.proxy.requests(), sent);
    }
}

#[tokio::test]
async fn it_hands_on_half_of_an_answer_or_all_of_it_slowly() {
    let (fixture, _) = scripted(|| RequestFault::Truncate, &[]).await;
    let answer = fixture.connect().await.unwrap().get(WHO_AM_I).await.unwrap();
    assert!(answer.into_body().collect().await.is_err());

    let (fixture, _) = scripted(|| RequestFault::Slow(Duration::from_millis(10)), &[]).await;
    let start = Instant::now();
    let answer = fixture.connect().await.unwrap().get(WHO_AM_I).await.unwrap();
    let certificate = answer.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(*certificate, *fixture.certificate);
    assert!(start.elapsed() >= WAIT);
}

#[tokio::test]
async fn a_late_request_is_sent_when_its_client_is_gone() {
    let (fixture, _) = scripted(|| RequestFault::Late(Duration::from_millis(50)), &[]).await;
    assert!(fixture.connect().await.unwrap().get(WATCH).await.is_err());
    // The upstream has taken its events for the request that nobody waits for.
    tokio::time::timeout(Duration::from_secs(5), fixture.say(event("a", 1))).await.unwrap();
}

#[tokio::test]
async fn it_repeats_reorders_and_drops_events() {
    let faults = [EventFault::Duplicate, EventFault::Reorder, EventFault::Pass, EventFault::Drop];
    let (fixture, _) = scripted(|| RequestFault::Pass, &faults).await;
    let mut watch = watch(&fixture).await;
    for version in 1..=5 {
        fixture.say(event("a", version)).await;
    }
    assert_eq!(versions(&mut watch, 5).await, ["1", "1", "3", "2", "5"]);
}

#[tokio::test]
async fn an_event_is_hidden_until_another_of_its_object_comes() {
    let (fixture, _) = scripted(|| RequestFault::Pass, &[EventFault::Hide(WAIT * 100)]).await;
    let mut watch = watch(&fixture).await;
    for text in [event("a", 1), event("b", 2), event("a", 3)] {
        fixture.say(text).await;
    }
    assert_eq!(versions(&mut watch, 2).await, ["2", "3"]);
}

#[tokio::test]
async fn a_hidden_event_that_nothing_makes_obsolete_ends_the_watch_with_410() {
    let (fixture, _) = scripted(|| RequestFault::Pass, &[EventFault::Hide(WAIT)]).await;
    let watch = watch(&fixture).await;
    fixture.say(event("a", 1)).await;
    let said = rest(watch).await;
    assert!(said.contains("410") && !said.contains("MODIFIED"), "{said}");
}

#[tokio::test]
async fn events_wait_behind_a_bookmark_and_a_watch_can_break_off() {
    let faults = [EventFault::Pass, EventFault::Bookmarks(WAIT), EventFault::Disconnect];
    let (fixture, _) = scripted(|| RequestFault::Pass, &faults).await;
    let mut watch = watch(&fixture).await;
    let start = Instant::now();
    for version in 1..=2 {
        fixture.say(event("a", version)).await;
    }
    assert_eq!(versions(&mut watch, 2).await, ["1", "1"]);
    assert_eq!(versions(&mut watch, 1).await, ["2"]);
    assert!(start.elapsed() >= WAIT);
    fixture.say(event("a", 3)).await;
    assert!(heard(&mut watch).await.unwrap().is_err(), "it is no proper end");
}
