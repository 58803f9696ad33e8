//! The last part of a start with nodes: they join the control plane, and cluster DNS comes up on them.

use std::time::Duration;

use kube::Client;
use serde_json::Value;

use crate::binaries::COREDNS_VERSION;
use crate::dns;
use crate::environment::Environment;
use crate::error::Error;
use crate::images::coredns_image;
use crate::node::Node;

/// A machine under load takes its time; nothing that works takes this long.
const NODE_LIMIT: Duration = Duration::from_mins(4);

impl Environment {
    pub(super) async fn join_nodes(&self) -> Result<(), Error> {
        let proxy = self.control_plane.identity(&self.workspace, "system:kube-proxy", None)?;
        for node in &self.nodes {
            let user = format!("system:node:{}", node.name());
            node.join(
                &self.control_plane.identity(&self.workspace, &user, Some("system:nodes"))?,
                &proxy,
            )?;
        }
        if let Some(network) = &self.network {
            let image = coredns_image(COREDNS_VERSION);
            for (path, object) in dns::objects(network.addresses.dns(), &image) {
                post(&self.control_plane.client, path, &object).await?;
            }
        }
        tokio::select! {
            ready = self.until_nodes_ready() => ready,
            ended = self.watch_nodes() => ended,
        }
    }

    async fn until_nodes_ready(&self) -> Result<(), Error> {
        self.control_plane.until_controllers_ready().await?;
        for node in &self.nodes {
            self.until_node(node.name(), true, NODE_LIMIT).await?;
        }
        self.until_deployed("kube-system", "coredns", NODE_LIMIT).await
    }

    /// Returns when a process of a node has ended: nobody has to wait for a node that cannot come.
    async fn watch_nodes(&self) -> Result<(), Error> {
        loop {
            self.nodes.iter().try_for_each(Node::check)?;
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}

async fn post(client: &Client, path: &str, object: &Value) -> Result<(), Error> {
    let request = http::Request::post(path)
        .header("content-type", "application/json")
        .body(object.to_string().into_bytes())
        .map_err(|error| Error::api(format!("post to {path}"))(kube::Error::HttpError(error)))?;
    let answer: Result<Value, _> = client.request(request).await;
    answer.map(drop).map_err(Error::api(format!("create {} for cluster DNS", object["kind"])))
}
