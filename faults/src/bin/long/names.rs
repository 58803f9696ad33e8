//! An operator whose name for the API server is not found. It gets files of its own for names, which needs root.

use std::time::Duration;

use anyhow::ensure;
use memcached_faults::world::World;
use serde_json::json;
use tokio::time::sleep;

use crate::RECOVERY;
use crate::credentials::edit;
use crate::site::Site;

/// Nobody has this name.
const NAME: &str = "kubernetes.faults.invalid";
const AWAY: Duration = Duration::from_secs(8);

/// E18: no DNS at the start and in the middle.
pub(crate) async fn name_is_not_found(world: &World<'_>) -> anyhow::Result<String> {
    let way = world.way().await?;
    let (hosts, servers) =
        (way.kubeconfig.with_extension("hosts"), way.kubeconfig.with_extension("resolv"));
    std::fs::write(&hosts, "127.0.0.1 localhost\n")?;
    std::fs::write(&servers, "nameserver 127.0.0.1\n")?; // where nobody answers
    let port = way.proxy.address().port();
    edit(&way.kubeconfig, |kubeconfig| {
        let cluster = &mut kubeconfig["clusters"][0]["cluster"];
        cluster["server"] = json!(format!("https://{NAME}:{port}"));
        cluster["tls-server-name"] = json!("localhost");
    })?;
    let script = format!(
        "mount --bind {} /etc/hosts && mount --bind {} /etc/resolv.conf && exec \"$@\"",
        hosts.display(),
        servers.display()
    );
    let by = ["unshare", "--mount", "--propagation", "private", "sh", "-c", &script, "sh"];
    let namespace = world.namespace("names").await?;
    let log = world.log(&namespace, &way);
    let flags = ["--leader-elect=false".to_owned()];
    let site = Site::on(world, way, namespace, &by.map(str::to_owned), &flags)?;
    site.create("a", 1).await?;
    sleep(AWAY).await;
    site.stands()?;
    let said = std::fs::read_to_string(&log)?;
    ensure!(said.contains("lookup"), "what is wrong is not told: {said}");
    std::fs::write(&hosts, format!("127.0.0.1 localhost {NAME}\n"))?;
    let first = site.settled(1, RECOVERY).await?;

    std::fs::write(&hosts, "127.0.0.1 localhost\n")?;
    site.subject.way.proxy.cut();
    site.subject.way.proxy.heal();
    sleep(AWAY).await;
    std::fs::write(&hosts, format!("127.0.0.1 localhost {NAME}\n"))?;
    let again = site.followed("a-0", 2).await?;
    site.stands()?;
    Ok(format!("no DNS for {AWAY:.0?}: named, and healed after {first:.1?} and {again:.1?}"))
}
