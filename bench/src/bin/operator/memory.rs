//! What the operator has in memory: alone, with many objects, and with pods. No built-in controllers run,
//! so the pods are made by hand, as large as real ones.

use std::path::Path;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt as _;
use kube::api::{ListParams, Patch, PatchParams, PostParams};
use kubewright_bench::bars::Bars;
use kubewright_bench::process::{Memory, Process};
use kubewright_bench::progress;
use kubewright_testenv::Environment;
use serde_json::{Value, json};

use crate::installed::Installed;
use crate::objects::{AT_ONCE, Objects, is};
use crate::watched::Which;
use crate::{Extent, changes};

/// In MiB.
const IDLE: f64 = 10.0;
const MANY: f64 = 16.0;
const PODS: usize = 3;

pub(crate) async fn measure(
    program: &Path,
    extent: &Extent,
    bars: &mut Bars,
) -> anyhow::Result<()> {
    let count = extent.objects;
    let installed = Installed::start(Environment::builder(), program).await?;
    let objects = installed.objects();
    let mut process = installed.elected(&[])?;
    let memory = settled(&mut process).await?;
    bars.at_most("memory: idle", memory.now, IDLE, "MiB");
    objects.create_many(count).await?;
    objects.until(Which::All, count, |status| is(status, "Reconciled")).await?;
    let memory = settled(&mut process).await?;
    bars.at_most(format!("memory: {count} new objects"), memory.now, MANY, "MiB");
    bars.note(format!("memory: {count} new objects, peak"), format!("{:.2} MiB", memory.peak));
    changes::measure(&installed, extent.changes, bars).await?;
    process.stop().await?;

    let mut process = installed.elected(&[])?;
    let memory = settled(&mut process).await?;
    bars.at_most(format!("memory: {count} objects, started anew"), memory.now, MANY, "MiB");
    bars.note("memory: started anew, peak", format!("{:.2} MiB", memory.peak));
    pods(&objects).await?;
    objects.until(Which::All, count, |status| status.ready_replicas == Some(3)).await?;
    let memory = settled(&mut process).await?;
    bars.note(format!("memory: with {PODS} new pods each"), format!("{:.2} MiB", memory.now));
    process.stop().await?;

    let mut process = installed.elected(&[])?;
    let memory = settled(&mut process).await?;
    bars.note(format!("memory: with {PODS} pods each, anew"), format!("{:.2} MiB", memory.now));
    process.stop().await?;
    installed.stop("memory", bars).await
}

async fn settled(process: &mut Process) -> anyhow::Result<Memory> {
    process.until_ready().await?;
    process.until_quiet().await?;
    process.memory()
}

/// Gives every Deployment its pods.
async fn pods(objects: &Objects) -> anyhow::Result<()> {
    let deployments = objects.deployments().list(&ListParams::default()).await?;
    progress(&format!("{PODS} pods for each of {} Deployments", deployments.items.len()));
    let numbered = deployments.iter().flat_map(|one| (0..PODS).map(move |number| (one, number)));
    let made = stream::iter(numbered.map(|(deployment, number)| pod(objects, deployment, number)));
    made.buffer_unordered(AT_ONCE).try_collect().await
}

async fn pod(objects: &Objects, deployment: &Deployment, number: usize) -> anyhow::Result<()> {
    let set = format!("{}-5d8f7c9b64", deployment.name_any());
    let name = format!("{set}-{number:05x}");
    let template = deployment.spec.as_ref().map(|spec| &spec.template);
    let mut pod: Value = serde_json::to_value(template)?;
    pod["metadata"]["name"] = json!(name);
    pod["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": set, "controller": true,
        "uid": deployment.uid(), "blockOwnerDeletion": true,
    }]);
    let pod: Pod = serde_json::from_value(pod)?;
    let api = objects.pods();
    api.create(&PostParams::default(), &pod).await?;
    let address = format!("10.{}.{}.{}", fastrand::u8(..), fastrand::u8(..), 1 + number);
    let patch = Patch::Merge(json!({"status": status(&address)}));
    api.patch_status(&name, &PatchParams::default(), &patch).await?;
    Ok(())
}

/// What a kubelet says of a pod that is ready.
fn status(address: &str) -> Value {
    let since = "2026-01-02T03:04:05Z";
    let kinds =
        ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
    let conditions = kinds.map(|kind| {
        json!({"type": kind, "status": "True", "lastProbeTime": null, "lastTransitionTime": since})
    });
    let id = || format!("{:032x}{:032x}", fastrand::u128(..), fastrand::u128(..));
    json!({
        "phase": "Running",
        "conditions": conditions,
        "hostIP": "192.168.1.10", "hostIPs": [{"ip": "192.168.1.10"}],
        "podIP": address, "podIPs": [{"ip": address}],
        "qosClass": "Burstable",
        "startTime": since,
        "containerStatuses": [{
            "name": "memcached", "ready": true, "started": true, "restartCount": 0,
            "image": "docker.io/library/memcached:1.6.45",
            "imageID": format!("docker.io/library/memcached@sha256:{}", id()),
            "containerID": format!("containerd://{}", id()),
            "state": {"running": {"startedAt": since}}, "lastState": {},
        }],
    })
}
