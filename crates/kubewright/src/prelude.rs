//! Everything that an operator's author needs every day: `use kubewright::prelude::*`.

pub use std::process::ExitCode;

pub use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
pub use kube::{CustomResource, KubeSchema, Resource, ResourceExt};

pub use crate::{
    Conditions, Controller, Error, Failure, Managed, Operator, Optional, Outcome, Owned, Pass,
    Reads, Retry, Wiring,
};
