//! A kind in two versions, and its webhooks served in the test with a certificate that the test can rotate.

use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{Client, CustomResource, CustomResourceExt as _, KubeSchema};
use kubewright_testenv::Env;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::watch;

use super::super::{
    Convert, Current, Hook, Keeper, Phase, Request, Routes, Spoke, Standing, Timing, Trust,
    Validate, Verdict, serve,
};
use crate::clock::Clock;
use crate::cluster;
use crate::conditions::Conditions;
use crate::generate::crd::tidy;
use crate::generate::files::tests::installation;
use crate::generate::webhook::{at_address, called, hosts, objects, secret_name};
use crate::generate::{Installation, own_namespace};
use crate::metrics::Metrics;
use crate::webhook;

pub(super) const NAME: &str = "a-operator"; // that of the fixture

#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in super::super) struct JugStatus {
    #[serde(default)]
    conditions: Vec<Condition>,
}

impl Conditions for JugStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Serialize, Deserialize)]
#[kube(group = "test.kubewright.dev", version = "v1", kind = "Jug", namespaced)]
#[kube(status = "JugStatus")]
pub(in super::super) struct JugSpec {
    pub(super) litres: i32,
}

#[derive(CustomResource, KubeSchema, Clone, Debug, Default, Serialize, Deserialize)]
#[kube(group = "test.kubewright.dev", version = "v1alpha1", kind = "Jug", root = "OldJug")]
#[kube(namespaced, status = "JugStatus")]
pub(in super::super) struct OldJugSpec {
    pub(super) millilitres: i32,
}

impl Validate for Jug {
    fn validate(&self, _: &Request<Self>, verdict: &mut Verdict) {
        if self.spec.litres < 1 {
            verdict.refuse("spec.litres", "too little");
        }
    }
}

impl webhook::Default for Jug {
    fn set_defaults(&mut self, _: &Request<Self>) {
        self.spec.litres += 1;
    }
}

impl Convert for OldJug {
    type Hub = Jug;

    fn to_hub(self) -> Jug {
        let spec = JugSpec { litres: self.spec.millilitres / 1000 };
        Jug { metadata: self.metadata, spec, status: self.status }
    }

    fn from_hub(hub: Jug) -> Self {
        let spec = OldJugSpec { millilitres: hub.spec.litres * 1000 };
        Self { metadata: hub.metadata, spec, status: hub.status }
    }
}

pub(super) fn jug(name: &str) -> Jug {
    Jug::new(name, JugSpec { litres: 2 })
}

/// A server of the kind's webhooks.
pub(super) struct Served {
    pub(super) port: u16,
    pub(super) current: Arc<Current>,
    pub(super) metrics: Metrics,
    pub(super) phase: watch::Sender<Phase>,
    pub(super) installation: Installation,
}

pub(super) fn hooks() -> Vec<Hook> {
    vec![Hook::validating::<Jug>(), Hook::converting(vec![Spoke::of::<OldJug>()])]
}

/// Serves until the test ends.
pub(super) async fn served() -> Served {
    served_with(hooks()).await
}

pub(super) async fn served_with(hooks: Vec<Hook>) -> Served {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let (current, metrics) = (Arc::new(Current::default()), Metrics::with_webhooks());
    let routes = Arc::new(Routes::new(hooks.clone(), &metrics.webhooks().unwrap()));
    let (phase, seen) = watch::channel(Phase::Open);
    tokio::spawn(serve(listener, current.clone(), routes, seen));
    let mut definition = tidy(Jug::crd());
    let mut older = OldJug::crd().spec.versions.remove(0);
    older.storage = false;
    definition.spec.versions.push(older);
    let webhooks = hooks.into_iter().map(|hook| hook.about).collect();
    let definitions = vec![definition];
    let mut installation = Installation { definitions, webhooks, ..installation() };
    installation.namespace = own_namespace(NAME);
    installation.converts_at_home();
    Served { port, current, metrics, phase, installation }
}

impl Served {
    /// What calls the server, with `authority` trusted if there is one.
    pub(super) async fn install(&self, env: &Env, authority: Option<&str>) {
        let installation = &self.installation;
        let mut documents = vec![json!(installation.definitions[0])];
        documents.extend(objects(installation).into_iter().filter(|one| one["kind"] != "Service"));
        let mut documents = at_address(documents, &format!("127.0.0.1:{}", self.port));
        if let Some(authority) = authority {
            let bundle = json!(k8s_openapi::ByteString(authority.as_bytes().to_vec()));
            documents[0]["spec"]["conversion"]["webhook"]["clientConfig"]["caBundle"] =
                bundle.clone();
            documents[1]["webhooks"][0]["clientConfig"]["caBundle"] = bundle;
        }
        cluster::apply(&env.client(), "test", &documents, &mut |_| {}).await.unwrap();
    }

    /// Keeps its certificate in the test's namespace until the test ends.
    pub(super) fn keep(&self, env: &Env, overlap: Duration) -> Standing {
        self.keep_by(env, env.client(), overlap)
    }

    /// The same by another client. Watches are not its business.
    pub(super) fn keep_by(&self, env: &Env, client: Client, overlap: Duration) -> Standing {
        let standing = Standing::new();
        let keeper = Keeper {
            client: client.clone(),
            operator: NAME.to_owned(),
            namespace: env.namespace().to_owned(),
            secret: secret_name(NAME),
            hosts: hosts(NAME, env.namespace()),
            trust: Trust::new(
                client,
                NAME,
                env.namespace(),
                called(NAME, &self.installation.webhooks),
            ),
            current: self.current.clone(),
            standing: standing.clone(),
            clock: Clock::system(),
            timing: Timing { overlap, ..Timing::default() },
            metrics: self.metrics.webhooks().unwrap(),
            memory: None,
        };
        tokio::spawn(keeper.run(env.client()));
        standing
    }
}

pub(super) async fn ready(env: &Env, standing: &Standing) {
    env.eventually("the webhooks can be called", async || standing.get()).await;
}

/// The body of a call about creating a jug.
pub(super) fn review(kind: &str, object: &Value) -> Value {
    let of = json!({"group": "test.kubewright.dev", "version": "v1", "kind": kind});
    let resource = json!({"group": "test.kubewright.dev", "version": "v1", "resource": "jugs"});
    json!({
        "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
        "request": {
            "uid": "1", "kind": of, "resource": resource, "operation": "CREATE", "name": "a",
            "userInfo": {"username": "somebody"}, "object": object, "oldObject": null,
        },
    })
}
