//! Servers that do not answer, on loopback, and one that does.

use std::error::Error as _;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{ListParams, PostParams, WatchEvent, WatchParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Api, ResourceExt as _};
use kubewright_testenv::Env;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use super::*;
use crate::metrics::Metrics;

const LIMIT: Duration = Duration::from_millis(300);
/// Far more than the limit, far less than for ever.
const SOON: Duration = Duration::from_secs(10);

const HEAD: &str =
    "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n";

/// A server that does with each connection what `serve` says, once a request has come.
async fn server<F>(serve: impl Fn(TcpStream) -> F + Send + 'static) -> Config
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            if stream.read(&mut request).await.is_ok() {
                tokio::spawn(serve(stream));
            }
        }
    });
    Config::new(format!("http://{address}").parse().unwrap())
}

fn quick(config: Config, purpose: Purpose, metrics: &Metrics) -> kube::Client {
    limited(config, purpose, LIMIT, "example", metrics.requests()).unwrap()
}

fn maps(client: kube::Client) -> Api<ConfigMap> {
    Api::default_namespaced(client)
}

fn unanswered(error: &kube::Error) -> Option<Unanswered> {
    let kube::Error::Service(source) = error else { return None };
    source.downcast_ref().copied()
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let metrics = Metrics::new();
    for purpose in [Purpose::Requests, Purpose::Watches, Purpose::Lease] {
        let config = server(async |stream| {
            sleep(SOON).await;
            drop(stream);
        })
        .await;
        let host = config.cluster_url.authority().unwrap().to_string();
        let api = maps(quick(config, purpose, &metrics));
        let error = timeout(SOON, api.get("a")).await.expect("an end").unwrap_err();
        assert_eq!(unanswered(&error), Some(Unanswered::Head(LIMIT)), "{purpose:?}: {error:?}");
        let counted =
            format!(r#"rest_client_requests_total{{code="<error>",method="GET",host="{host}"}} 1"#);
        assert!(metrics.render().contains(&counted), "{}", metrics.render());
    }
}

#[tokio::test]
async fn a_server_that_begins_an_answer_and_falls_silent_is_given_up() {
    let metrics = Metrics::new();
    for purpose in [Purpose::Requests, Purpose::Watches, Purpose::Lease] {
        let config = server(async |mut stream| {
            stream.write_all(HEAD.as_bytes()).await.unwrap();
            stream.write_all(b"{\"metadata\":").await.unwrap();
            sleep(SOON).await;
        })
        .await;
        let client = maps(quick(config, purpose, &metrics));
        let parameters = ListParams::default();
        let error = timeout(SOON, client.list(&parameters)).await.expect("an end").unwrap_err();
        assert_eq!(unanswered(&error), Some(Unanswered::Body(LIMIT)), "{purpose:?}: {error:?}");
    }
}

#[tokio::test]
async fn a_slow_answer_is_read_to_its_end() {
    let config = server(async |mut stream| {
        stream.write_all(HEAD.replace("100", "20").as_bytes()).await.unwrap();
        for piece in [r#"{"met"#, r#"adata""#, r":{     ", "}}"] {
            sleep(LIMIT / 2).await;
            stream.write_all(piece.as_bytes()).await.unwrap();
        }
    })
    .await;
    let began = Instant::now();
    maps(quick(config, Purpose::Requests, &Metrics::new())).get("a").await.unwrap();
    assert!(began.elapsed() > LIMIT, "the limit is for the silence, not for the whole");
}

#[tokio::test]
async fn a_watch_may_be_silent() {
    let config = server(async |mut stream| {
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n";
        stream.write_all(head.as_bytes()).await.unwrap();
        sleep(LIMIT * 3).await;
        let event = r#"{"type":"DELETED","object":{"metadata":{"name":"a"}}}"#;
        stream.write_all(event.as_bytes()).await.unwrap();
        stream.write_all(b"\n").await.unwrap();
    })
    .await;
    let api = maps(quick(config, Purpose::Watches, &Metrics::new()));
    let mut events = pin!(api.watch(&WatchParams::default(), "0").await.unwrap());
    let event = timeout(SOON, events.next()).await.expect("an event").unwrap().unwrap();
    assert!(matches!(&event, WatchEvent::Deleted(map) if map.name_any() == "a"), "{event:?}");
}

#[tokio::test]
async fn requests_in_flight_are_bounded_and_all_are_answered() {
    static OPEN: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let config = server(async |mut stream| {
        let open = OPEN.fetch_add(1, Ordering::SeqCst) + 1;
        MOST.fetch_max(open, Ordering::SeqCst);
        let head = HEAD.replace("100", "2\r\nconnection: close");
        stream.write_all(head.as_bytes()).await.unwrap();
        sleep(Duration::from_millis(50)).await; // the body keeps its place
        OPEN.fetch_sub(1, Ordering::SeqCst);
        stream.write_all(b"{}").await.unwrap();
    })
    .await;
    let api = maps(quick(config, Purpose::Requests, &Metrics::new()));
    let all = join_all((0..IN_FLIGHT * 3).map(|_| api.get("a")));
    let answers = timeout(SOON, all).await.expect("an end");
    assert!(
        answers.iter().all(Result::is_ok),
        "{:?}",
        answers.iter().find(|answer| answer.is_err())
    );
    let most = MOST.load(Ordering::SeqCst);
    assert!((2..=IN_FLIGHT).contains(&most), "{most} at a time");
}

#[tokio::test]
async fn a_place_comes_back_when_nobody_waits_for_the_answer_any_more() {
    let config = server(async |stream| {
        sleep(SOON).await;
        drop(stream);
    })
    .await;
    let api = maps(quick(config, Purpose::Requests, &Metrics::new()));
    for _ in 0..2 {
        let all = join_all((0..IN_FLIGHT).map(|_| api.get("a")));
        assert!(timeout(LIMIT / 10, all).await.is_err());
    }
    let error = timeout(SOON, api.get("a")).await.expect("a place").unwrap_err();
    assert_eq!(unanswered(&error), Some(Unanswered::Head(LIMIT)), "{error:?}");
}

#[tokio::test]
async fn a_busy_server_is_not_asked_again() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let config = server(async |mut stream| {
        ASKED.fetch_add(1, Ordering::SeqCst);
        let answer =
            "HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
        stream.write_all(answer.as_bytes()).await.unwrap();
    })
    .await;
    let metrics = Metrics::new();
    let error = maps(quick(config, Purpose::Requests, &metrics)).get("a").await.unwrap_err();
    assert!(matches!(&error, kube::Error::Api(status) if status.code == 429), "{error:?}");
    assert_eq!(ASKED.load(Ordering::SeqCst), 1);
    assert!(metrics.render().contains(r#"rest_client_requests_total{code="429",method="GET""#));
}

#[tokio::test]
async fn a_name_that_cannot_be_sent_is_refused() {
    let config = Config::new("http://127.0.0.1:1".parse().unwrap());
    let refused = client(config, Purpose::Lease, "a\nb", Metrics::new().requests());
    assert!(matches!(refused, Err(ClientError::Name(name)) if name == "a\nb"));
    let given_up = Unanswered::Head(Purpose::Lease.limit());
    assert_eq!(given_up.to_string(), "the API server did not begin to answer within 8s");
    assert!(given_up.source().is_none());
}

#[kubewright_testenv::test]
async fn a_real_server_answers_and_sees_who_asks(env: Env) {
    let kubeconfig = Kubeconfig::read_from(env.environment().kubeconfig()).unwrap();
    let options = KubeConfigOptions::default();
    let config = Config::from_custom_kubeconfig(kubeconfig, &options).await.unwrap();
    let metrics = Metrics::new();
    let name = "guestbook-operator/0.1.0";
    let client = client(config, Purpose::Requests, name, metrics.requests()).unwrap();
    let api: Api<ConfigMap> = Api::namespaced(client, env.namespace());
    let map: ConfigMap = serde_json::from_str(r#"{"metadata": {"name": "a"}}"#).unwrap();
    let made = api.create(&PostParams::default(), &map).await.unwrap();
    assert_eq!(api.get("a").await.unwrap().metadata.uid, made.metadata.uid);
    assert!(matches!(api.get("b").await, Err(kube::Error::Api(status)) if status.is_not_found()));
    let rendered = metrics.render();
    for series in [r#"code="201",method="POST""#, r#"code="200",method="GET""#, r#"code="404""#] {
        assert!(rendered.contains(&format!("rest_client_requests_total{{{series}")), "{rendered}");
    }
    let agent = user_agent(name);
    assert!(agent.starts_with("guestbook-operator/0.1.0 (") && agent.ends_with(") kubewright"));
    env.eventually("the audit log shows the user agent", async || {
        let records = env.environment().audit().map_err(|error| error.to_string())?;
        if records.iter().any(|record| record.user_agent == agent) {
            Ok(())
        } else {
            Err(agent.clone())
        }
    })
    .await;
}

#[tokio::test]
async fn a_server_that_is_too_busy_to_speak_json_is_left_alone_for_as_long_as_it_says() {
    const BUSY: &str = "HTTP/1.1 429 Too Many Requests\r\ncontent-type: text/plain; charset=utf-8\r\n\
        retry-after: 7\r\ncontent-length: 5\r\n\r\nbusy\n";
    let config = server(async |mut stream: TcpStream| {
        stream.write_all(BUSY.as_bytes()).await.unwrap();
    })
    .await;
    let api = maps(quick(config, Purpose::Requests, &Metrics::new()));
    let error = timeout(SOON, api.get("a")).await.expect("an end").unwrap_err();
    let error = crate::Error::api("example", "get", "configmaps", "look at a".into(), error);
    let retry = crate::Failure::retry(&error);
    assert_eq!(retry, crate::Retry::After(Duration::from_secs(7)), "{error:?}");
}
