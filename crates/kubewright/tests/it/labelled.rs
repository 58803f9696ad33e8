//! What is read by label: the right ones, in the right namespace, and fewer with a selector.

use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::{Book, BookStatus, book};
use crate::running;

/// Counts the pages of a book: those with its label, and ten times those that are printed as well.
struct Counters {
    pages: Reads<ConfigMap>,
    printed: Reads<ConfigMap>,
}

impl Controller for Counters {
    type Kind = Book;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self {
            pages: wiring.reads_labelled("book"),
            printed: wiring.reads_matching("book", "printed=yes"),
        }
    }

    async fn reconcile(&self, _: &Book, pass: &Pass<Book>) -> Result<Outcome, Error> {
        let count = self.pages.of(pass)?.len() + 10 * self.printed.of(pass)?.len();
        pass.status(BookStatus { pages: i32::try_from(count).ok(), conditions: vec![] });
        Ok(Outcome::Done)
    }
}

fn page(name: &str, labels: &serde_json::Value) -> ConfigMap {
    serde_json::from_value(json!({"metadata": {"name": name, "labels": labels}})).unwrap()
}

async fn counted(env: &Env, name: &str, expected: i32) {
    env.eventually(&format!("{expected} for {name}"), async || {
        let book = env.api::<Book>().get(name).await.map_err(|error| error.to_string())?;
        let pages = book.status.and_then(|status| status.pages);
        if pages == Some(expected) { Ok(()) } else { Err(format!("{pages:?}")) }
    })
    .await;
}

#[kubewright_testenv::test]
async fn an_object_sees_those_with_its_name_and_is_told_of_each(env: Env) {
    let long = format!("b{}", "o".repeat(100));
    let operator = running::start::<Counters>(&env, running::flags(&env)).await;
    env.create(book("one")).await;
    env.create(book(&long)).await;
    counted(&env, "one", 0).await;
    let first = env.create(page("a", &json!({"book": "one"}))).await;
    env.create(page("b", &json!({"book": "one", "printed": "yes"}))).await;
    env.create(page("c", &json!({"book": "two", "printed": "yes"}))).await;
    env.create(page("d", &json!({"printed": "yes"}))).await;
    counted(&env, "one", 12).await;
    env.delete(&first).await;
    counted(&env, "one", 11).await;
    env.create(page("e", &json!({"book": kubewright::names::label_value(&long)}))).await;
    counted(&env, &long, 1).await;
    operator.stop().await;
}
