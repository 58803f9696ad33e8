//~ `MyError` does not say how a failed pass is retried
//~ `impl Failure for MyError {}` retries with back-off
use kubewright::prelude::*;

struct MyError;

fn fails<E: Failure>() {}

fn main() {
    fails::<MyError>();
}
