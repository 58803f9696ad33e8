//! Servers that memcached never is: silent, slow, cut off, talking too much. Played by a few lines at
//! the other end of a stream, because no real server can be made to do it.

use std::time::{Duration, Instant};

use memcached_client::protocol::{LARGEST_VALUE, Response};
use memcached_client::{Broken, Connection, Error};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream};
use tokio::net::TcpListener;

const DEADLINE: Duration = Duration::from_millis(200);

/// Enough for a machine that is busy with a cluster, and less than any other limit.
const SOON: Duration = Duration::from_secs(5);

/// A connection whose server says `answer` whatever is asked, and then closes, or says nothing more.
fn server(answer: &'static [u8], closes: bool) -> Connection<DuplexStream> {
    let (near, mut far) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        let asked = far.read(&mut vec![0; 1 << 16]).await.unwrap();
        assert!(asked > 0, "nothing was asked");
        far.write_all(answer).await.unwrap();
        if !closes {
            std::future::pending::<()>().await;
        }
    });
    Connection::over(near).with_deadline(DEADLINE)
}

async fn assert_broken(connection: &mut Connection<DuplexStream>, why: Broken) {
    assert_eq!(connection.broken(), Some(why));
    let error = connection.version().await.unwrap_err();
    assert!(matches!(error, Error::Broken(broken) if broken == why), "{error:?}");
}

#[tokio::test]
async fn a_server_that_accepts_and_says_nothing_costs_the_deadline_and_no_more() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut connection = Connection::connect(address, DEADLINE).await.unwrap();
    let (_silent, _) = listener.accept().await.unwrap();
    let started = Instant::now();
    let error = connection.stats().await.unwrap_err();
    let took = started.elapsed();
    assert!(matches!(error, Error::Deadline { request: "stats", deadline: DEADLINE }), "{error:?}");
    assert!((DEADLINE..SOON).contains(&took), "{took:?}");

    // A broken connection fails at once: the silent server is not asked again.
    let error = connection.stats().await.unwrap_err();
    assert!(matches!(error, Error::Broken(Broken::Deadline)), "{error:?}");
}

#[tokio::test]
async fn a_server_that_does_not_read_costs_the_deadline_too() {
    let (near, _far) = tokio::io::duplex(1024);
    let mut connection = Connection::over(near).with_deadline(DEADLINE);
    let error = connection.set("k", vec![0; 4096], None).await.unwrap_err();
    assert!(matches!(error, Error::Deadline { request: "set", .. }), "{error:?}");
    assert_broken(&mut connection, Broken::Deadline).await;
}

#[tokio::test]
async fn a_server_that_talks_slowly_has_one_deadline_for_the_whole_answer() {
    let (near, mut far) = tokio::io::duplex(1 << 16);
    tokio::spawn(async move {
        while far.write_all(b"STAT name value\r\n").await.is_ok() {
            tokio::time::sleep(DEADLINE / 10).await;
        }
    });
    let mut connection = Connection::over(near).with_deadline(DEADLINE);
    let started = Instant::now();
    let error = connection.report("settings").await.unwrap_err();
    assert!(matches!(error, Error::Deadline { .. }), "{error:?}");
    assert!((DEADLINE..SOON).contains(&started.elapsed()), "{:?}", started.elapsed());
}

#[tokio::test]
async fn a_server_that_never_ends_its_report_is_stopped_at_the_bound() {
    let (near, mut far) = tokio::io::duplex(1 << 20);
    let sent = tokio::spawn(async move {
        let piece = b"STAT n \r\n".repeat(1000);
        let mut sent = 0;
        while far.write_all(&piece).await.is_ok() {
            sent += piece.len();
        }
        sent
    });
    let mut connection = Connection::over(near).with_deadline(Duration::from_mins(1));
    let error = connection.report("items").await.unwrap_err();
    assert!(matches!(error, Error::Unexpected { .. }), "{error:?}");
    assert_broken(&mut connection, Broken::Unexpected).await;
    drop(connection);
    let sent = sent.await.unwrap();
    assert!(sent < LARGEST_VALUE, "{sent} bytes were taken");
}

#[tokio::test]
async fn a_call_that_is_given_up_breaks_the_connection() {
    let mut connection = server(b"", false);
    let given_up = tokio::time::timeout(DEADLINE / 10, connection.version()).await;
    assert!(given_up.is_err(), "{given_up:?}");
    assert_broken(&mut connection, Broken::GivenUp).await;
}

#[tokio::test]
async fn a_server_that_closes_in_the_middle_of_a_value_breaks_the_connection() {
    let mut connection = server(b"VALUE k 0 5\r\nhel", true);
    let error = connection.get("k").await.unwrap_err();
    let Error::Stream { source, .. } = error else { panic!("{error:?}") };
    assert_eq!(source.kind(), std::io::ErrorKind::UnexpectedEof);
    assert_broken(&mut connection, Broken::Stream).await;
}

#[tokio::test]
async fn a_server_that_speaks_another_protocol_breaks_the_connection() {
    let mut connection = server(b"HTTP/1.1 400 Bad Request\r\n\r\n", false);
    let error = connection.get("k").await.unwrap_err();
    assert!(matches!(error, Error::Protocol { .. }), "{error:?}");
    assert_broken(&mut connection, Broken::Protocol).await;
}

#[tokio::test]
async fn an_answer_to_something_else_breaks_the_connection() {
    let answers: [&[u8]; 6] = [
        b"STORED\r\n",
        b"VALUE other 0 1\r\nx\r\nEND\r\n",
        b"VALUE k 0 1\r\nx\r\nVALUE k 0 1\r\nx\r\nEND\r\n",
        b"STAT k v\r\nEND\r\n",
        b"VALUE k 0 1\r\nx\r\nSTORED\r\n",
        b"END\r\nEND\r\n",
    ];
    for answer in answers {
        let mut connection = server(answer, false);
        let error = connection.get("k").await.unwrap_err();
        assert!(matches!(error, Error::Unexpected { .. }), "{error:?}");
        assert_broken(&mut connection, Broken::Unexpected).await;
    }
}

#[tokio::test]
async fn a_set_that_is_refused_unread_breaks_the_connection() {
    let mut connection = server(b"CLIENT_ERROR bad command line format\r\n", false);
    let error = connection.set("k", "flush_all\r\n", None).await.unwrap_err();
    assert!(matches!(error, Error::Refused { .. }), "{error:?}");
    assert_broken(&mut connection, Broken::ValueRefused).await;
}

#[tokio::test]
async fn a_refusal_is_told_and_the_connection_goes_on() {
    let busy = "currently processing crawler request";
    let refusals: [(&[u8], Response); 4] = [
        (b"ERROR\r\n", Response::Error(String::new())),
        (b"CLIENT_ERROR unauthenticated\r\n", Response::ClientError("unauthenticated".to_owned())),
        (b"BUSY currently processing crawler request\r\n", Response::Busy(busy.to_owned())),
        (b"ERROR locked try again later\r\n", Response::Locked),
    ];
    for (said, expected) in refusals {
        let mut connection = server(said, false);
        let error = connection.version().await.unwrap_err();
        assert!(
            matches!(&error, Error::Refused { answer, .. } if *answer == expected),
            "{error:?}"
        );
        assert_eq!(connection.broken(), None);
    }
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_named() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let error = Connection::connect(address, DEADLINE).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot connect to {address}"));
}
