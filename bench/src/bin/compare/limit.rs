//! The null writer: sends what ours sends for new objects, with the same watches open, and makes no
//! decision. Nothing that does the same job can be faster.

use std::time::{Duration, Instant};

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use kube::Client;
use kubewright_bench::progress;
use kubewright_bench::report::measured::{WRITES, number};
use kubewright_bench::results::Profile;
use tokio::sync::mpsc::unbounded_channel;

use crate::objects::Object;
use crate::programs::Programs;
use crate::recorded::Templates;
use crate::rig::Rig;
use crate::seen::{CACHES, DEPLOYMENTS, PODS, SERVICES};
use crate::wire;

/// Objects that are worked on at once; each has up to two requests on their way.
const LEVELS: [usize; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// Objects for each level of the sweep.
const SWEPT: usize = 250;

/// Finds out how many objects at once are fastest.
pub(crate) async fn sweep(
    programs: &Programs,
    templates: &Templates,
    profile: Profile,
) -> anyhow::Result<usize> {
    let mut best = (f64::MAX, 0);
    let rig = Rig::start(programs, profile, false).await?;
    // The first writes of an API server are slower than those that follow.
    for (place, level) in [LEVELS[3]].into_iter().chain(LEVELS).enumerate() {
        let objects = rig.create(&format!("sweep-{place}"), SWEPT).await?;
        let took = run(&rig, templates, &objects, level).await?.as_secs_f64();
        if place > 0 {
            let rate = WRITES * number(SWEPT) / took;
            progress(&format!("null writer, {level} objects at once: {rate:.0} writes/s"));
            best = if took < best.0 { (took, level) } else { best };
        }
    }
    rig.stop().await?;
    Ok(best.1)
}

/// Sends all writes for all objects; answers with how long that took.
pub(crate) async fn run(
    rig: &Rig,
    templates: &Templates,
    objects: &[Object],
    at_once: usize,
) -> anyhow::Result<Duration> {
    let uids = uids(rig).await?;
    let (failed, _ends) = unbounded_channel();
    let watches = [CACHES, DEPLOYMENTS, SERVICES, PODS];
    let watches =
        watches.map(|path| wire::discard(rig.operator_client.clone(), path, failed.clone()));
    tokio::time::sleep(Duration::from_millis(200)).await;
    connect(rig, 2 * at_once).await?;
    let began = Instant::now();
    let jobs = objects.iter().map(|object| {
        let uid = uids.get(object).map(String::as_str).unwrap_or_default();
        job(&rig.operator_client, templates, object, uid)
    });
    stream::iter(jobs).buffer_unordered(at_once).try_collect::<()>().await?;
    let took = began.elapsed();
    watches.iter().for_each(tokio::task::JoinHandle::abort);
    Ok(took)
}

/// Opens as many connections as will be used: an operator is running when its time begins to count, and what
/// it takes to get there is no part of the limit.
async fn connect(rig: &Rig, connections: usize) -> anyhow::Result<()> {
    let asked = (0..connections).map(|_| wire::count(&rig.operator_client, SERVICES));
    stream::iter(asked).buffer_unordered(connections).try_collect::<Vec<_>>().await?;
    Ok(())
}

/// The whole job for one object: the finalizer, both children at once, the status.
pub(crate) async fn job(
    client: &Client,
    templates: &Templates,
    object: &Object,
    uid: &str,
) -> anyhow::Result<()> {
    let finalized = wire::send(client, templates.finalizer(object, uid)).await?.accepted()?;
    let [deployment, service] = templates.children(object, uid);
    let child = async |call| wire::send(client, call).await?.accepted();
    tokio::try_join!(child(deployment), child(service))?;
    let version = finalized.version().unwrap_or_default();
    wire::send(client, templates.status(object, uid, version)).await?.accepted()?;
    Ok(())
}

/// The uids of all objects that there are.
async fn uids(rig: &Rig) -> anyhow::Result<std::collections::HashMap<Object, String>> {
    let api = kube::Api::<memcached_api::v1alpha1::Memcached>::all(rig.client.clone());
    let list = api.list_metadata(&kube::api::ListParams::default()).await?;
    let pairs = list.items.into_iter().map(|item| {
        let meta = item.metadata;
        let (name, namespace) = (meta.name.unwrap_or_default(), meta.namespace.unwrap_or_default());
        (Object { namespace, name }, meta.uid.unwrap_or_default())
    });
    Ok(pairs.collect())
}
