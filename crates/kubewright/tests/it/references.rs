//! What a spec names: only that is kept, and a change of it is seen.

use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::api::{Patch, PatchParams};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::{Book, BookStatus, book};
use crate::running;

/// A book whose text is the name of a `ConfigMap`, and whose pages say what that holds.
struct Readers {
    sources: Reads<ConfigMap>,
}

impl Controller for Readers {
    type Kind = Book;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self { sources: wiring.refers_to(|book: &Book| vec![book.spec.text.clone()]) }
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, Error> {
        let source = self.sources.get(pass, &book.spec.text)?;
        let named = self.sources.of(pass)?;
        assert_eq!(named.len(), usize::from(source.is_some()), "no other is kept");
        let pages = source.and_then(|map| map.data?.get("pages")?.parse().ok());
        pass.status(BookStatus { pages, conditions: vec![] });
        Ok(Outcome::Done)
    }
}

fn source(name: &str, pages: i32) -> ConfigMap {
    let map = json!({"metadata": {"name": name}, "data": {"pages": pages.to_string()}});
    serde_json::from_value(map).unwrap()
}

fn of(name: &str, source: &str) -> Book {
    let mut book = book(name);
    source.clone_into(&mut book.spec.text);
    book
}

async fn pages(env: &Env, name: &str, expected: Option<i32>) {
    env.eventually(&format!("{name} has {expected:?} pages"), async || {
        let book = env.api::<Book>().get(name).await.map_err(|error| error.to_string())?;
        let status = book.status.ok_or("no status yet")?;
        if status.pages == expected { Ok(()) } else { Err(format!("{:?}", status.pages)) }
    })
    .await;
}

#[kubewright_testenv::test]
async fn what_a_spec_names_is_read_and_followed(env: Env) {
    env.create(source("early", 1)).await;
    for number in 0..20 {
        env.create(source(&format!("foreign-{number}"), 0)).await;
    }
    let operator = running::start::<Readers>(&env, running::flags(&env)).await;
    env.create(of("one", "early")).await;
    pages(&env, "one", Some(1)).await;
    env.create(of("two", "missing")).await;
    pages(&env, "two", None).await;

    env.create(source("missing", 7)).await;
    pages(&env, "two", Some(7)).await;
    let maps = env.api::<ConfigMap>();
    let change = Patch::Merge(json!({"data": {"pages": "8"}}));
    maps.patch("missing", &PatchParams::default(), &change).await.unwrap();
    pages(&env, "two", Some(8)).await;
    maps.delete("missing", &kubewright::kube::api::DeleteParams::default()).await.unwrap();
    pages(&env, "two", None).await;

    let change = Patch::Merge(json!({"spec": {"text": "foreign-3"}}));
    env.api::<Book>().patch("one", &PatchParams::default(), &change).await.unwrap();
    pages(&env, "one", Some(0)).await;

    let gets = operator.requests(&env).into_iter().filter(|request| request.verb == "get");
    let mut gets: Vec<_> = gets.map(|request| request.name).collect();
    gets.sort();
    // "early" may have been named before the first list, which then told of it.
    gets.retain(|name| name != "early");
    assert_eq!(gets, ["foreign-3", "missing"], "one look for each name that is new");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_restart_looks_for_nothing_one_by_one(env: Env) {
    env.create(source("early", 1)).await;
    let operator = running::start::<Readers>(&env, running::flags(&env)).await;
    env.create(of("one", "early")).await;
    pages(&env, "one", Some(1)).await;
    operator.stop().await;
    let before = env.environment().audit().unwrap().len();
    let operator = running::start::<Readers>(&env, running::flags(&env)).await;
    let change = Patch::Merge(json!({"data": {"pages": "2"}}));
    env.api::<ConfigMap>().patch("early", &PatchParams::default(), &change).await.unwrap();
    pages(&env, "one", Some(2)).await;
    let records = env.environment().audit().unwrap().split_off(before);
    let user = format!("operator-{}", env.namespace());
    let gets = records.iter().filter(|record| record.user == user && record.verb == "get");
    assert_eq!(gets.count(), 0);
    operator.stop().await;
}
