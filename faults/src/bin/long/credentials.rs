//! Keys that are replaced, and certificates that a late clock does not like.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use k8s_openapi::api::authentication::v1::TokenRequest;
use k8s_openapi::api::core::v1::{Secret, ServiceAccount};
use kube::api::{DeleteParams, ListParams, PostParams};
use kube::config::{Config, KubeConfigOptions, Kubeconfig};
use kube::{Api, Client, ResourceExt as _};
use kubewright_testenv::{Disturbed, Showing};
use memcached_api::v1alpha1::Memcached;
use memcached_faults::world::World;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::RECOVERY;
use crate::site::Site;

/// Tokens and authorities in files are read again at least this often.
const REFRESH: Duration = Duration::from_secs(65);
/// How long the API server takes a token for good after its end.
const CACHED: Duration = Duration::from_secs(30);
const LATE: Duration = Duration::from_secs(8);

/// Changes a kubeconfig, which is JSON here.
pub(crate) fn edit(path: &Path, change: impl FnOnce(&mut Value)) -> anyhow::Result<()> {
    let mut kubeconfig: Value = serde_json::from_str(&std::fs::read_to_string(path)?)?;
    change(&mut kubeconfig);
    std::fs::write(path, kubeconfig.to_string())?;
    Ok(())
}

/// The files of one operator.
struct Files {
    token: PathBuf,
    authority: PathBuf,
}

impl Files {
    /// Puts what is in the kubeconfig of `way` into files beside it, as they are in a pod.
    fn beside(way: &Disturbed, token: &str, authority: &str) -> anyhow::Result<Self> {
        let (files, path) = (Self::at(&way.kubeconfig), &way.kubeconfig);
        std::fs::write(&files.token, token)?;
        std::fs::write(&files.authority, authority)?;
        edit(path, |kubeconfig| {
            let cluster = &mut kubeconfig["clusters"][0]["cluster"];
            *cluster =
                json!({"server": cluster["server"], "certificate-authority": files.authority});
            kubeconfig["users"][0]["user"] = json!({"tokenFile": files.token});
        })?;
        Ok(files)
    }

    fn at(kubeconfig: &Path) -> Self {
        Self {
            token: kubeconfig.with_extension("token"),
            authority: kubeconfig.with_extension("crt"),
        }
    }
}

/// E15: token and authority are replaced on disk, and then the old ones are of no use any more.
pub(crate) async fn keys_are_replaced(world: &World<'_>) -> anyhow::Result<String> {
    let namespace = world.namespace("keys").await?;
    let way = world.way().await?;
    let known = world.environment.shown(Showing::Renewed)?.authority;
    let first = token(world, "first").await?;
    let files = Files::beside(&way, &first, &known)?;
    let site = Site::on(world, way, namespace, &[], &["--leader-elect=false".to_owned()])?;
    site.create("a", 1).await?;
    site.settled(1, RECOVERY).await?;

    let new = world.environment.shown(Showing::OtherAuthority)?;
    std::fs::write(&files.token, token(world, "second").await?)?;
    std::fs::write(&files.authority, known + &new.authority)?;
    for _ in 0..REFRESH.as_secs() / 5 {
        sleep(Duration::from_secs(5)).await;
        site.followed("a-0", 2).await?; // whoever asks reads again
        site.followed("a-0", 1).await?;
    }
    end(world, "first", &first).await?;
    let proxy = &site.subject.way.proxy;
    proxy.show(&new.server)?;
    proxy.cut();
    proxy.heal();
    let took = site.followed("a-0", 3).await?;
    site.stands()?;
    let strangers = site.tally.strangers();
    ensure!(strangers == 0, "the old token was used {strangers} times");
    Ok(format!(
        "with the old token and authority gone, a change was followed after {took:.1?}, 0 × 401"
    ))
}

fn secrets(world: &World<'_>) -> Api<Secret> {
    Api::namespaced(world.client(), &world.home().1)
}

/// A token that is good for as long as a Secret is there.
async fn token(world: &World<'_>, bound: &str) -> anyhow::Result<String> {
    let secret = serde_json::from_value(json!({"metadata": {"name": bound}}))?;
    let secret = secrets(world).create(&PostParams::default(), &secret).await?;
    let (account, home) = world.home();
    let accounts: Api<ServiceAccount> = Api::namespaced(world.client(), &home);
    let request: TokenRequest = serde_json::from_value(json!({"spec": {
        "audiences": [], "expirationSeconds": 3600, "boundObjectRef":
            {"apiVersion": "v1", "kind": "Secret", "name": bound, "uid": secret.uid()},
    }}))?;
    let answer = accounts.create_token_request(&account, &PostParams::default(), &request).await?;
    answer.status.map(|status| status.token).context("there is no token")
}

/// Ends a token, and waits until the API server refuses it.
async fn end(world: &World<'_>, bound: &str, token: &str) -> anyhow::Result<()> {
    secrets(world).delete(bound, &DeleteParams::default()).await?;
    let mut kubeconfig = Kubeconfig::read_from(world.environment.kubeconfig())?;
    for user in &mut kubeconfig.auth_infos {
        user.auth_info = Some(serde_json::from_value(json!({"token": token}))?);
    }
    let config = Config::from_custom_kubeconfig(kubeconfig, &KubeConfigOptions::default()).await?;
    let caches: Api<Memcached> = Api::namespaced(Client::try_from(config)?, "default");
    let began = Instant::now();
    loop {
        match caches.list(&ListParams::default()).await {
            Err(kube::Error::Api(status)) if status.code == 401 => return Ok(()),
            _ => ensure!(began.elapsed() < CACHED, "the token without its Secret is still good"),
        }
        sleep(Duration::from_secs(1)).await;
    }
}

/// E18: the certificate of the API server is not valid yet.
pub(crate) async fn clock_is_late(world: &World<'_>) -> anyhow::Result<String> {
    let site = Site::new(world).await?;
    site.create("a", 1).await?;
    site.settled(1, RECOVERY).await?;
    let proxy = &site.subject.way.proxy;
    proxy.show(&world.environment.shown(Showing::NotYetValid)?.server)?;
    proxy.cut();
    proxy.heal();
    site.resize("a-0", 2).await?;
    sleep(LATE).await;
    proxy.show(&world.environment.shown(Showing::Renewed)?.server)?;
    let took = site.followed("a-0", 3).await?;
    site.stands()?;
    let said = std::fs::read_to_string(world.log(&site.namespace, &site.subject.way))?;
    ensure!(said.contains("not valid yet"), "what is wrong is not told: {said}");
    Ok(format!("a certificate not valid yet for {LATE:.0?}: named, and healed after {took:.1?}"))
}
