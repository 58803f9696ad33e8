//! How soon the pods of a new object are ready on a node that has run such pods before, and how often its
//! status is written meanwhile.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::ListParams;
use kubewright::Clock;
use kubewright_bench::bars::Bars;
use kubewright_bench::durations::Durations;
use kubewright_bench::progress;
use kubewright_testenv::Environment;
use memcached_api::labels::INSTANCE;

use crate::installed::Installed;
use crate::watched::{Watched, Which};
use crate::written::{Limits, Written};

const SIZE: i32 = 3;
/// In milliseconds.
const READY: f64 = 3000.0;
const LIMITS: Limits = Limits { finalizers: 1, statuses: 5 };
/// Two writes to the status of one object are never closer, in milliseconds.
const APART: i128 = 200;
/// After this, nothing more is to be said of pods that are all ready.
const LATE: Duration = Duration::from_secs(2);

/// What was seen of one cache.
struct Seen {
    ready: Duration,
    written: Written,
    /// When its status was written, in milliseconds since it was created.
    statuses: Vec<i128>,
    too_close: usize,
    is_true: bool,
}

pub(crate) async fn measure(program: &Path, times: usize, bars: &mut Bars) -> anyhow::Result<()> {
    progress("starting a node");
    let installed = Installed::start(Environment::builder().nodes(1), program).await?;
    let mut process = installed.elected(&[])?;
    process.until_ready().await?;
    cache(&installed, "warm").await?;
    let (mut ready, mut seen) = (Durations::default(), Vec::new());
    for number in 0..times {
        let one = cache(&installed, &format!("cache-{number}")).await?;
        let (took, statuses) = (one.ready, &one.statuses);
        progress(&format!("{SIZE} pods ready after {took:.2?}, status written at {statuses:?} ms"));
        if took.as_secs_f64() * 1e3 > READY {
            complaints(&installed).await?;
        }
        ready.add(took);
        seen.push(one);
    }
    bars.at_most("new to pods ready: median", ready.within(50), READY, "ms");
    bars.at_most("new to pods ready: longest", ready.within(100), READY, "ms");
    let most = seen.iter().map(|one| one.written).reduce(Written::most).unwrap_or_default();
    most.compare("pods, at most", &LIMITS, bars);
    let close = seen.iter().map(|one| one.too_close).sum();
    bars.exactly(format!("pods: writes to the status within {APART} ms"), close, 0);
    let untrue = seen.iter().filter(|one| !one.is_true).count();
    bars.exactly("pods: last status unlike the pods", untrue, 0);
    process.stop().await?;
    installed.stop("pods", bars).await
}

/// Tells what scheduler and kubelet have complained of, where something took too long.
async fn complaints(installed: &Installed) -> anyhow::Result<()> {
    let warnings = ListParams::default().fields("type=Warning");
    for event in installed.objects().events().list(&warnings).await? {
        let (reason, message) =
            (event.reason.unwrap_or_default(), event.message.unwrap_or_default());
        let pod = event.involved_object.name.unwrap_or_default();
        progress(&format!("  {pod}: {reason}: {message}"));
    }
    Ok(())
}

/// One cache from its beginning to its end.
async fn cache(installed: &Installed, name: &str) -> anyhow::Result<Seen> {
    let objects = installed.objects();
    let mut pods = Watched::start(objects.pods(), Which::Labelled(INSTANCE, name)).await?;
    let (mark, created, began) = (installed.mark()?, Clock::system().now_micro(), Instant::now());
    objects.create(name, SIZE).await?;
    let all_ready = |pods: &BTreeMap<String, Pod>| pods.len() == 3 && pods.values().all(is_ready);
    pods.until("the pods are ready", all_ready).await?;
    let ready = began.elapsed();
    tokio::time::sleep(LATE).await;
    let is_true = is_true(installed, name).await?;
    let requests = installed.since(mark)?;
    let writes = requests.writes_to("memcacheds/status").into_iter();
    let own = writes.filter(|record| record.name == name);
    let mut statuses: Vec<_> =
        own.map(|record| record.received.duration_since(created).as_millis()).collect();
    statuses.sort_unstable();
    let too_close = statuses.windows(2).filter(|pair| pair[1] - pair[0] < APART).count();
    objects.delete(name).await?;
    pods.until("the pods are gone", BTreeMap::is_empty).await?;
    Ok(Seen { ready, written: Written::of(&requests), statuses, too_close, is_true })
}

/// Whether the status says what the pods are.
async fn is_true(installed: &Installed, name: &str) -> anyhow::Result<bool> {
    let objects = installed.objects();
    let list = ListParams::default().labels(&format!("{INSTANCE}={name}"));
    let pods = objects.pods().list(&list).await?;
    let status = objects.caches().get(name).await?.status.unwrap_or_default();
    let address = |pod: &Pod| Some(format!("{}:11211", pod.status.as_ref()?.pod_ip.as_ref()?));
    let mut names: Vec<_> = pods.iter().map(ResourceExt::name_any).collect();
    let mut servers: Vec<_> = pods.iter().filter_map(address).collect();
    names.sort();
    servers.sort();
    Ok(status.nodes == Some(names)
        && status.server_list == Some(servers)
        && status.ready_replicas == Some(SIZE))
}

fn is_ready(pod: &Pod) -> bool {
    let conditions = pod.status.as_ref().and_then(|status| status.conditions.as_ref());
    conditions.into_iter().flatten().any(|one| one.type_ == "Ready" && one.status == "True")
}
