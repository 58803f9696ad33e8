//! A server that ends: nobody who calls it meanwhile is refused.

use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use super::super::Phase;
use super::client::{VALIDATE, connect};
use super::garbage::serving;
use super::jugs::{jug, review};

const ALLOWED: &str = "\"allowed\":true";

/// A call after which the client would call again.
fn call() -> String {
    let body = review("Jug", &json!(jug("a"))).to_string();
    let head = format!("POST {VALIDATE} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json");
    format!("{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

async fn read(stream: &mut (impl tokio::io::AsyncRead + Unpin)) -> String {
    let mut buffer = [0; 4096];
    let length = tokio::time::timeout(Duration::from_secs(5), stream.read(&mut buffer)).await;
    let length = length.expect("an answer or the end").unwrap_or(0);
    String::from_utf8_lossy(&buffer[..length]).into_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ends_sends_callers_elsewhere_and_answers_those_under_way() {
    let (served, authority) = serving().await;
    let mut known = connect(served.port, &authority).await;
    known.write_all(call().as_bytes()).await.unwrap();
    let said = read(&mut known).await;
    assert!(said.contains(ALLOWED) && !said.contains("connection: close"), "{said}");
    let mut fresh = connect(served.port, &authority).await;

    served.phase.send_replace(Phase::Leaving);
    assert_eq!(read(&mut known).await, "", "its next call goes elsewhere");
    for mut stream in [fresh, connect(served.port, &authority).await] {
        stream.write_all(call().as_bytes()).await.unwrap();
        let said = read(&mut stream).await;
        assert!(said.contains(ALLOWED) && said.contains("connection: close"), "{said}");
    }

    fresh = connect(served.port, &authority).await;
    let (first, rest) = (&call()[..300], &call()[300..]);
    fresh.write_all(first.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;
    served.phase.send_replace(Phase::Closed);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(TcpStream::connect(("127.0.0.1", served.port)).await.is_err(), "somebody listens");
    fresh.write_all(rest.as_bytes()).await.unwrap();
    let said = read(&mut fresh).await;
    assert!(said.contains(ALLOWED), "{said}");
}
