//! The same values with nobody to refuse them: the definition of an older, laxer release lets everything
//! through. The operator stays standing, says what is wrong, serves others, and a good value heals.

use serde_json::{Value, json};

use super::walk::base;
use super::{Caches, Leaf, Walked};

/// How many lists are in each other in the deepest value: beyond what a reader of JSON takes.
const DEEP: usize = 1000;
/// A text that fills an object: a store takes a little more.
const HUGE: usize = 1_400_000;

/// The definition without its schema.
pub fn lax(definition: &Value) -> Value {
    let mut lax = definition.clone();
    let anything = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let status = schema["properties"]["status"].clone();
    // The scale subresource has bounds of its own, and old definitions have none.
    if let Some(subresources) = lax["spec"]["versions"][0]["subresources"].as_object_mut() {
        subresources.remove("scale");
    }
    lax["spec"]["versions"][0]["schema"]["openAPIV3Schema"] = json!({
        "type": "object", "properties": {"spec": anything, "status": status},
    });
    lax
}

/// Puts into one leaf everything that the schema would refuse.
pub async fn bypass(caches: &Caches, number: usize, leaf: &Leaf, refused: &[Value]) -> Walked {
    let (values, refused_here) = (refused.len(), Vec::new());
    let mut walked = Walked { leaf: leaf.name(), values, refused: refused_here, wrong: Vec::new() };
    for (step, value) in refused.iter().enumerate() {
        if let Err(wrong) = through(caches, &format!("lax-{number}-{step}"), leaf, value).await {
            walked.wrong.push(format!("{}: {wrong}", shown(value)));
        }
    }
    walked
}

async fn through(caches: &Caches, name: &str, leaf: &Leaf, value: &Value) -> Result<(), String> {
    let (good, bad) = (base(), leaf.with(&base(), Some(value)));
    caches.create(name, &good, false).await.map_err(|error| error.to_string())?;
    let before = caches.settled(name).await?;
    match caches.change(name, &bad).await {
        Ok(()) => caches.answered(name).await?,
        // Deeper than this program reads; the operator has to cope all the same, and serve others.
        Err(kube::Error::SerdeError(_)) => {
            let probe = format!("{name}-probe");
            caches.create(&probe, &good, false).await.map_err(|error| error.to_string())?;
            caches.settled(&probe).await?;
        }
        Err(error) => return Err(error.to_string()),
    }
    caches.heal(name, &good).await.map_err(|error| error.to_string())?;
    let after = caches.settled(name).await?;
    let wrong = crate::oracle::differences(&after, &before);
    if wrong.is_empty() { Ok(()) } else { Err(format!("not healed: {}", wrong.join("; "))) }
}

fn shown(value: &Value) -> String {
    value.to_string().chars().take(60).collect()
}

/// Values that no schema of a leaf speaks of.
pub fn monsters() -> Vec<Value> {
    let mut deep = json!([]);
    for _ in 0..DEEP {
        deep = json!([deep]);
    }
    vec![deep, json!("x".repeat(HUGE)), json!(vec![0; 10_000])]
}
