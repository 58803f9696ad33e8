//! The operator on real pods, in the cluster, under the roles that it ships with.

mod autoscaling;
mod rollout;
mod serving;
mod tutorial;
