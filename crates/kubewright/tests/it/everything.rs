//! A controller with every type of handle, and its operator run with exactly the permissions that follow.

use std::time::Duration;

use kubewright::Flags;
use kubewright::cluster;
use kubewright::generate::rbac::{Scope, roles, service_account};
use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::authorization::v1::SubjectAccessReview;
use kubewright::k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kubewright::k8s_openapi::api::networking::v1::IngressClass;
use kubewright::kube::Api;
use kubewright::kube::api::PostParams;
use kubewright::prelude::*;
use kubewright_testenv::{Env, Identity};
use serde_json::json;

use crate::books::{Book, BookStatus, deployment, map};
use crate::gadgets::{Gadget, gadget};
use crate::running::{self, Running};

pub const NAME: &str = "all-operator";

pub struct Everything {
    maps: Owned<ConfigMap>,
    deployments: Owned<Deployment>,
    classes: Managed<IngressClass>,
    pods: Reads<Pod>,
    gadgets: Optional<Owned<Gadget>>,
}

impl Controller for Everything {
    type Kind = Book;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self {
            maps: wiring.owns(),
            deployments: wiring.keeps(),
            classes: wiring.manages(),
            pods: wiring.reads_labelled("book"),
            gadgets: wiring.optional(Wiring::owns),
        }
    }

    /// A book without pages has no children but the Deployment that it had, which is kept.
    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, Error> {
        pass.event("Read", "the book was read");
        let pods = self.pods.of(pass)?.len();
        if book.spec.pages > 0 {
            // All of them are tried, whatever becomes of the first.
            let (maps, deployments, classes) = tokio::join!(
                self.maps.apply(pass, map(book, 0)),
                self.deployments.apply(pass, deployment(book)),
                self.classes.apply(pass, class(book)),
            );
            if let Some(gadgets) = self.gadgets.served() {
                gadgets.apply(pass, gadget(book)).await?;
            }
            maps.and(deployments.map(drop)).and(classes.map(drop))?;
        }
        pass.status(BookStatus { pages: i32::try_from(pods).ok(), ..BookStatus::default() });
        Ok(Outcome::Done)
    }

    async fn finalize(&self, _: &Book, _: &Pass<Book>) -> Result<Outcome, Error> {
        Ok(Outcome::Done)
    }
}

/// Cluster-wide names need the namespace.
pub fn class_name(book: &Book) -> String {
    format!("{}-{}", book.namespace().unwrap_or_default(), book.name_any())
}

pub fn class(book: &Book) -> IngressClass {
    let manifest = json!({
        "metadata": {"name": class_name(book), "annotations": {"text": book.spec.text}},
        "spec": {"controller": "kubewright.dev/test"},
    });
    serde_json::from_value(manifest).unwrap()
}

pub fn operator() -> Operator {
    Operator::new(NAME).controller::<Everything>()
}

/// How the audit log names the operator's account.
pub fn account(env: &Env) -> String {
    account_in(env.namespace())
}

fn account_in(home: &str) -> String {
    format!("system:serviceaccount:{home}:{NAME}-controller-manager")
}

/// Runs it as an account that is bound to its own roles and to nothing else.
pub async fn start(env: &Env, scope: &Scope) -> Running {
    start_in(env, scope, env.namespace()).await
}

/// As [`start`], at home in another namespace than the test's.
pub async fn start_in(env: &Env, scope: &Scope, home: &str) -> Running {
    env.install(&operator().definitions()).await;
    let mut documents = vec![serde_json::to_value(service_account(NAME, home)).unwrap()];
    let roles = roles(&operator().access(), NAME, home, scope);
    documents.extend(roles.iter().map(|role| serde_json::to_value(role).unwrap()));
    let mut tell = |_| {};
    cluster::apply(&env.client(), "test", &documents, &mut tell).await.unwrap();
    until_granted(env, home).await;
    let name = format!("{NAME}-controller-manager");
    let identity = Identity::ServiceAccount { namespace: home, name: &name };
    let kubeconfig = env.environment().kubeconfig_as(identity).await.unwrap();
    let mut config = running::config(&kubeconfig).await;
    home.clone_into(&mut config.default_namespace); // as in a pod
    let mut flags = Flags::default();
    "0".clone_into(&mut flags.health_probe_bind_address);
    flags.reconcile_timeout = Duration::from_secs(10);
    flags.leader_elect = true;
    flags.own_deployment = Some(name);
    if let Scope::Namespaces(namespaces) = scope {
        flags.namespaces = namespaces.iter().cloned().collect();
    }
    running::run(operator(), config, flags, account_in(home))
}

/// Roles are read from a cache of the API server; asking as the account itself would be on its record.
async fn until_granted(env: &Env, home: &str) {
    let reviews: Api<SubjectAccessReview> = Api::all(env.client());
    let needed = [
        ("test.kubewright.dev", "books", "watch", env.namespace()),
        ("apiextensions.k8s.io", "customresourcedefinitions", "watch", ""),
        ("coordination.k8s.io", "leases", "create", home),
    ];
    env.eventually("the roles count", async || {
        for (group, resource, verb, namespace) in needed {
            let attributes =
                json!({"group": group, "resource": resource, "verb": verb, "namespace": namespace});
            let spec = json!({"user": account_in(home), "resourceAttributes": attributes});
            let review = serde_json::from_value(json!({"spec": spec})).unwrap();
            let answer = reviews.create(&PostParams::default(), &review).await;
            let status = answer.map_err(|error| error.to_string())?.status;
            if !status.is_some_and(|status| status.allowed) {
                return Err(format!("may not {verb} {resource}"));
            }
        }
        Ok(())
    })
    .await;
}
