//! Another client of the same standing asks as much as it can.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::ensure;
use futures_util::future::join_all;
use k8s_openapi::api::apps::v1::Deployment;
use kube::api::ListParams;
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client};
use kubewright::cluster;
use kubewright_testenv::Identity;
use memcached_faults::world::World;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::RECOVERY;
use crate::scene::Scene;

/// Who floods.
const OTHER: &str = "flood";
/// How many of its requests are on their way at once.
const BESIDE: usize = 100;
/// How many caches have to be made meanwhile.
const CACHES: usize = 20;

/// E19: both get the smallest share of the API server that there is, and the other one wants it all.
pub(crate) async fn others_flood(world: &World<'_>, length: Duration) -> anyhow::Result<String> {
    let scene = Scene::new(world, 2).await?;
    scene.create("a", 1).await?;
    scene.settled(RECOVERY).await?;
    let leader = scene.leader();
    cluster::apply(&world.client(), "faults", &share(world), &mut |_| {}).await?;
    sleep(Duration::from_secs(5)).await; // until the API server has taken it up
    let (asked, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let others = Api::all(client(world).await?);
    let flood = join_all((0..BESIDE).map(|_| flood(&others, &asked, &refused)));
    let work = async {
        sleep(length / 4).await;
        for number in 0..CACHES {
            scene.create(&format!("b-{number}"), 0).await?;
        }
        let took = scene.settled(RECOVERY).await?;
        sleep(length).await;
        anyhow::Ok(took)
    };
    let began = Instant::now();
    let took = tokio::select! {
        took = work => took?,
        _ = flood => anyhow::bail!("the flood has ended"),
    };
    let (asked, refused) = (asked.into_inner(), refused.into_inner());
    ensure!(refused > 0, "the flood was not limited: {asked} requests, none refused");
    ensure!(scene.leader() == leader, "another leads");
    scene.stands()?;
    Ok(format!(
        "{CACHES} caches after {took:.1?}, the leader stayed, beside {asked} lists and {refused} refusals in {:.0?}",
        began.elapsed()
    ))
}

async fn flood(api: &Api<Deployment>, asked: &AtomicUsize, refused: &AtomicUsize) {
    loop {
        match api.list(&ListParams::default()).await {
            Ok(_) => asked.fetch_add(1, Ordering::Relaxed),
            Err(_) => refused.fetch_add(1, Ordering::Relaxed),
        };
    }
}

/// The other one: no admin, who would be exempt, and without repeats by the client itself.
async fn client(world: &World<'_>) -> anyhow::Result<Client> {
    let identity = Identity::User { name: OTHER, groups: &[] };
    let kubeconfig = world.environment.kubeconfig_as(identity).await?;
    let kubeconfig = Kubeconfig::read_from(kubeconfig)?;
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await?;
    config.default_retry = false;
    Ok(Client::try_from(config)?)
}

/// One small share for both, with queues that are soon full, and the right to list for the other.
fn share(world: &World<'_>) -> Vec<Value> {
    let (account, home) = world.home();
    let flows = "flowcontrol.apiserver.k8s.io/v1";
    vec![
        json!({"apiVersion": flows, "kind": "PriorityLevelConfiguration",
            "metadata": {"name": "faults"}, "spec": {"type": "Limited", "limited": {
                "nominalConcurrencyShares": 1, "lendablePercent": 0, "borrowingLimitPercent": 0,
                "limitResponse": {"type": "Queue",
                    "queuing": {"queues": 8, "handSize": 2, "queueLengthLimit": 20}}}}}),
        json!({"apiVersion": flows, "kind": "FlowSchema",
        "metadata": {"name": "faults"}, "spec": {"matchingPrecedence": 50,
            "distinguisherMethod": {"type": "ByUser"},
            "priorityLevelConfiguration": {"name": "faults"},
            "rules": [{
                "subjects": [
                    {"kind": "User", "user": {"name": OTHER}},
                    {"kind": "ServiceAccount",
                        "serviceAccount": {"namespace": home, "name": account}},
                ],
                "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"],
                    "namespaces": ["*"], "clusterScope": true}],
            }]}}),
        json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
            "metadata": {"name": "faults-flood"},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": OTHER}]}),
    ]
}
