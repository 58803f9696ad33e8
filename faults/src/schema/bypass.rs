//! The same values with nobody to refuse them: the definition of an older, laxer release lets everything
//! through. The operator stays standing, says what is wrong, serves others, and a good value heals.

use serde_json::{Value, json};

use super::walk::base;
use super::{Caches, Leaf, Walked};

/// How many lists are in each other in the deepest value: beyond what a reader of JSON takes.
const DEEP: usize = 1000;
/// A text that fills an object: a store takes a little more.
const HUGE: usize = 1_400_000;

const IMAGE: &str = "spec.image";
/// Not how an image is written, and for the node to say: the cache tells of a pod that has none.
const HARMLESS_IMAGES: [&str; 2] = ["64Mi", "-1"];

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
    let other = format!("lax-{number}-other");
    if let Err(error) = caches.create(&other, &base(), false).await {
        walked.wrong.push(format!("{other}: {error}"));
    }
    for (step, value) in refused.iter().enumerate() {
        let name = format!("lax-{number}-{step}");
        if let Err(wrong) = through(caches, [&name, &other], step, leaf, value).await {
            walked.wrong.push(format!("{}: {wrong}", shown(value)));
        }
    }
    walked
}

async fn through(
    caches: &Caches,
    [name, other]: [&str; 2],
    step: usize,
    leaf: &Leaf,
    value: &Value,
) -> Result<(), String> {
    let (good, bad) = (base(), leaf.with(&base(), Some(value)));
    caches.create(name, &good, false).await.map_err(|error| error.to_string())?;
    let before = caches.settled(name).await?;
    match caches.change(name, &bad).await {
        Ok(()) => {
            let outcome = caches.outcome(name).await?;
            if !is_told(&outcome) && !is_harmless(leaf, value) {
                return Err("it is served without a word".to_owned());
            }
        }
        // Deeper than this program reads; the operator has to cope all the same.
        Err(kube::Error::SerdeError(_)) => caches.told_of_depth(name).await?,
        Err(error) => return Err(error.to_string()),
    }
    caches
        .change(other, &json!({"size": 1 + (step + 1) % 2}))
        .await
        .map_err(|it| it.to_string())?;
    caches.settled(other).await.map_err(|wrong| format!("another is not served: {wrong}"))?;
    caches.heal(name, &good).await.map_err(|error| error.to_string())?;
    let after = caches.settled(name).await?;
    let wrong = crate::oracle::differences(&after, &before);
    if wrong.is_empty() { Ok(()) } else { Err(format!("not healed: {}", wrong.join("; "))) }
}

/// Whether the cache says that it cannot be served, and why.
fn is_told(outcome: &Value) -> bool {
    outcome["reason"].as_str().is_some_and(|reason| !reason.is_empty())
}

/// What the schema refuses and is served all the same.
fn is_harmless(leaf: &Leaf, value: &Value) -> bool {
    leaf.name() == IMAGE && HARMLESS_IMAGES.iter().any(|image| value == image)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cache_tells_only_with_a_reason() {
        assert!(is_told(&json!({"reason": "InvalidSpec"})));
        assert!(!is_told(&json!({"reason": ""})));
        assert!(!is_told(&json!({"memcacheds": [], "deployments": []})));
    }
}
