//! A kind in two versions with every webhook, for the tests of webhooks: `v1beta1` is stored, `v1alpha1` says
//! the same in other words, and what it cannot say is kept in an annotation.

use kubewright::generate::{Installation, install};
use kubewright::prelude::*;
use kubewright::webhook::{self, Convert, Operation, Request, Validate, Verdict};
use kubewright::{Flags, cluster};
use kubewright_testenv::{Env, Identity};
use serde_json::Value;

use crate::running::{self, Running};

pub const NAME: &str = "pot-operator";

#[derive(KubeSchema, Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PotStatus {
    #[serde(default)]
    pub conditions: Vec<Condition>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filled: Option<i32>,
}

impl Conditions for PotStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

pub mod v1beta1 {
    use kubewright::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::PotStatus;

    #[derive(
        CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize,
    )]
    #[kube(group = "test.kubewright.dev", version = "v1beta1", kind = "Pot", namespaced)]
    #[kube(status = "PotStatus", derive = "PartialEq")]
    #[serde(rename_all = "camelCase")]
    pub struct PotSpec {
        pub litres: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub colour: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        pub handles: Vec<String>,
        /// New in this version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub lid: Option<Lid>,
    }

    #[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
    pub struct Lid {
        pub material: String,
        #[serde(default)]
        pub tight: bool,
    }
}

pub mod v1alpha1 {
    use kubewright::prelude::*;
    use serde::{Deserialize, Serialize};

    use super::PotStatus;

    #[derive(
        CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize,
    )]
    #[kube(group = "test.kubewright.dev", version = "v1alpha1", kind = "Pot", namespaced)]
    #[kube(status = "PotStatus", derive = "PartialEq")]
    pub struct PotSpec {
        pub millilitres: i32,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub color: Option<String>,
        /// Separated by commas.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        pub handles: String,
    }
}

/// What the older version cannot say.
const LID: &str = "test.kubewright.dev/lid";

impl Convert for v1alpha1::Pot {
    type Hub = v1beta1::Pot;

    fn to_hub(mut self) -> v1beta1::Pot {
        let kept = self.metadata.annotations.as_mut().and_then(|all| all.remove(LID));
        let v1alpha1::PotSpec { millilitres, color, handles } = self.spec;
        let handles = handles.split(',').filter(|one| !one.is_empty()).map(str::to_owned);
        let spec = v1beta1::PotSpec {
            litres: millilitres / 1000,
            colour: color,
            handles: handles.collect(),
            lid: kept.and_then(|text| serde_json::from_str(&text).ok()),
        };
        v1beta1::Pot { metadata: self.metadata, spec, status: self.status }
    }

    fn from_hub(mut hub: v1beta1::Pot) -> Self {
        let v1beta1::PotSpec { litres, colour, handles, lid } = hub.spec;
        if let Some(text) = lid.and_then(|lid| serde_json::to_string(&lid).ok()) {
            hub.metadata.annotations.get_or_insert_default().insert(LID.to_owned(), text);
        }
        let spec = v1alpha1::PotSpec {
            millilitres: litres * 1000,
            color: colour,
            handles: handles.join(","),
        };
        Self { metadata: hub.metadata, spec, status: hub.status }
    }
}

impl Validate for v1beta1::Pot {
    const OPERATIONS: &'static [Operation] =
        &[Operation::Create, Operation::Update, Operation::Delete];

    fn validate(&self, request: &Request<Self>, verdict: &mut Verdict) {
        if request.operation == Operation::Delete {
            if self.spec.colour.as_deref() == Some("gold") {
                verdict.refuse("spec.colour", "nobody throws gold away");
            }
            return;
        }
        match self.spec.colour.as_deref() {
            Some("panic") => panic!("asked to"),
            Some("slow") => std::thread::sleep(std::time::Duration::from_secs(30)),
            Some("mauve") => verdict.warn("mauve is out of fashion"),
            _ => {}
        }
        if self.spec.litres < 1 {
            verdict.refuse("spec.litres", format!("{} is too little", self.spec.litres));
        }
        if self.spec.handles.len() > 2 {
            verdict.refuse("spec.handles", "nobody has more than two hands");
        }
        let before = request.old_object.as_ref().map(|old| old.spec.litres);
        if before.is_some_and(|before| before > self.spec.litres) {
            verdict.refuse("spec.litres", "a pot does not shrink");
        }
    }
}

