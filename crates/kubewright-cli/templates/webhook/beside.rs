//! The operator beside an API server of the test's own, which calls its webhooks.

use kubewright::kube::Resource;
use kubewright::{Flags, cluster};
use kubewright_testenv::Env;
use serde::de::DeserializeOwned;
use {{crate}}::operator;

/// Installs everything and runs the operator. Its webhooks can be called a moment later.
pub async fn start(env: &Env) {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let address = free.to_string();
    let documents = operator().beside(&address).unwrap();
    cluster::apply(&env.client(), "test", &documents, &mut |_| {}).await.unwrap();
    let mut flags = Flags::for_test(env.namespace());
    flags.webhook_bind_address = address;
    env.spawn(operator().run(env.config().await, flags, std::future::pending()));
}

/// The first object of a sample.
pub fn sample<K: Resource + DeserializeOwned>(text: &str) -> K {
    let document = cluster::documents(text).unwrap().remove(0);
    serde_json::from_value(document).unwrap()
}
