//! The end of an operator, in good order and not: no pass is cut short by the one, and after the other the
//! next instance brings about the same as if nothing had been.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::api::ListParams;
use kubewright::prelude::*;
use kubewright_testenv::Env;

use crate::books::{Book, BookStatus, book, map};
use crate::running;
use crate::seen;
use crate::world::reconciled;

static BEGUN: AtomicUsize = AtomicUsize::new(0);
static ENDED: AtomicUsize = AtomicUsize::new(0);

/// Takes three seconds for every book.
struct Slow;

impl Controller for Slow {
    type Kind = Book;
    type Error = Error;

    fn wire(_: &mut Wiring<Book>) -> Self {
        Self
    }

    async fn reconcile(&self, _: &Book, _: &Pass<Book>) -> Result<Outcome, Error> {
        BEGUN.fetch_add(1, Ordering::SeqCst);
        tokio::time::sleep(Duration::from_secs(3)).await;
        ENDED.fetch_add(1, Ordering::SeqCst);
        Ok(Outcome::Done)
    }
}

#[kubewright_testenv::test]
async fn stopping_waits_for_the_passes_that_run(env: Env) {
    let mut flags = running::flags(&env);
    flags.reconcile_timeout = Duration::from_secs(30);
    flags.max_concurrent_reconciles = 20;
    let operator = running::start::<Slow>(&env, flags).await;
    for number in 0..25 {
        env.create(book(&format!("book-{number}"))).await;
    }
    env.eventually("20 passes run", async || {
        let begun = BEGUN.load(Ordering::SeqCst);
        if begun >= 20 { Ok(()) } else { Err(format!("{begun} have begun")) }
    })
    .await;
    let stopped = seen::within(Duration::from_secs(30), "it stops", operator.stop()).await;
    let begun = BEGUN.load(Ordering::SeqCst);
    assert_eq!(ENDED.load(Ordering::SeqCst), begun, "a pass was cut short");
    let books = env.api::<Book>().list(&ListParams::default()).await.unwrap();
    let told = books.iter().filter(|book| book.status.is_some()).count();
    assert_eq!(told, begun, "a pass ended without its status");
    eprintln!("stopped after {stopped:?}");
}

/// After how many writes the pass goes no further, until it is told otherwise.
static LIMIT: AtomicUsize = AtomicUsize::new(0);
static STUCK: AtomicBool = AtomicBool::new(false);

/// Writes three `ConfigMap`s, one after the other.
struct Steps(Owned<ConfigMap>);

impl Controller for Steps {
    type Kind = Book;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self(wiring.owns())
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, Error> {
        for number in 0..=3 {
            if LIMIT.load(Ordering::SeqCst) == number {
                STUCK.store(true, Ordering::SeqCst);
                std::future::pending::<()>().await;
            }
            if number < 3 {
                let number = i32::try_from(number).unwrap_or_default();
                self.0.apply(pass, map(book, number)).await?;
            }
        }
        pass.status(BookStatus::default());
        Ok(Outcome::Done)
    }
}

#[kubewright_testenv::test]
async fn killed_between_any_two_writes_it_ends_in_the_same_state(env: Env) {
    let mut flags = running::flags(&env);
    flags.reconcile_timeout = Duration::from_mins(1);
    let user = seen::user(&env, "operator");
    for limit in 0..=3 {
        let name = format!("after-{limit}");
        STUCK.store(false, Ordering::SeqCst);
        LIMIT.store(limit, Ordering::SeqCst);
        let first = running::start::<Steps>(&env, flags.clone()).await;
        env.create(book(&name)).await;
        env.eventually("it is where it is to be killed", async || {
            STUCK.load(Ordering::SeqCst).then_some(()).ok_or_else(|| "not yet".to_owned())
        })
        .await;
        let written = || {
            let written = seen::written(&env, &user).into_iter();
            let ours = written.filter(|record| record.name.starts_with(&name));
            ours.map(|record| format!("{}/{} {}", record.resource, record.subresource, record.name))
                .collect::<Vec<_>>()
        };
        let before = running::settled(written).await;
        assert_eq!(before.len(), limit, "{before:?}");
        first.kill();

        LIMIT.store(usize::MAX, Ordering::SeqCst);
        let second = running::start::<Steps>(&env, flags.clone()).await;
        reconciled(&env, &name, "True", "Reconciled").await;
        let after = running::settled(written).await;
        assert_eq!(after.len(), 4, "three children and the status, each once: {after:?}");
        second.stop().await;
        let maps = env.api::<ConfigMap>().list(&ListParams::default()).await.unwrap();
        let ours = maps.iter().filter(|map| map.name_any().starts_with(&name));
        let texts: BTreeMap<_, _> = ours.map(|map| (map.name_any(), map.data.clone())).collect();
        let wanted = (0..3).map(|number| map(&book(&name), number));
        let wanted: BTreeMap<_, _> = wanted.map(|map| (map.name_any(), map.data)).collect();
        assert_eq!(texts, wanted);
    }
}
