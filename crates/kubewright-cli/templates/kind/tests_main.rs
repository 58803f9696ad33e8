//! The operator on a real API server, which starts in seconds.

mod {{module}};

use kubewright::Flags;
use kubewright_testenv::Env;
use {{crate}}::operator;

/// Runs the operator beside a test, for the test's namespace.
async fn start(env: &Env) {
    env.install(&operator().definitions()).await;
    let flags = Flags::for_test(env.namespace());
    env.spawn(operator().run(env.config().await, flags, std::future::pending()));
}
