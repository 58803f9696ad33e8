//! Two controllers in one process share caches and nothing else; several namespaces are several watches.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use kubewright::k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kubewright::kube::Api;
use kubewright::kube::api::{DeleteParams, ListParams, ObjectMeta, PostParams};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde::{Deserialize, Serialize};

use crate::books::{Book, BookStatus, Books, book, map};
use crate::running::{self, Running};
use crate::seen;
use crate::world::reconciled;

#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(
    group = "test.kubewright.dev",
    version = "v1",
    kind = "Shelf",
    plural = "shelves",
    namespaced
)]
#[kube(status = "BookStatus")]
pub struct ShelfSpec {
    #[serde(default)]
    pub boards: i32,
    #[serde(default)]
    pub hangs: bool,
}

struct Shelves(Owned<ConfigMap>);

impl Controller for Shelves {
    type Kind = Shelf;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Shelf>) -> Self {
        Self(wiring.owns())
    }

    async fn reconcile(&self, shelf: &Shelf, pass: &Pass<Shelf>) -> Result<Outcome, Error> {
        if shelf.spec.hangs {
            std::future::pending::<()>().await;
        }
        for number in 0..shelf.spec.boards {
            self.0.apply(pass, map(&book(&shelf.name_any()), number)).await?;
        }
        Ok(Outcome::Done)
    }
}

fn shelf(name: &str, boards: i32, hangs: bool) -> Shelf {
    Shelf::new(name, ShelfSpec { boards, hangs })
}

async fn both(env: &Env) -> Running {
    let mut flags = running::flags(env);
    flags.reconcile_timeout = Duration::from_mins(2);
    let operator = Operator::new("library").controller::<Books>().controller::<Shelves>();
    env.install(&operator.definitions()).await;
    running::start_as(env, operator, flags, "operator").await
}

/// The `ConfigMap`s of the test, and which they are.
async fn maps(env: &Env) -> BTreeMap<String, Option<String>> {
    let maps = env.api::<ConfigMap>().list(&ListParams::default()).await.unwrap();
    let ours = maps.iter().filter(|map| map.name_any() != "kube-root-ca.crt");
    ours.map(|map| (map.name_any(), map.uid())).collect()
}

#[kubewright_testenv::test]
async fn two_controllers_share_one_cache_per_kind_and_prune_their_own_only(env: Env) {
    let operator = both(&env).await;
    let mut wide = env.create(shelf("wide", 3, false)).await;
    let mut thick = book("thick");
    thick.spec.appendices = 2;
    env.create(thick).await;
    reconciled(&env, "thick", "True", "Reconciled").await;
    let all = env.eventually("all maps are there", async || {
        let maps = maps(&env).await;
        if maps.len() == 6 { Ok(maps) } else { Err(format!("{maps:?}")) }
    });
    let all = all.await;
    let user = seen::user(&env, "operator");
    let kinds = ["books", "configmaps", "deployments", "shelves"];
    let one_each: BTreeMap<String, usize> = kinds.map(|kind| (kind.to_owned(), 1)).into();
    assert_eq!(seen::lists(&env, &user), one_each);
    assert_eq!(seen::watches(&env, &user), one_each);

    wide = env.api::<Shelf>().get(&wide.name_any()).await.unwrap();
    wide.spec.boards = 1;
    env.api::<Shelf>().replace("wide", &PostParams::default(), &wide).await.unwrap();
    seen::edit(&env, "thick", |book| book.spec.appendices = 1).await;
    let mut wanted = all;
    for pruned in ["wide-1", "wide-2", "thick-2"] {
        wanted.remove(pruned).unwrap();
    }
    env.eventually("what is left over is removed", async || {
        let maps = maps(&env).await;
        if maps.len() == wanted.len() { Ok(()) } else { Err(format!("{maps:?}")) }
    })
    .await;
    let deleted = || seen::written(&env, &user).iter().filter(|it| it.verb == "delete").count();
    assert_eq!(running::settled(deleted).await, 3);
    assert_eq!(maps(&env).await, wanted);
    operator.stop().await;
}

#[kubewright_testenv::test]
async fn passes_of_one_kind_that_hang_do_not_delay_another_kind(env: Env) {
    let operator = both(&env).await;
    let converged = async |prefix: &str| {
        let begun = Instant::now();
        for number in 0..10 {
            env.create(book(&format!("{prefix}-{number}"))).await;
        }
        for number in 0..10 {
            reconciled(&env, &format!("{prefix}-{number}"), "True", "Reconciled").await;
        }
        begun.elapsed()
    };
    let before = converged("before").await;
    for number in 0..12 {
        env.create(shelf(&format!("shelf-{number}"), 1, true)).await;
    }
    let after = converged("after").await;
    assert!(after <= before * 2 + Duration::from_millis(500), "{before:?}, then {after:?}");
    eprintln!("ten books in {before:?}, beside hanging shelves in {after:?}");
    operator.kill();
}

#[kubewright_testenv::test]
async fn each_namespace_has_its_own_watch_and_others_are_left_alone(env: Env) {
    env.install(&Operator::new("library").controller::<Books>().definitions()).await;
    let (here, there, elsewhere) = (
        env.namespace().to_owned(),
        format!("{}-b", env.namespace()),
        format!("{}-c", env.namespace()),
    );
    let namespaces: Api<Namespace> = Api::all(env.client());
    for name in [&there, &elsewhere] {
        let metadata = ObjectMeta { name: Some(name.clone()), ..ObjectMeta::default() };
        let namespace = Namespace { metadata, ..Namespace::default() };
        namespaces.create(&PostParams::default(), &namespace).await.unwrap();
    }
    let books = |namespace: &str| Api::<Book>::namespaced(env.client(), namespace);
    for namespace in [&here, &there, &elsewhere] {
        books(namespace).create(&PostParams::default(), &book("a")).await.unwrap();
    }
    let mut flags = running::flags(&env);
    flags.namespaces = [here.clone(), there.clone()].into_iter().collect();
    let operator = running::start::<Books>(&env, flags).await;
    for namespace in [&here, &there] {
        let maps: Api<ConfigMap> = Api::namespaced(env.client(), namespace);
        env.eventually(&format!("there is a map in {namespace}"), async || {
            maps.get("a").await.map(drop).map_err(|error| error.to_string())
        })
        .await;
    }
    let user = seen::user(&env, "operator");
    let records = running::settled(|| seen::asked(&env, &user)).await;
    let mut watches = BTreeMap::new();
    for record in &records {
        assert!(record.namespace == here || record.namespace == there, "{record:?}");
        if record.verb == "watch" && !record.is_complete {
            *watches.entry((record.namespace.as_str(), record.resource.as_str())).or_insert(0) += 1;
        }
    }
    assert_eq!(watches.len(), 6, "{watches:?}");
    assert!(watches.values().all(|count| *count == 1), "{watches:?}");
    let untouched = books(&elsewhere).get("a").await.unwrap();
    assert!(untouched.status.is_none());
    operator.stop().await;
    for name in [&there, &elsewhere] {
        namespaces.delete(name, &DeleteParams::background()).await.unwrap();
    }
}
