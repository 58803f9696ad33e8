//! What a client of the cache sees: sets and gets on every server of a status.

use std::time::Duration;

use kubewright_testenv::Env;
use memcached_api::v1alpha1::Memcached;
use memcached_client::Connection;
use tokio::task::JoinSet;

/// Longer than any answer takes on a machine that is busy with a cluster.
const DEADLINE: Duration = Duration::from_secs(5);

/// Sets and gets on each server of the object's status, and gives their addresses.
///
/// # Panics
/// If one does not answer as it should.
pub async fn set_and_get(env: &Env, name: &str) -> Vec<String> {
    let memcached = env.api::<Memcached>().get(name).await;
    let memcached = memcached.unwrap_or_else(|error| panic!("{name} is not there: {error}"));
    let servers = memcached.status.and_then(|status| status.server_list).unwrap_or_default();
    for server in &servers {
        let answer = talk(server).await;
        answer.unwrap_or_else(|error| panic!("{server} does not answer as it should: {error:#}"));
    }
    servers
}

/// Keeps a server busy until what is given is dropped.
pub fn busy(server: &str) -> JoinSet<anyhow::Result<()>> {
    let client = async |server: String| {
        let mut connection = Connection::connect(server, DEADLINE).await?;
        loop {
            connection.get("key").await?;
        }
    };
    (0..4).map(|_| client(server.to_owned())).collect()
}

/// The version that a server says it is, such as `1.6.45`.
///
/// # Panics
/// If it does not answer.
pub async fn version(server: &str) -> String {
    let answer = async { Connection::connect(server, DEADLINE).await?.version().await };
    let version = answer.await.unwrap_or_else(|error| panic!("{server} says nothing: {error}"));
    version.to_string()
}

async fn talk(server: &str) -> anyhow::Result<()> {
    let mut connection = Connection::connect(server, DEADLINE).await?;
    connection.set("key", server.as_bytes(), None).await?;
    let value = connection.get("key").await?;
    anyhow::ensure!(value.as_deref() == Some(server.as_bytes()), "it answers {value:?}");
    anyhow::ensure!(connection.delete("key").await?, "what was set cannot be deleted");
    anyhow::ensure!(connection.get("key").await?.is_none(), "what was deleted is still there");
    Ok(())
}
