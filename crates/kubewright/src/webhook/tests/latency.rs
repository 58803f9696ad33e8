//! How long a conversion takes: the whole call, as a client that is there already sees it.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::client::connect;
use super::garbage::serving;
use super::jugs::{Served, jug};

/// As the API server may take for a call that people wait for.
const LIMIT: Duration = Duration::from_millis(10);

#[tokio::test(flavor = "multi_thread")]
async fn of_a_hundred_conversions_one_at_most_takes_longer_than_10_ms() {
    let (Served { port, .. }, authority) = serving().await;
    let version = "test.kubewright.dev/v1alpha1";
    let request = json!({"uid": "1", "desiredAPIVersion": version, "objects": [jug("a")]});
    let body = json!({"kind": "ConversionReview", "request": request}).to_string();
    let head = "POST /convert-test-kubewright-dev-jug HTTP/1.1\r\nHost: a\r\nContent-Type: application/json";
    let call = format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = connect(port, &authority).await;
    let mut rounds = Vec::new();
    // The best of some rounds: other tests want the machine, too.
    for _ in 0..5 {
        let mut took = Vec::new();
        for _ in 0..200 {
            let begun = Instant::now();
            stream.write_all(call.as_bytes()).await.unwrap();
            let mut buffer = [0; 4096];
            let length = stream.read(&mut buffer).await.unwrap();
            took.push(begun.elapsed());
            let said = String::from_utf8_lossy(&buffer[..length]);
            assert!(said.contains("\"millilitres\":2000"), "{said}");
        }
        took.sort();
        rounds.push((took[197], took[100]));
    }
    let (p99, median) = rounds.into_iter().min().unwrap();
    eprintln!("a conversion takes {median:?}, p99 {p99:?}");
    assert!(p99 <= LIMIT, "{p99:?}");
}
