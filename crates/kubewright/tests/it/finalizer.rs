//! The finalizer: there before anything has to be cleared up, off when that is done, and nobody else's.

use std::sync::Mutex;

use kubewright::conditions::{self, Status};
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::k8s_openapi::api::rbac::v1::ClusterRole;
use kubewright::kube::Api;
use kubewright::kube::api::{DeleteParams, ListParams, PostParams};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde_json::json;

use crate::books::{Book, BookError, BookStatus, book, map, moody};
use crate::running::{self, Running, settled};
use crate::world::{converged, merge, reconciled, writes_since};

pub const OURS: &str = "test.kubewright.dev/book-operator";
pub const THEIRS: &str = "example.com/theirs";

/// Every run of `finalize`, as `namespace/name`.
static FINALIZED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// One `ConfigMap` per Book, and a farewell.
pub struct Endings {
    maps: Owned<ConfigMap>,
}

impl Controller for Endings {
    type Kind = Book;
    type Error = BookError;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self { maps: wiring.owns() }
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, BookError> {
        self.maps.apply(pass, map(book, 0)).await?;
        Ok(Outcome::Done)
    }

    async fn finalize(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, BookError> {
        FINALIZED.lock().unwrap().push(pass.key().to_string());
        if book.spec.mood == "clinging" {
            return Err(BookError::Moody(book.spec.mood.clone()));
        }
        pass.event("Farewell", "nothing is left");
        let gone = conditions::new("Gone", Status::True, "Gone", "");
        pass.status(BookStatus { pages: Some(0), conditions: vec![gone] });
        Ok(Outcome::Done)
    }
}

/// One `ClusterRole` per Book, which no owner reference can take along.
struct Roles {
    roles: Managed<ClusterRole>,
}

impl Controller for Roles {
    type Kind = Book;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self { roles: wiring.manages() }
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, Error> {
        let name = role_name(pass.key().namespace(), &book.name_any());
        let mut role = ClusterRole::default();
        role.metadata.name = Some(name);
        self.roles.apply(pass, role).await?;
        Ok(Outcome::Done)
    }
}

fn operator() -> Operator {
    Operator::new("book-operator").controller::<Endings>()
}

fn role_name(namespace: &str, name: &str) -> String {
    format!("{namespace}-{name}")
}

fn finalized(env: &Env, name: &str) -> usize {
    let key = format!("{}/{name}", env.namespace());
    FINALIZED.lock().unwrap().iter().filter(|other| **other == key).count()
}

async fn finalizers(env: &Env, name: &str) -> Vec<String> {
    env.api::<Book>().get(name).await.unwrap().finalizers().to_vec()
}

pub async fn gone(env: &Env, name: &str) {
    env.eventually(&format!("{name} is gone"), async || {
        match env.api::<Book>().get_opt(name).await.unwrap() {
            None => Ok(()),
            Some(book) => Err(format!("{:?}", book.metadata)),
        }
    })
    .await;
}

async fn endings(env: &Env) -> Running {
    running::start::<Endings>(env, running::flags(env)).await
}

#[kubewright_testenv::test]
async fn it_is_there_before_the_first_child_and_off_after_finalize(env: Env) {
    let operator = endings(&env).await;
    let book = converged(&env, &operator, book("a")).await;
    let writes = operator.writes(&env);
    let expected = ["patch books/ a 200", "patch configmaps/ a 201", "patch books/status a 200"];
    assert_eq!(writes, expected);
    assert_eq!(book.finalizers(), [OURS]);
    env.delete(&book).await;
    gone(&env, "a").await;
    let writes = writes_since(&env, &operator, 3).await;
    assert_eq!(writes, ["patch books/status a 200", "patch books/ a 200"]);
    assert_eq!(finalized(&env, "a"), 1);
    operator.stop().await;
    let records = env.environment().audit().unwrap();
    let user = format!("operator-{}", env.namespace());
    let events = records.iter().filter(|record| record.user == user && record.resource == "events");
    assert_eq!(events.count(), 1);
}

#[kubewright_testenv::test]
async fn others_are_kept_and_none_is_put_on_an_object_that_goes(env: Env) {
    let operator = endings(&env).await;
    let mut first = book("a");
    first.metadata.finalizers = Some(vec![THEIRS.into()]);
    let first = converged(&env, &operator, first).await;
    assert_eq!(first.finalizers(), [THEIRS, OURS]);
    env.delete(&first).await;
    env.eventually("ours is off", async || match finalizers(&env, "a").await {
        names if names == [THEIRS] => Ok(()),
        names => Err(format!("{names:?}")),
    })
    .await;
    let before = settled(|| operator.requests(&env).len()).await;
    merge::<Book>(&env, "a", json!({"spec": {"text": "still here"}})).await;
    assert_eq!(settled(|| operator.requests(&env).len()).await, before);
    assert_eq!((finalizers(&env, "a").await, finalized(&env, "a")), (vec![THEIRS.into()], 1));
    merge::<Book>(&env, "a", json!({"metadata": {"finalizers": []}})).await;
    gone(&env, "a").await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_failing_finalize_is_told_and_tried_again(env: Env) {
    let operator = endings(&env).await;
    let book = converged(&env, &operator, moody("a", "clinging")).await;
    env.delete(&book).await;
    reconciled(&env, "a", "False", "Moody").await;
    env.eventually("it is tried again", async || match finalized(&env, "a") {
        count if count > 3 => Ok(()),
        count => Err(format!("{count} times")),
    })
    .await;
    assert_eq!(finalizers(&env, "a").await, [OURS]);
    merge::<Book>(&env, "a", json!({"spec": {"mood": ""}})).await;
    gone(&env, "a").await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn without_the_flag_none_is_put_on_and_one_that_is_there_comes_off(env: Env) {
    env.install(&operator().definitions()).await;
    let mut old = book("old");
    old.metadata.finalizers = Some(vec![OURS.into(), THEIRS.into()]);
    env.create(old).await;
    let mut flags = running::flags(&env);
    flags.finalizer = false;
    let operator = running::start::<Endings>(&env, flags).await;
    env.create(book("new")).await;
    for name in ["old", "new"] {
        reconciled(&env, name, "True", "Reconciled").await;
    }
    assert_eq!(finalizers(&env, "old").await, [THEIRS]);
    assert_eq!(finalizers(&env, "new").await, Vec::<String>::new());
    let writes = settled(|| operator.writes(&env)).await;
    assert_eq!(writes.len(), 5, "{writes:#?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn one_that_is_there_is_taken_off_without_the_flag_also_from_an_object_that_goes(env: Env) {
    env.install(&operator().definitions()).await;
    let mut going = book("a");
    going.metadata.finalizers = Some(vec![OURS.into()]);
    let going = env.create(going).await;
    env.delete(&going).await;
    let mut flags = running::flags(&env);
    flags.finalizer = false;
    let operator = running::start::<Endings>(&env, flags).await;
    gone(&env, "a").await;
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn changes_by_others_while_it_is_put_on_do_no_harm(env: Env) {
    let operator = endings(&env).await;
    for number in 0..10 {
        let name = format!("a-{number}");
        env.create(book(&name)).await;
        for label in 0..5 {
            let labels = json!({"metadata": {"labels": {"n": label.to_string()}}});
            merge::<Book>(&env, &name, labels).await;
        }
    }
    for number in 0..10 {
        reconciled(&env, &format!("a-{number}"), "True", "Reconciled").await;
    }
    let events = env.api::<kubewright::k8s_openapi::api::events::v1::Event>();
    let events = events.list(&ListParams::default()).await.unwrap();
    let reasons: Vec<_> = events.items.iter().filter_map(|event| event.reason.clone()).collect();
    assert!(reasons.is_empty(), "a conflict is no failure: {reasons:?}");
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn a_cluster_wide_child_goes_with_its_book_and_a_strangers_stays(env: Env) {
    let roles: Api<ClusterRole> = Api::all(env.client());
    let name = |book: &str| role_name(env.namespace(), book);
    let mut foreign = ClusterRole::default();
    foreign.metadata.name = Some(name("taken"));
    let foreign = roles.create(&PostParams::default(), &foreign).await.unwrap();
    let operator = running::start::<Roles>(&env, running::flags(&env)).await;
    let book = converged(&env, &operator, book("a")).await;
    assert_eq!(book.finalizers(), [OURS]);
    let role = roles.get(&name("a")).await.unwrap();
    assert_eq!(role.labels().get("kubewright.dev/owner-uid"), book.metadata.uid.as_ref());
    let expected = [
        "patch books/ a 200".to_owned(),
        format!("patch clusterroles/ {} 201", name("a")),
        "patch books/status a 200".to_owned(),
    ];
    assert_eq!(operator.writes(&env), expected);
    // Put back, as any child.
    roles.delete(&name("a"), &DeleteParams::default()).await.unwrap();
    env.eventually("the ClusterRole is back", async || {
        roles.get_opt(&name("a")).await.unwrap().map(drop).ok_or_else(|| "none".to_owned())
    })
    .await;
    let taken = env.create(crate::books::book("taken")).await;
    reconciled(&env, "taken", "False", "NameTaken").await;
    env.delete(&taken).await;
    env.delete(&book).await;
    gone(&env, "a").await;
    gone(&env, "taken").await;
    assert!(roles.get_opt(&name("a")).await.unwrap().is_none());
    let still = roles.get(&name("taken")).await.unwrap();
    assert_eq!(still.resource_version(), foreign.resource_version());
    roles.delete(&name("taken"), &DeleteParams::default()).await.unwrap();
    operator.stop().await;
}
