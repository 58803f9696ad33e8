//! The walk over the schema: as it ships, and with a definition that refuses nothing.

use std::time::Duration;

use futures_util::future::join_all;
use kubewright::cluster;
use kubewright_testenv::Environment;
use memcached_faults::report::say;
use memcached_faults::schema::{Caches, Leaf, Walked, bypass, lax, leaves, monsters, walk};
use memcached_faults::script::Script;
use memcached_faults::world::{Subject, World};

use crate::Outcome;

/// One cache waits for many others.
const LIMIT: Duration = Duration::from_secs(30);

/// Without the built-in controllers: a size of 1000 is a number here, and not a thousand pods.
pub(crate) async fn schema() -> anyhow::Result<Vec<Outcome>> {
    let environment = Environment::builder().start().await?;
    let world = World::new(&environment).await?;
    let outcome = both(&world).await;
    drop(world);
    environment.stop().await?;
    outcome
}

async fn both(world: &World<'_>) -> anyhow::Result<Vec<Outcome>> {
    let namespace = world.namespace("schema").await?;
    let arguments = ["--leader-elect=false".to_owned()];
    let subject = world.operator(&namespace, &Script::new(None), &arguments).await?;
    let caches = Caches::new(world.client(), &namespace, LIMIT);
    let definitions = world.definitions();
    let leaves: Vec<Leaf> = definitions.iter().flat_map(leaves).collect();
    let walks = leaves.iter().enumerate().map(|(number, leaf)| walk(&caches, number, leaf));
    let walked = join_all(walks).await; // side by side
    let with = conclude("schema leaves", &walked, &subject);

    let definitions: Vec<_> = definitions.iter().map(lax).collect();
    cluster::apply(&world.client(), "faults", &definitions, &mut |_| {}).await?;
    let walks = leaves.iter().enumerate().zip(&walked).map(|((number, leaf), walked)| {
        let mut values = walked.refused.clone();
        values.extend(monsters());
        let caches = &caches;
        async move { bypass(caches, number, leaf, &values).await }
    });
    let without = conclude("schema leaves without validation", &join_all(walks).await, &subject);
    Ok(vec![with, without])
}

/// Says what is wrong, and sums up; a leaf does not hold where the operator did not stand.
fn conclude(what: &'static str, walked: &[Walked], subject: &Subject) -> Outcome {
    for leaf in walked {
        say(&format!("  {}: {} values", leaf.leaf, leaf.values));
        for wrong in &leaf.wrong {
            say(&format!("failed: {}: {wrong}", leaf.leaf));
        }
    }
    let failures = subject.running.failures();
    for failure in &failures {
        say(&format!("failed: the operator: {failure}"));
    }
    let stands = failures.is_empty();
    let held = walked.iter().filter(|leaf| leaf.wrong.is_empty() && stands).count();
    let values: usize = walked.iter().map(|leaf| leaf.values).sum();
    Outcome { what, run: walked.len(), held, more: format!("; {values} values") }
}
