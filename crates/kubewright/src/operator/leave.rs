//! The verb `leave`: the operator goes for good while it still has its roles.
//!
//! Whoever deletes an operator and its roles in one breath, as Helm does, leaves its finalizers on all objects,
//! and nobody to take them off. Run before that, with the operator's own account and the right to delete
//! its Deployment.

use std::io::Write as _;

use serde_json::json;

use super::Operator;
use super::installation::{Cluster, print};
use crate::cluster;
use crate::flags::Flags;

impl Operator {
    pub(super) fn leave(&self, flags: &Flags) -> Result<(), String> {
        let Some(deployment) = &flags.own_deployment else {
            return Err("say which Deployment is the operator's: --own-deployment NAME".to_owned());
        };
        let definitions = self.definitions();
        let cluster = Cluster { kubeconfig: flags.kubeconfig.clone() };
        cluster.connected(&self.name, async |client| {
            let metadata = json!({"name": deployment, "namespace": client.default_namespace()});
            let document =
                json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata});
            // Gone with its pods: a running operator takes its finalizers along.
            cluster::delete(&client, &[document], &mut print).await?;
            // One that did not run, or not in time, could not.
            let removed =
                cluster::release(&client, &self.name, &definitions, &flags.namespaces).await?;
            if removed > 0 {
                let _ = writeln!(
                    std::io::stdout(),
                    "took the finalizer off; objects that had it: {removed}"
                );
            }
            Ok(())
        })
    }
}