impl webhook::Default for v1beta1::Pot {
    fn set_defaults(&mut self, request: &Request<Self>) {
        if self.spec.colour.is_none() {
            let colour = if request.dry_run { "dry" } else { "black" };
            self.spec.colour = Some(colour.to_owned());
        }
        if self.spec.litres >= 5 && self.spec.handles.is_empty() {
            self.spec.handles = vec!["left".to_owned(), "right".to_owned()];
        }
    }
}

pub struct Pots;

impl Controller for Pots {
    type Kind = v1beta1::Pot;
    type Error = Error;

    fn wire(wiring: &mut Wiring<v1beta1::Pot>) -> Self {
        wiring.validates();
        wiring.defaults();
        wiring.converts::<v1alpha1::Pot>();
        Self
    }

    async fn reconcile(
        &self,
        pot: &v1beta1::Pot,
        pass: &Pass<v1beta1::Pot>,
    ) -> Result<Outcome, Error> {
        pass.status(PotStatus { filled: Some(pot.spec.litres), ..PotStatus::default() });
        Ok(Outcome::Done)
    }
}

pub fn operator() -> Operator {
    Operator::new(NAME).controller::<Pots>()
}

pub fn pot(name: &str, litres: i32) -> v1beta1::Pot {
    v1beta1::Pot::new(name, v1beta1::PotSpec { litres, ..v1beta1::PotSpec::default() })
}

/// What is installed for an operator that serves at `port` of this machine.
pub fn documents(port: u16) -> Vec<Value> {
    operator().beside(&format!("127.0.0.1:{port}")).unwrap()
}

/// The flags of an operator with webhooks at `port`.
pub fn flags(env: &Env, port: u16) -> Flags {
    let mut flags = running::flags(env);
    flags.webhook_bind_address = format!("127.0.0.1:{port}");
    flags
}

/// Installs everything and runs the operator until its webhooks are ready.
pub async fn start(env: &Env, port: u16) -> Running {
    start_with(env, port, flags(env, port)).await
}

/// The same with other flags.
pub async fn start_with(env: &Env, port: u16, mut flags: Flags) -> Running {
    cluster::apply(&env.client(), "test", &documents(port), &mut |_| {}).await.unwrap();
    let health = crate::seen::free_port();
    flags.health_probe_bind_address = format!("127.0.0.1:{health}");
    let operator = running::start_as(env, operator(), flags, "pots").await;
    crate::seen::answers(env, health, "/readyz/webhook", 200).await;
    operator
}

/// Installs everything and runs the operator in the test's namespace, as its account, with its roles and nothing
/// else; says how the audit log calls that.
pub async fn start_under_its_roles(env: &Env, port: u16) -> (Running, String) {
    let home = env.namespace();
    let installation =
        Installation { namespace: home.to_owned(), ..operator().installation().unwrap() };
    let mut all = documents(port);
    all.extend(install::access(&installation));
    cluster::apply(&env.client(), "test", &all, &mut |_| {}).await.unwrap();
    let name = format!("{NAME}-controller-manager");
    let identity = Identity::ServiceAccount { namespace: home, name: &name };
    let kubeconfig = env.environment().kubeconfig_as(identity).await.unwrap();
    let mut config = running::config(&kubeconfig).await;
    home.clone_into(&mut config.default_namespace); // as in a pod
    let mut flags = flags(env, port);
    let health = crate::seen::free_port();
    flags.health_probe_bind_address = format!("127.0.0.1:{health}");
    let account = format!("system:serviceaccount:{home}:{name}");
    // Roles are read from a cache of the API server.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    let operator = running::run(operator(), config, flags, account.clone());
    crate::seen::answers(env, health, "/readyz/webhook", 200).await;
    (operator, account)
}
