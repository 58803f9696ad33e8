//! Real HTTP over loopback.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::listener::{CONNECTIONS, DEADLINE};
use super::*;

/// More than any answer on loopback takes, less than any deadline of the server.
const SOON: Duration = Duration::from_secs(5);

struct Server {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    running: JoinHandle<()>,
}

async fn listen() -> (TcpListener, SocketAddr) {
    let listener = bind("127.0.0.1:0").await.unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

async fn health_server(health: Health) -> Server {
    let (listener, address) = listen().await;
    let (stop, stopped) = oneshot::channel();
    let running = tokio::spawn(serve_health(listener, health, async { _ = stopped.await }));
    Server { address, stop, running }
}

/// The whole answer; that it ends without our closing is part of what is tested.
async fn ask(address: SocketAddr, request: &str) -> String {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!("{request} HTTP/1.1\r\nhost: x\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    timeout(SOON, stream.read_to_string(&mut answer)).await.expect("an answer").unwrap();
    answer
}

async fn get(address: SocketAddr, path: &str) -> (u16, String) {
    let answer = ask(address, &format!("GET {path}")).await;
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
}

#[tokio::test]
async fn a_probe_that_passes_says_ok_and_more_if_asked() {
    let health = Health::default();
    health.live("queue", || Ok(()));
    let server = health_server(health).await;
    assert_eq!(get(server.address, "/healthz").await, (200, "ok".to_owned()));
    let verbose = "[+]queue ok\nhealthz check passed\n".to_owned();
    assert_eq!(get(server.address, "/healthz?verbose").await, (200, verbose.clone()));
    assert_eq!(get(server.address, "/healthz?a=b&verbose=1").await, (200, verbose));
    assert_eq!(get(server.address, "/readyz").await, (200, "ok".to_owned()));
}

#[tokio::test]
async fn a_probe_that_fails_says_why() {
    let health = Health::default();
    health.ready("caches", || Ok(()));
    health.ready("lease", || Err("lost".to_owned()));
    let server = health_server(health).await;
    let text = "[+]caches ok\n[-]lease failed: lost\nreadyz check failed\n".to_owned();
    assert_eq!(get(server.address, "/readyz").await, (500, text));
    assert_eq!(get(server.address, "/healthz").await.0, 200);
}

#[tokio::test]
async fn one_check_can_be_asked_for() {
    let health = Health::default();
    health.ready("caches", || Ok(()));
    health.ready("lease", || Err("lost".to_owned()));
    let server = health_server(health).await;
    assert_eq!(get(server.address, "/readyz/caches").await, (200, "ok".to_owned()));
    assert_eq!(get(server.address, "/readyz/lease").await, (500, "failed: lost\n".to_owned()));
    assert_eq!(get(server.address, "/readyz/other").await.0, 404);
    assert_eq!(get(server.address, "/healthz/caches").await.0, 404);
    assert_eq!(get(server.address, "/").await.0, 404);
}

#[tokio::test]
async fn only_reading_is_allowed() {
    let server = health_server(Health::default()).await;
    for method in ["POST", "PUT", "DELETE"] {
        let answer = ask(server.address, &format!("{method} /healthz")).await;
        assert!(answer.starts_with("HTTP/1.1 405 "), "{method}: {answer}");
    }
}

#[tokio::test]
async fn metrics_are_openmetrics() {
    let (listener, address) = listen().await;
    let metrics = Metrics::new();
    metrics.events_dropped();
    tokio::spawn(serve_metrics(listener, metrics, std::future::pending()));
    let answer = ask(address, "GET /metrics").await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    let content_type =
        "\r\ncontent-type: application/openmetrics-text; version=1.0.0; charset=utf-8\r\n";
    assert!(answer.contains(content_type), "{answer}");
    assert!(answer.contains("\nkubewright_events_dropped_total 1\n"), "{answer}");
    assert!(answer.ends_with("# EOF\n"), "{answer}");
    assert_eq!(get(address, "/").await.0, 404);
}

#[tokio::test]
async fn silent_clients_keep_others_out_only_until_their_deadline() {
    let server = health_server(Health::default()).await;
    let mut silent = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\n").await.unwrap();
        silent.push(stream);
    }
    let late = tokio::spawn(async move {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        stream.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!late.is_finished(), "all places are taken");
    let answer = timeout(DEADLINE + SOON, late).await.expect("a place in time").unwrap();
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
    let mut rest = Vec::new();
    let cut = timeout(SOON, silent[0].read_to_end(&mut rest)).await;
    assert!(cut.is_ok() && !rest.starts_with(b"HTTP/1.1 200"), "a silent client was cut off");
}

#[tokio::test]
async fn it_ends_when_it_is_told_to() {
    let server = health_server(Health::default()).await;
    assert_eq!(get(server.address, "/healthz").await.0, 200);
    let _idle = TcpStream::connect(server.address).await.unwrap();
    server.stop.send(()).unwrap();
    timeout(SOON, server.running).await.expect("to end soon").unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn zero_and_nothing_mean_no_server() {
    for address in ["0", "", " "] {
        assert!(bind(address).await.unwrap().is_none(), "{address:?}");
    }
}

#[tokio::test]
async fn an_address_without_a_host_means_all_of_both_families() {
    let listener = bind(":0").await.unwrap().unwrap();
    let address = listener.local_addr().unwrap();
    assert!(address.ip().is_unspecified());
    TcpStream::connect(("127.0.0.1", address.port())).await.unwrap();
    if address.is_ipv6() {
        TcpStream::connect(("::1", address.port())).await.unwrap();
    }
}

#[tokio::test]
async fn an_address_in_brackets_is_ipv6() {
    let Ok(listener) = bind("[::1]:0").await else { return }; // a machine without IPv6
    assert!(listener.unwrap().local_addr().unwrap().is_ipv6());
}

#[tokio::test]
async fn what_is_no_address_is_refused_with_an_example() {
    for address in ["8081", "localhost", ":http", ":99999", "127.0.0.1", "[::1]"] {
        let error = bind(address).await.unwrap_err();
        assert!(matches!(error, ServerError::Address(_)), "{address}: {error:?}");
        assert!(error.to_string().contains("\":8081\""), "{error}");
    }
}

#[tokio::test]
async fn a_port_that_is_taken_is_said() {
    let (_taken, address) = listen().await;
    for wanted in [address.to_string(), format!(":{}", address.port())] {
        let error = bind(&wanted).await.unwrap_err();
        assert!(error.to_string().contains(&wanted), "{error}");
        let ServerError::Bind { source, .. } = error else { panic!("{error:?}") };
        assert_eq!(source.kind(), io::ErrorKind::AddrInUse);
    }
}
