//! `make dev`'s last step: applies a sample on the cluster of the current kubeconfig, waits until it is
//! what it says, and shows it as a person wants to see it, down to a `set` and a `get` on each server.
//!
//! Owns the order and the waiting. Changes nothing but the sample.

mod picture;
mod servers;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use kube::{Api, Client, ResourceExt as _};
use kubewright::cluster;
use memcached_api::v1alpha1::Memcached;

use picture::Picture;

/// A node that has to get the image first takes its time.
const LIMIT: Duration = Duration::from_mins(3);
const LOOK: Duration = Duration::from_millis(200);
/// Who applies the sample.
const MANAGER: &str = "make-dev";

#[tokio::main]
async fn main() -> ExitCode {
    let Err(error) = run().await else {
        return ExitCode::SUCCESS;
    };
    let _ = writeln!(std::io::stderr(), "error: {error:#}");
    ExitCode::FAILURE
}

async fn run() -> anyhow::Result<()> {
    let path = std::env::args_os().nth(1).map(PathBuf::from);
    let path = path.context("usage: tour SAMPLE.yaml")?;
    let text = std::fs::read_to_string(&path);
    let text = text.with_context(|| format!("cannot read {}", path.display()))?;
    let documents = cluster::documents(&text)?;
    let name = documents.first().and_then(|sample| sample["metadata"]["name"].as_str());
    let name = name.with_context(|| format!("{} names no object", path.display()))?;
    let client = Client::try_default().await.context("there is no cluster: set KUBECONFIG")?;
    let mut print = |step: cluster::Step| say(&step.to_string());
    cluster::apply(&client, MANAGER, &documents, &mut print).await?;
    let cache = ready(&client, name).await?;
    let picture = seen(&client, cache).await?;
    say(&picture.to_string());
    say(&picture::next_steps(name));
    Ok(())
}

/// The cache, once all of its instances serve.
async fn ready(client: &Client, name: &str) -> anyhow::Result<Memcached> {
    let api: Api<Memcached> = Api::default_namespaced(client.clone());
    let begun = Instant::now();
    loop {
        let cache = api.get(name).await.with_context(|| format!("cannot look at {name}"))?;
        if is_ready(&cache) {
            return Ok(cache);
        }
        if begun.elapsed() > LIMIT {
            let status = cache.status.unwrap_or_default();
            let conditions = status.conditions.iter().map(|condition| {
                format!(
                    "\n  {}={} {}: {}",
                    condition.type_, condition.status, condition.reason, condition.message
                )
            });
            let conditions: String = conditions.collect();
            anyhow::bail!("memcached/{name} is not ready after {} s:{conditions}", LIMIT.as_secs());
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// True if the status is about this spec, and as many servers as it wants are ready.
fn is_ready(cache: &Memcached) -> bool {
    let Some(status) = &cache.status else { return false };
    let servers = status.server_list.iter().flatten().count();
    status.observed_generation == cache.metadata.generation
        && Some(servers) == usize::try_from(cache.spec.size).ok()
        && status.replicas == status.ready_replicas
}

/// All that is to be shown of a cache.
async fn seen(client: &Client, cache: Memcached) -> anyhow::Result<Picture> {
    let namespace = cache.namespace().unwrap_or_default();
    let deployments: Api<Deployment> = Api::namespaced(client.clone(), &namespace);
    let deployment = deployments.get(&cache.name_any()).await;
    let deployment = deployment.context("cannot look at the Deployment")?;
    let selector = cache.status.as_ref().and_then(|status| status.selector.clone());
    let api: Api<Pod> = Api::namespaced(client.clone(), &namespace);
    let selected = ListParams::default().labels(&selector.unwrap_or_default());
    let mut pods = api.list(&selected).await.context("cannot look at the pods")?.items;
    pods.retain(|pod| pod.metadata.deletion_timestamp.is_none());
    let mut answers = Vec::new();
    for pod in &pods {
        answers.push(servers::ask(&api, &pod.name_any(), cache.spec.container_port).await?);
    }
    Ok(Picture { cache, deployment, pods, answers })
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}"); // who closed the pipe does not want to know
}
