//! What a deletion costs: of an object, of one that others hold, of a whole namespace.

use kubewright::conditions::{self, Status};
use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kubewright::kube::Api;
use kubewright::kube::api::{DeleteParams, ListParams};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use kubewright_testenv::audit::AuditRecord;
use serde_json::json;

use crate::books::{Book, BookError, BookStatus, book, deployment, map};
use crate::finalizer::{OURS, THEIRS};
use crate::running::{self, Running, settled};
use crate::seen;
use crate::world::{converged, merge, reconciled};

const BOOKS: usize = 20;

/// Two children per Book, and a farewell that costs a status, an event and the finalizer.
struct Pairs {
    maps: Owned<ConfigMap>,
    deployments: Owned<Deployment>,
}

impl Controller for Pairs {
    type Kind = Book;
    type Error = BookError;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self { maps: wiring.owns(), deployments: wiring.keeps() }
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, BookError> {
        tokio::try_join!(
            self.maps.apply(pass, map(book, 0)),
            self.deployments.apply(pass, deployment(book)),
        )?;
        Ok(Outcome::Done)
    }

    async fn finalize(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, BookError> {
        pass.warn("Deleting", format!("{} is being deleted", book.name_any()));
        let degraded = conditions::new("Degraded", Status::True, "Finalizing", "");
        pass.status(BookStatus { pages: None, conditions: vec![degraded] });
        Ok(Outcome::Done)
    }
}

async fn pairs(env: &Env) -> Running {
    running::start::<Pairs>(env, running::flags(env)).await
}

/// Everything that the operator asked for, events included.
fn asked(env: &Env) -> Vec<AuditRecord> {
    let records = seen::asked(env, &seen::user(env, "operator")).into_iter();
    records.filter(|record| record.verb != "watch").collect()
}

fn shown(records: &[AuditRecord]) -> Vec<String> {
    let one = |record: &AuditRecord| {
        let AuditRecord { verb, resource, subresource, code, .. } = record;
        format!("{verb} {resource}/{subresource} {code}")
    };
    records.iter().map(one).collect()
}

fn refused(records: &[AuditRecord]) -> Vec<&AuditRecord> {
    records.iter().filter(|record| record.code == 403).collect()
}

/// The owners of what was deleted are looked at, once for each child at most; the other requests.
fn but_for_looks(requests: &[AuditRecord]) -> Vec<String> {
    let is_look = |request: &String| request.starts_with("get books/");
    let (looks, others): (Vec<_>, Vec<_>) = shown(requests).into_iter().partition(is_look);
    assert!(looks.len() <= 2 * BOOKS, "{looks:#?}");
    others
}

async fn twenty(env: &Env) -> Running {
    let operator = pairs(env).await;
    for number in 0..BOOKS {
        env.create(book(&format!("b-{number}"))).await;
    }
    for number in 0..BOOKS {
        reconciled(env, &format!("b-{number}"), "True", "Reconciled").await;
    }
    settled(|| asked(env).len()).await;
    operator
}

async fn delete_all<K>(env: &Env)
where
    K: Resource<Scope = kubewright::k8s_openapi::NamespaceResourceScope, DynamicType = ()>,
    K: Clone + std::fmt::Debug + serde::de::DeserializeOwned,
{
    let parameters = (DeleteParams::background(), ListParams::default());
    env.api::<K>().delete_collection(&parameters.0, &parameters.1).await.unwrap();
}

async fn delete_namespace(env: &Env) -> Api<Namespace> {
    let namespaces: Api<Namespace> = Api::all(env.client());
    namespaces.delete(env.namespace(), &DeleteParams::default()).await.unwrap();
    namespaces
}

async fn no_books(env: &Env) {
    env.eventually("all books are gone", async || {
        match env.api::<Book>().list(&ListParams::default()).await.unwrap().items.len() {
            0 => Ok(()),
            count => Err(format!("{count} are left")),
        }
    })
    .await;
}

#[kubewright_testenv::test(controllers)]
async fn a_deletion_costs_a_status_an_event_and_the_finalizer(env: Env) {
    let operator = pairs(&env).await;
    let book = converged(&env, &operator, book("a")).await;
    let before = settled(|| asked(&env).len()).await;
    env.delete(&book).await;
    no_books(&env).await;
    env.eventually("the child is gone", async || {
        let found = env.api::<ConfigMap>().get_opt("a").await.unwrap();
        if found.is_none() { Ok(()) } else { Err("still there".to_owned()) }
    })
    .await;
    let mut requests = shown(&settled(|| asked(&env)).await.split_off(before));
    requests.sort();
    assert_eq!(requests, ["create events/ 201", "patch books/ 200", "patch books/status 200"]);
    operator.stop().await;
}

#[kubewright_testenv::test(controllers)]
async fn without_a_finalizer_a_deletion_writes_nothing(env: Env) {
    let mut flags = running::flags(&env);
    flags.finalizer = false;
    let operator = running::start::<Pairs>(&env, flags).await;
    let book = converged(&env, &operator, book("a")).await;
    let before = settled(|| asked(&env).len()).await;
    env.delete(&book).await;
    env.eventually("the child is gone", async || {
        let found = env.api::<ConfigMap>().get_opt("a").await.unwrap();
        if found.is_none() { Ok(()) } else { Err("still there".to_owned()) }
    })
    .await;
    let requests = shown(&settled(|| asked(&env)).await.split_off(before));
    // The end of the child may have come first.
    assert!(requests.iter().all(|request| request.starts_with("get books/")), "{requests:#?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_book_that_others_hold_is_left_in_peace_whatever_happens_and_after_a_restart(env: Env) {
    let operator = pairs(&env).await;
    let mut held = book("a");
    held.metadata.finalizers = Some(vec![THEIRS.into()]);
    let held = converged(&env, &operator, held).await;
    assert_eq!(held.finalizers(), [THEIRS, OURS]);
    env.delete(&held).await;
    env.eventually("ours is off", async || {
        let book = env.api::<Book>().get("a").await.unwrap();
        if book.finalizers() == [THEIRS] { Ok(()) } else { Err(format!("{:?}", book.metadata)) }
    })
    .await;
    let before = settled(|| asked(&env).len()).await;
    merge::<Book>(&env, "a", json!({"spec": {"text": "still here"}})).await;
    merge::<ConfigMap>(&env, "a", json!({"data": {"text": "drifted"}})).await;
    env.api::<ConfigMap>().delete("a", &DeleteParams::default()).await.unwrap();
    let requests = settled(|| asked(&env)).await.split_off(before);
    assert!(requests.is_empty(), "{requests:#?}");
    operator.stop().await;
    let before = asked(&env).len();
    let operator = pairs(&env).await;
    env.api::<Deployment>().delete("a", &DeleteParams::default()).await.unwrap();
    let requests = shown(&settled(|| asked(&env)).await.split_off(before));
    assert!(requests.iter().all(|request| request.starts_with("list ")), "{requests:#?}");
    merge::<Book>(&env, "a", json!({"metadata": {"finalizers": null}})).await;
    no_books(&env).await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn children_that_cannot_come_back_are_tried_once_per_book_and_no_event_is(env: Env) {
    let operator = twenty(&env).await;
    let before = asked(&env).len();
    // Without the built-in controllers the namespace stays in this state, and nothing else happens.
    delete_namespace(&env).await;
    delete_all::<ConfigMap>(&env).await;
    delete_all::<Deployment>(&env).await;
    let requests = settled(|| asked(&env)).await.split_off(before);
    assert_eq!(refused(&requests).len(), BOOKS, "{:#?}", shown(&requests));
    delete_all::<Book>(&env).await;
    no_books(&env).await;
    let requests = settled(|| asked(&env)).await.split_off(before);
    assert_eq!(refused(&requests).len(), BOOKS, "{:#?}", shown(&requests));
    assert_eq!(but_for_looks(&requests).len(), 3 * BOOKS, "{:#?}", shown(&requests));
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn the_first_event_that_is_refused_is_the_last_that_is_tried(env: Env) {
    let operator = twenty(&env).await;
    let before = asked(&env).len();
    delete_namespace(&env).await;
    delete_all::<Book>(&env).await;
    no_books(&env).await;
    let requests = settled(|| asked(&env)).await.split_off(before);
    assert_eq!(refused(&requests).len(), 1, "{:#?}", shown(&requests));
    assert_eq!(requests.len(), 2 * BOOKS + 1, "{:#?}", shown(&requests));
    operator.stop().await;
}

#[kubewright_testenv::test(controllers)]
async fn a_namespace_with_twenty_books_goes_and_at_most_one_request_each_is_refused(env: Env) {
    let operator = twenty(&env).await;
    let before = asked(&env).len();
    let namespaces = delete_namespace(&env).await;
    let begun = std::time::Instant::now();
    env.eventually("the namespace is gone", async || {
        match namespaces.get_opt(env.namespace()).await.unwrap() {
            None => Ok(()),
            Some(namespace) => Err(format!("{:?}", namespace.status)),
        }
    })
    .await;
    let took = begun.elapsed();
    let requests = settled(|| asked(&env)).await.split_off(before);
    let refused = refused(&requests);
    println!("gone after {took:?}, {} requests, {} refused", requests.len(), refused.len());
    assert!(refused.len() <= BOOKS, "{:#?}", shown(&requests));
    for number in 0..BOOKS {
        let name = format!("b-{number}");
        assert!(refused.iter().filter(|record| record.name == name).count() <= 1);
    }
    assert!(but_for_looks(&requests).len() <= 4 * BOOKS, "{:#?}", shown(&requests));
    operator.stop().await;
}
