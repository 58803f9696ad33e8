//! What a server must bear: a clean refusal for each, bounded time and bounded memory.

use std::time::{Duration, Instant};

use jiff::ToSpan as _;
use kube::api::PostParams;
use kubewright_testenv::Env;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::super::certificate::{Made, make};
use super::super::rotation::{Kept, Timing};
use super::super::secret::written;
use super::client::{VALIDATE, call, connect, say};
use super::jugs::{Jug, NAME, Served, jug, ready, review, served};
use crate::clock::Clock;
use crate::generate::webhook::secret_name;

const PATIENCE: Duration = Duration::from_secs(15);

/// A server with a certificate, and whom to trust.
pub(super) async fn serving() -> (Served, String) {
    with_certificate(served().await)
}

pub(super) fn with_certificate(served: Served) -> (Served, String) {
    let Made { authority, pair } = make(&[], Clock::system().now(), 90).unwrap();
    served.current.set(pair.certificate.as_bytes(), pair.key.as_bytes()).unwrap();
    (served, authority)
}

fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap();
    text.split(' ').nth(1).unwrap().parse::<usize>().unwrap() * 4096
}

#[tokio::test(flavor = "multi_thread")]
async fn garbage_is_refused_by_what_is_wrong_with_it() {
    let (Served { port, .. }, authority) = serving().await;
    let good = json!(jug("a"));
    let of_pot = review("Pot", &good).to_string();
    let head = format!("POST {VALIDATE} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n");
    let json = "Content-Type: application/json\r\n";
    for (request, expected) in [
        (call(review("Jug", &good).to_string().as_bytes()), "\"allowed\":true"),
        (call(of_pot.as_bytes()), "this webhook is of test.kubewright.dev/v1 Jug, not of"),
        (call(review("Jug", &json!({"spec": 1})).to_string().as_bytes()), "cannot be read as"),
        (call(b"{}"), "the review has no request"),
        (call(b"\xff\x00garbage"), "HTTP/1.1 400"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n".to_vec(), "HTTP/1.1 404"),
        (
            format!("GET {VALIDATE} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").into(),
            "HTTP/1.1 405",
        ),
        (format!("{head}Content-Length: 1\r\n\r\n1").into(), "HTTP/1.1 415"),
        (format!("{head}{json}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n").into(), "HTTP/1.1 411"),
        (format!("{head}{json}Content-Length: 99999999\r\n\r\n").into(), "HTTP/1.1 413"),
        (b"\x16\x03\x01 not a request \r\n\r\n".to_vec(), "HTTP/1.1 400"),
    ] {
        let said = say(port, &authority, &request, PATIENCE).await;
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

/// As where the configurations are not ours, and cannot say that nobody is to be asked.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_being_deleted_is_let_through_whatever_is_wrong_with_it() {
    let (Served { port, .. }, authority) = serving().await;
    let mut wrong = json!(jug("a"));
    wrong["spec"]["litres"] = json!(0);
    let mut going = wrong.clone();
    going["metadata"]["deletionTimestamp"] = json!("2020-01-01T00:00:00Z");
    let (mut misfit, mut misfit_going) = (wrong.clone(), going.clone());
    misfit["spec"] = json!("of another release");
    misfit_going["spec"] = json!("of another release");
    for (operation, object, expected) in [
        ("UPDATE", wrong, "\"allowed\":false"),
        ("UPDATE", going, "\"allowed\":true"),
        ("UPDATE", misfit.clone(), "cannot be read as"),
        ("UPDATE", misfit_going, "\"allowed\":true"),
        ("DELETE", misfit, "its deletion is not looked at"),
    ] {
        let mut review = review("Jug", &object);
        review["request"]["operation"] = json!(operation);
        review["request"]["oldObject"] = object;
        if operation == "DELETE" {
            review["request"]["object"] = json!(null);
        }
        let said = say(port, &authority, &call(review.to_string().as_bytes()), PATIENCE).await;
        assert!(said.contains(expected), "{expected}: {said}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn large_bodies_are_answered_within_bounds() {
    let (Served { port, .. }, authority) = serving().await;
    let mut object = json!(jug("a"));
    object["metadata"]["annotations"] = json!({"large": "x".repeat(3 << 20)});
    let request = call(review("Jug", &object).to_string().as_bytes());
    let before = resident();
    let begun = Instant::now();
    let calls = (0..32).map(|_| say(port, &authority, &request, PATIENCE));
    let answers = futures_util::future::join_all(calls).await;
    let allowed = |said: &&String| said.contains("\"allowed\":true");
    // A machine that is busy with other tests may need longer than a call has, and is to say so.
    assert!(
        answers.iter().all(|said| allowed(&said) || said.contains("HTTP/1.1 504")),
        "{answers:?}"
    );
    assert!(answers.iter().any(|said| allowed(&said)), "{answers:?}");
    let grown = resident().saturating_sub(before) >> 20;
    eprintln!("32 bodies of 3 MB at once: {:?}, {grown} MiB more", begun.elapsed());
    assert!(grown < 256, "{grown} MiB, with the clients' own 96");
}

#[tokio::test(flavor = "multi_thread")]
async fn slow_clients_are_cut_off() {
    let (Served { port, .. }, authority) = serving().await;
    let begun = Instant::now();
    let body = format!(
        "POST {VALIDATE} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\n\r\n{{"
    );
    let (head, body, silent) = tokio::join!(
        say(port, &authority, b"POST /val", PATIENCE),
        say(port, &authority, body.as_bytes(), Duration::from_secs(11)),
        async {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            stream.read(&mut [0; 1]).await
        },
    );
    assert!(head.is_empty(), "{head}");
    assert!(body.contains("HTTP/1.1 504"), "{body}");
    assert!(matches!(silent, Ok(0) | Err(_)), "{silent:?}");
    assert!(begun.elapsed() < Duration::from_secs(25), "{:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_only_announced_keeps_nobody_waiting() {
    let (Served { port, .. }, authority) = serving().await;
    let head = "POST /convert-test-kubewright-dev-jug HTTP/1.1\r\nHost: a\r\nContent-Type: application/json";
    let announced = format!("{head}\r\nContent-Length: {}\r\n\r\n{{", 10 << 20);
    let mut held = Vec::new();
    for _ in 0..20 {
        let mut stream = connect(port, &authority).await;
        stream.write_all(announced.as_bytes()).await.unwrap();
        held.push(stream);
    }
    tokio::time::sleep(Duration::from_millis(200)).await; // until they are read
    let request = call(review("Jug", &json!(jug("a"))).to_string().as_bytes());
    for _ in 0..20 {
        let begun = Instant::now();
        let said = say(port, &authority, &request, PATIENCE).await;
        assert!(said.contains("\"allowed\":true"), "{said}");
        assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_idle_connections_keep_nobody_waiting() {
    let (Served { port, .. }, authority) = serving().await;
    let before = resident();
    let mut held = Vec::new();
    for _ in 0..800 {
        held.push(TcpStream::connect(("127.0.0.1", port)).await.unwrap());
    }
    let mut shaken = Vec::new();
    for _ in 0..200 {
        shaken.push(connect(port, &authority).await);
    }
    let grown = resident().saturating_sub(before) >> 20;
    let begun = Instant::now();
    let request = call(review("Jug", &json!(jug("a"))).to_string().as_bytes());
    let said = say(port, &authority, &request, PATIENCE).await;
    let took = begun.elapsed();
    eprintln!("with 1000 connections: answered after {took:?}, {grown} MiB more");
    assert!(said.contains("\"allowed\":true"), "{said}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert!(grown < 64, "{grown} MiB, clients included");
    for stream in &mut held {
        let ended = tokio::time::timeout(PATIENCE, stream.read(&mut [0; 1])).await;
        assert!(matches!(ended, Ok(Ok(0) | Err(_))), "{ended:?}");
    }
}

#[kubewright_testenv::test(own)]
async fn an_expired_certificate_is_a_clean_refusal_and_is_replaced(env: Env) {
    let served = served().await;
    let long_ago = Clock::system().now() - 24.hours() * 200;
    let Made { authority, pair } = make(&[], long_ago, 90).unwrap();
    served.current.set(pair.certificate.as_bytes(), pair.key.as_bytes()).unwrap();
    served.install(&env, Some(&authority)).await;
    let said = env
        .eventually("it is refused", async || {
            match env.api::<Jug>().create(&PostParams::default(), &jug("a")).await {
                Err(kube::Error::Api(status)) => Ok(status.message),
                other => Err(format!("{other:?}")),
            }
        })
        .await;
    assert!(said.contains("certificate has expired"), "{said}");

    let kept = Kept::begin(Made { authority, pair }, long_ago, Timing::default());
    env.create(written(&kept, NAME, &secret_name(NAME))).await;
    let standing = served.keep(&env, Duration::from_secs(2));
    ready(&env, &standing).await;
    env.create(jug("a")).await;
}
