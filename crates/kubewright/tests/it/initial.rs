//! A new object says of itself that nobody has looked at it yet, at no cost.

use kubewright::RECONCILED;
use kubewright::conditions::{self, Status, find};
use kubewright::kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::running::{self, settled};

/// Nothing is in it.
#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Serialize, Deserialize)]
#[kube(group = "initial.kubewright.dev", version = "v1", kind = "Seed", namespaced)]
#[kube(status = "SeedStatus")]
struct SeedSpec {}

#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct SeedStatus {
    leaves: Option<i32>,
    #[serde(default)]
    roots: i32,
    #[serde(default)]
    conditions: Vec<Condition>,
}

impl Conditions for SeedStatus {
    const INITIAL: &'static [&'static str] = &["Available", "Degraded"];

    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

/// Says that a seed is available, and nothing of whether it is degraded.
struct Seeds;

impl Controller for Seeds {
    type Kind = Seed;
    type Error = Error;

    fn wire(_: &mut Wiring<Seed>) -> Self {
        Self
    }

    async fn reconcile(&self, _: &Seed, pass: &Pass<Seed>) -> Result<Outcome, Error> {
        let available = conditions::new("Available", Status::True, "Grown", "it has grown");
        pass.status(SeedStatus { conditions: vec![available], ..SeedStatus::default() });
        Ok(Outcome::Done)
    }
}

async fn created(env: &Env, name: &str) -> Value {
    // Whatever a client says of a status when it creates an object does not count.
    let mut seed = Seed::new(name, SeedSpec {});
    seed.status = Some(SeedStatus { leaves: Some(7), ..SeedStatus::default() });
    json!(env.api().create(&PostParams::default(), &seed).await.unwrap())
}

/// Type, status and reason of each condition.
fn told(seed: &Value) -> Vec<[&str; 3]> {
    let conditions = seed["status"]["conditions"].as_array().unwrap();
    let fields = ["type", "status", "reason"];
    conditions.iter().map(|one| fields.map(|field| one[field].as_str().unwrap())).collect()
}

#[kubewright_testenv::test]
async fn without_an_operator_a_new_object_has_its_conditions_as_unknown(env: Env) {
    env.install(&Operator::new("seed-operator").controller::<Seeds>().definitions()).await;
    let seed = created(&env, "a").await;
    let expected = [["Available", "Unknown", "Pending"], ["Degraded", "Unknown", "Pending"]];
    assert_eq!(told(&seed), expected);
    assert_eq!(seed["status"]["leaves"], Value::Null, "the status is not the client's");
    let kept = json!(env.api::<Seed>().get("a").await.unwrap());
    assert_eq!(kept["status"], seed["status"]);
}

#[kubewright_testenv::test]
async fn the_operator_replaces_what_it_knows_in_its_only_write(env: Env) {
    let operator = running::start::<Seeds>(&env, running::flags(&env)).await;
    created(&env, "a").await;
    let seed = env
        .eventually("the seed is reconciled", async || {
            let seed = env.api::<Seed>().get("a").await.map_err(|error| error.to_string())?;
            let conditions = seed.status.clone().unwrap_or_default().conditions;
            match find(&conditions, RECONCILED) {
                Some(_) => Ok(json!(seed)),
                None => Err(format!("{conditions:?}")),
            }
        })
        .await;
    let expected = [
        ["Available", "True", "Grown"],
        ["Degraded", "Unknown", "Pending"],
        [RECONCILED, "True", "Reconciled"],
    ];
    assert_eq!(told(&seed), expected);
    assert_ne!(seed["status"]["conditions"][0]["lastTransitionTime"], "1970-01-01T00:00:00Z");
    settled(|| operator.writes(&env).len()).await;
    assert_eq!(operator.writes(&env), ["patch seeds/status a 200"]);
}
