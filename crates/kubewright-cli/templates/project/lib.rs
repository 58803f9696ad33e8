//! The operator: its kinds, each with the controller that looks after it.

use kubewright::Operator;

/// The operator, ready to run, or to print what installing it takes.
pub fn operator() -> Operator {
    Operator::new(env!("CARGO_PKG_NAME"))
        .version(env!("CARGO_PKG_VERSION"))
        .project(include_str!("../kubewright.toml"))
}
