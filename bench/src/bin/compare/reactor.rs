//! The ideal reactor: answers each event with fixed bodies at once, without a cache, a queue or a question.
//! Nothing that waits for the event and then writes can be quicker.

use std::sync::Arc;

use kube::Client;
use kubewright_bench::progress;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

use crate::limit::job;
use crate::objects::{Object, SIZE};
use crate::recorded::Templates;
use crate::rig::Rig;
use crate::seen::{CACHES, DEPLOYMENTS, Event, SERVICES, Seen, Watcher};
use crate::wire;

/// Objects that are worked on at once: with a thousand the API server refuses some.
const AT_ONCE: usize = 64;
/// What ours says of a child that must not be there yet.
const ABSENT: &str = r#""resourceVersion":"1""#;

/// It runs until this is dropped.
pub(crate) struct Reactor(Vec<JoinHandle<()>>);

impl Reactor {
    pub(crate) async fn start(rig: &Rig, templates: &Templates) -> anyhow::Result<Self> {
        let mut tasks = Vec::new();
        let places = Arc::new(Semaphore::new(AT_ONCE));
        for path in [CACHES, DEPLOYMENTS, SERVICES] {
            let client = rig.operator_client.clone();
            let watcher = Watcher::start(client.clone(), path).await?;
            let places = places.clone();
            tasks.push(tokio::spawn(react(client, templates.clone(), path, watcher, places)));
        }
        Ok(Self(tasks))
    }
}

impl Drop for Reactor {
    fn drop(&mut self) {
        self.0.iter().for_each(JoinHandle::abort);
    }
}

async fn react(
    client: Client,
    templates: Templates,
    path: &'static str,
    mut watcher: Watcher,
    places: Arc<Semaphore>,
) {
    while let Ok(seen) = watcher.next().await {
        let (client, templates, places) = (client.clone(), templates.clone(), places.clone());
        let is_new = path == CACHES && seen.event == Event::Added;
        let is_drifted = path != CACHES
            && (seen.event == Event::Deleted
                || seen.replicas.is_some_and(|replicas| replicas != SIZE));
        let reaction = async move {
            let _place = places.acquire().await;
            let done = if is_new {
                job(&client, &templates, &Object::of(&seen), &seen.uid).await
            } else if is_drifted {
                repair(&client, &templates, path, &seen).await
            } else {
                Ok(())
            };
            if let Err(error) = done {
                progress(&format!("ideal reactor: {error:#}"));
            }
        };
        if is_new || is_drifted {
            tokio::spawn(reaction);
        }
    }
}

/// Posts the child again.
async fn repair(
    client: &Client,
    templates: &Templates,
    path: &str,
    seen: &Seen,
) -> anyhow::Result<()> {
    let owner = seen.owner.as_deref().unwrap_or_default();
    let [deployment, service] = templates.children(&Object::of(seen), owner);
    let mut call = if path == DEPLOYMENTS { deployment } else { service };
    if seen.event != Event::Deleted {
        // What is created must not be there; what is changed must.
        call.body = call.body.replace(ABSENT, &format!("\"uid\":\"{}\"", seen.uid));
    }
    wire::send(client, call).await?.accepted()?;
    Ok(())
}
