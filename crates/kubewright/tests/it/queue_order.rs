//! Who is looked at first, and never by two at a time.

use std::collections::HashSet;
use std::sync::Mutex;
use std::time::Duration;

use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::{Book, BookStatus, book};
use crate::running;
use crate::world::merge;

/// Every pass that began, as `namespace/name`, in order.
static BEGUN: Mutex<Vec<String>> = Mutex::new(Vec::new());
/// Those that run now.
static RUNNING: Mutex<Option<HashSet<String>>> = Mutex::new(None);
/// Those that ran twice at a time.
static DOUBLE: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Takes its time and has no children.
struct Readers;

impl Controller for Readers {
    type Kind = Book;
    type Error = Error;

    fn wire(_: &mut Wiring<Book>) -> Self {
        Self
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, Error> {
        let key = pass.key().to_string();
        BEGUN.lock().unwrap().push(key.clone());
        if !RUNNING.lock().unwrap().get_or_insert_default().insert(key.clone()) {
            DOUBLE.lock().unwrap().push(key.clone());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
        RUNNING.lock().unwrap().get_or_insert_default().remove(&key);
        let conditions = Vec::new();
        pass.status(BookStatus { pages: Some(book.spec.pages), conditions });
        Ok(Outcome::Done)
    }
}

fn operator() -> Operator {
    Operator::new("book-operator").controller::<Readers>()
}

fn begun(env: &Env) -> Vec<String> {
    let prefix = format!("{}/", env.namespace());
    let begun = BEGUN.lock().unwrap();
    begun.iter().filter_map(|key| key.strip_prefix(&prefix)).map(str::to_owned).collect()
}

async fn until_begun(env: &Env, count: usize) -> Vec<String> {
    env.eventually(&format!("{count} passes began"), async || match begun(env) {
        begun if begun.len() >= count => Ok(begun),
        begun => Err(format!("{} passes", begun.len())),
    })
    .await
}

async fn two_hundred(env: &Env) -> Vec<String> {
    env.install(&operator().definitions()).await;
    let mut names: Vec<_> = (0..200).map(|number| format!("b-{number:03}")).collect();
    // Created backwards, so that the order is that of the list.
    for name in names.iter().rev() {
        env.create(book(name)).await;
    }
    names.sort();
    names
}

#[kubewright_testenv::test]
async fn one_worker_takes_the_initial_list_in_its_order(env: Env) {
    let names = two_hundred(&env).await;
    let mut flags = running::flags(&env);
    flags.max_concurrent_reconciles = 1;
    let operator = running::start::<Readers>(&env, flags).await;
    assert_eq!(until_begun(&env, 200).await, names);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_live_change_overtakes_the_initial_list(env: Env) {
    two_hundred(&env).await;
    let mut flags = running::flags(&env);
    flags.max_concurrent_reconciles = 1;
    let operator = running::start::<Readers>(&env, flags).await;
    until_begun(&env, 10).await;
    merge::<Book>(&env, "b-190", json!({"spec": {"text": "changed"}})).await;
    let at = begun(&env).len();
    env.create(book("new")).await;
    let begun = until_begun(&env, 100).await;
    let place = |name: &str| begun.iter().position(|other| other == name).unwrap_or(usize::MAX);
    println!("changed at {at}: seen at {} and {}", place("b-190"), place("new"));
    assert!(place("b-190") < at + 20, "{begun:?}");
    assert!(place("new") < at + 20, "{begun:?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn an_object_is_never_in_two_hands(env: Env) {
    let mut flags = running::flags(&env);
    flags.max_concurrent_reconciles = 8;
    let operator = running::start::<Readers>(&env, flags).await;
    for name in ["a", "b", "c"] {
        env.create(book(name)).await;
    }
    for number in 0..60 {
        for name in ["a", "b", "c"] {
            merge::<Book>(&env, name, json!({"spec": {"pages": number}})).await;
        }
    }
    env.eventually("the last change is seen", async || {
        let mut seen = Vec::new();
        for name in ["a", "b", "c"] {
            let book = env.api::<Book>().get(name).await.unwrap();
            seen.push(book.status.unwrap_or_default().pages);
        }
        if seen == [Some(59); 3] { Ok(()) } else { Err(format!("{seen:?}")) }
    })
    .await;
    let prefix = format!("{}/", env.namespace());
    let double = DOUBLE.lock().unwrap().clone();
    assert!(!double.iter().any(|key| key.starts_with(&prefix)), "{double:?}");
    assert!(begun(&env).len() > 9, "changes were seen while they came");
    operator.stop().await;
}
