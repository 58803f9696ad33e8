//~ `Books` is not a controller
//~ `impl Controller for Books` with `type Kind`, `type Error`, `fn wire` and `async fn reconcile`
use kubewright::prelude::*;

struct Books;

fn main() {
    let _ = Operator::new("book-operator").controller::<Books>();
}
