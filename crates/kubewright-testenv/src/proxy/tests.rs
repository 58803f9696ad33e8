//! Each fault as a client sees it, with TLS and HTTP on both sides.

mod fixture;
mod hooked;

use std::time::{Duration, Instant};

use http::header::{AUTHORIZATION, CONNECTION, UPGRADE};
use http::{Request, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use fixture::{ECHO, Fixture, WATCH, WHO_AM_I, heard};

const DELAY: Duration = Duration::from_millis(300);

/// The text of all that comes until the proper end.
async fn rest(body: Incoming) -> String {
    String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn forwards_requests_with_the_configured_certificate_and_the_clients_token() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await.unwrap();
    for _ in 0..2 {
        let response = client.get(WHO_AM_I).await.unwrap();
        assert_eq!(response.headers()[AUTHORIZATION], "Bearer abc");
        let certificate = response.into_body().collect().await.unwrap().to_bytes();
        assert_eq!(*certificate, *fixture.certificate);
    }
    assert_eq!(fixture.proxy.requests(), 2);
}

#[tokio::test]
async fn an_upgraded_connection_carries_bytes_both_ways() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await.unwrap();
    let request = Request::get(ECHO).header(CONNECTION, "Upgrade").header(UPGRADE, "echo");
    let response = client.send(request).await.unwrap();
    assert_eq!(response.status(), StatusCode::SWITCHING_PROTOCOLS);
    let mut stream = TokioIo::new(hyper::upgrade::on(response).await.unwrap());
    stream.write_all(b"ping").await.unwrap();
    let mut answer = [0; 4];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"ping");
}

#[tokio::test]
async fn an_unreachable_api_server_is_a_502_that_says_why() {
    let mut fixture = Fixture::start().await;
    fixture.stop_upstream().await;
    let mut client = fixture.connect().await.unwrap();
    let response = client.get(WHO_AM_I).await.unwrap();
    assert_eq!(response.status(), StatusCode::BAD_GATEWAY);
    let body = rest(response.into_body()).await;
    let status: serde_json::Value = serde_json::from_str(&body).unwrap();
    assert_eq!(status["code"], 502);
    assert!(status["message"].as_str().unwrap().contains("refused"), "{status}");
    assert_eq!(fixture.proxy.requests(), 0);
}

#[tokio::test]
async fn delay_holds_requests_and_events_until_heal() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await.unwrap();
    fixture.proxy.delay(DELAY);
    let start = Instant::now();
    let mut watch = client.get(WATCH).await.unwrap().into_body();
    assert!(start.elapsed() >= DELAY);

    let start = Instant::now();
    fixture.say("{\"n\":1}\n").await;
    assert_eq!(heard(&mut watch).await.unwrap().unwrap(), "{\"n\":1}\n");
    assert!(start.elapsed() >= DELAY);

    fixture.proxy.delay(Duration::MAX);
    fixture.say("{\"n\":2}\n").await;
    assert!(tokio::time::timeout(DELAY, heard(&mut watch)).await.is_err());
    fixture.proxy.heal();
    assert_eq!(heard(&mut watch).await.unwrap().unwrap(), "{\"n\":2}\n");
}

#[tokio::test]
async fn delayed_events_keep_their_distance() {
    let fixture = Fixture::start().await;
    let mut watch = fixture.connect().await.unwrap().get(WATCH).await.unwrap().into_body();
    fixture.proxy.delay(DELAY);
    let start = Instant::now();
    for event in ["1\n", "2\n", "3\n", "4\n", "5\n", "6\n", "7\n", "8\n"] {
        fixture.say(event).await;
        tokio::time::sleep(DELAY / 10).await;
    }
    let mut all = String::new();
    while all.lines().count() < 8 {
        all += &heard(&mut watch).await.unwrap().unwrap();
    }
    assert_eq!(all, "1\n2\n3\n4\n5\n6\n7\n8\n");
    let taken = start.elapsed();
    assert!(taken < DELAY * 8, "one after the other: {taken:?}");
}

#[tokio::test]
async fn cut_drops_an_open_watch_and_new_connections_until_heal() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await.unwrap();
    let mut watch = client.get(WATCH).await.unwrap().into_body();
    fixture.say("{}\n").await;
    heard(&mut watch).await.unwrap().unwrap();

    fixture.proxy.cut();
    assert_eq!(fixture.proxy.expire_watches(), 0);
    assert!(heard(&mut watch).await.unwrap().is_err(), "a cut is not a proper end");
    assert!(fixture.connect().await.is_err());
    // The upstream's side of the watch has gone too.
    fixture.events.closed().await;

    fixture.proxy.heal();
    let mut client = fixture.connect().await.unwrap();
    assert_eq!(client.get(WHO_AM_I).await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn heal_right_after_cut_does_not_save_open_connections() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await.unwrap();
    let mut watch = client.get(WATCH).await.unwrap().into_body();
    fixture.proxy.cut();
    fixture.proxy.heal();
    assert!(heard(&mut watch).await.unwrap().is_err());
}

#[tokio::test]
async fn an_expired_watch_ends_with_410_after_the_event_it_was_in() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await.unwrap();
    let mut watch = client.get(WATCH).await.unwrap().into_body();
    fixture.say("{\"type\":\"ADD").await;
    let begun = heard(&mut watch).await.unwrap().unwrap();
    assert_eq!(begun, "{\"type\":\"ADD");

    assert_eq!(fixture.proxy.expire_watches(), 1);
    assert!(tokio::time::timeout(DELAY, heard(&mut watch)).await.is_err(), "not inside an event");
    fixture.say("ED\"}\n{\"type\":\"MODIFIED\"}\n").await;

    let rest = rest(watch).await;
    let lines: Vec<_> = rest.lines().collect();
    assert_eq!(lines.len(), 2, "{rest}");
    assert_eq!(lines[0], "ED\"}");
    let error: serde_json::Value = serde_json::from_str(lines[1]).unwrap();
    assert_eq!((&error["type"], &error["object"]["code"]), (&"ERROR".into(), &410.into()));

    assert_eq!(fixture.proxy.expire_watches(), 0);
    let next = client.get(WHO_AM_I).await.unwrap();
    assert_eq!(next.status(), StatusCode::OK, "the connection outlives its watch");
}

#[tokio::test]
async fn an_expired_watch_that_is_quiet_ends_at_once() {
    let fixture = Fixture::start().await;
    let mut client = fixture.connect().await.unwrap();
    let watch = client.get(WATCH).await.unwrap().into_body();
    assert_eq!(fixture.proxy.expire_watches(), 1);
    assert!(rest(watch).await.contains("\"reason\":\"Expired\""));
}

#[tokio::test]
async fn the_last_handle_takes_port_and_connections_with_it() {
    let fixture = Fixture::start().await;
    let address = fixture.proxy.address();
    let mut watch = fixture.connect().await.unwrap().get(WATCH).await.unwrap().into_body();
    let (events, handle) = (fixture.events.clone(), fixture.proxy.clone());

    let upstream = fixture.into_upstream();
    events.send("{}\n".into()).await.unwrap();
    assert!(heard(&mut watch).await.unwrap().is_ok(), "one handle is enough");

    drop(handle);
    assert!(heard(&mut watch).await.unwrap().is_err());
    events.closed().await;
    assert!(TcpStream::connect(address).await.is_err());
    drop(upstream);
}
