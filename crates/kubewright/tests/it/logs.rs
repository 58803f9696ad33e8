//! What an operator does is one line in its log each, and no secret is in any.

use std::io::Write;
use std::sync::{Arc, Mutex, OnceLock};

use kubewright::k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::{Value, json};

use crate::books::{Book, BookError, book, map};
use crate::running;
use crate::world::{converged, merge, reconciled};

const PASSWORD: &str = "c3dvcmRmaXNo";
const OTHER: &str = "b3BlbiBzZXNhbWU=";

/// `ConfigMaps` and a Secret per Book.
struct Writers {
    maps: Owned<ConfigMap>,
    secrets: Owned<Secret>,
}

impl Controller for Writers {
    type Kind = Book;
    type Error = BookError;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self { maps: wiring.owns(), secrets: wiring.owns() }
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, BookError> {
        let secret = json!({"metadata": {"name": book.name_any()}, "data": {"password": PASSWORD}});
        self.secrets.apply(pass, serde_json::from_value(secret).unwrap()).await?;
        for number in 0..=book.spec.appendices {
            self.maps.apply(pass, map(book, number)).await?;
        }
        Ok(Outcome::Done)
    }
}

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// The log of this process, from the first call on.
fn log() -> &'static Buffer {
    static LOG: OnceLock<Buffer> = OnceLock::new();
    LOG.get_or_init(|| {
        let buffer = Buffer::default();
        let writer = buffer.clone();
        let subscriber = tracing_subscriber::fmt().json().with_writer(move || writer.clone());
        tracing::subscriber::set_global_default(subscriber.finish()).unwrap();
        buffer
    })
}

/// What was said of children in the test's namespace: message, kind, name and field.
fn said(env: &Env) -> Vec<String> {
    let bytes = log().0.lock().unwrap().clone();
    let text = String::from_utf8(bytes).unwrap();
    assert!(!text.contains(PASSWORD) && !text.contains(OTHER), "a secret is in the log");
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let fields = lines.map(|line| line["fields"].clone());
    let ours = fields.filter(|fields| fields["namespace"] == env.namespace());
    let words = ["message", "kind", "name", "field", "expected", "actual"];
    let said = ours.map(|fields| words.map(|word| fields[word].as_str().unwrap_or("").to_owned()));
    said.map(|words| words.join(" ").trim_end().to_owned()).collect()
}

#[kubewright_testenv::test]
async fn each_action_is_one_line_with_kind_namespace_and_name(env: Env) {
    log();
    let operator = running::start::<Writers>(&env, running::flags(&env)).await;
    let mut first = book("a");
    first.spec.appendices = 1;
    converged(&env, &operator, first).await;
    assert_eq!(said(&env), ["created Secret a", "created ConfigMap a", "created ConfigMap a-1"]);
    merge::<ConfigMap>(&env, "a", json!({"data": {"text": "edited"}})).await;
    merge::<Secret>(&env, "a", json!({"data": {"password": OTHER}})).await;
    env.eventually("both are put back", async || {
        let said = said(&env).split_off(3);
        if said.len() == 2 { Ok(()) } else { Err(format!("{said:?}")) }
    })
    .await;
    let mut repaired = said(&env).split_off(3);
    repaired.sort();
    let expected = [
        "repaired ConfigMap a data.text \"once\" \"edited\"",
        "repaired Secret a data.password (hidden) (hidden)",
    ];
    assert_eq!(repaired, expected);
    merge::<Book>(&env, "a", json!({"spec": {"appendices": 0}})).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    env.eventually("the last line", async || match said(&env).split_off(5) {
        said if said == ["deleted ConfigMap a-1"] => Ok(()),
        said => Err(format!("{said:?}")),
    })
    .await;
    operator.stop().await;
}
