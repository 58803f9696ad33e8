//! The walk on a real API server: what it refuses changes nothing, what it takes leads to the same end from
//! everywhere, and without the leaf all is as before.

use serde_json::{Value, json};

use super::{Caches, Leaf, Walked};

/// What every cache has before a leaf is touched.
pub(super) fn base() -> Value {
    json!({"size": 1})
}

/// Walks one leaf with caches of its own.
pub async fn walk(caches: &super::Caches, number: usize, leaf: &Leaf) -> Walked {
    let mut walked =
        Walked { leaf: leaf.name(), values: 0, refused: Vec::new(), wrong: Vec::new() };
    if let Err(wrong) = steps(caches, number, leaf, &mut walked).await {
        walked.wrong.push(wrong);
    }
    walked
}

async fn steps(
    caches: &Caches,
    number: usize,
    leaf: &Leaf,
    walked: &mut Walked,
) -> Result<(), String> {
    let (base, name) = (base(), format!("walk-{number}"));
    caches.create(&name, &base, false).await.map_err(|error| error.to_string())?;
    let before = caches.settled(&name).await?;
    let (mut taken, mut refused) = (Vec::new(), Vec::new());
    for value in leaf.values() {
        let spec = leaf.with(&base, Some(&value));
        match caches.create(&format!("{name}-dry"), &spec, true).await {
            Ok(()) => taken.push(value),
            Err(kube::Error::Api(status)) if matches!(status.code, 400 | 422) => {
                refused.push(value);
            }
            Err(error) => return Err(format!("{value}: {error}")),
        }
    }
    walked.values = taken.len() + refused.len();
    walked.refused.clone_from(&refused);
    if taken.is_empty() || refused.is_empty() {
        return Err(format!("{} values are taken and {} refused", taken.len(), refused.len()));
    }
    for value in &refused {
        let generation = caches.get(&name).await.map_err(|error| error.to_string())?;
        let generation = generation["metadata"]["generation"].clone();
        let changed = caches.change(&name, &leaf.with(&base, Some(value))).await;
        let after = caches.get(&name).await.map_err(|error| error.to_string())?;
        if changed.is_ok() || after["metadata"]["generation"] != generation {
            walked.wrong.push(format!("{value} is refused at first and taken as a change"));
        }
    }
    for (step, value) in taken.iter().enumerate() {
        let spec = leaf.with(&base, Some(value));
        caches.change(&name, &spec).await.map_err(|error| format!("{value}: {error}"))?;
        let fresh = format!("fresh-{number}-{step}");
        caches.create(&fresh, &spec, false).await.map_err(|error| error.to_string())?;
        let (changed, fresh) = (caches.outcome(&name).await, caches.outcome(&fresh).await);
        if changed != fresh {
            walked.wrong.push(differing(value, changed, fresh));
        }
    }
    caches.change(&name, &base).await.map_err(|error| error.to_string())?;
    let after = caches.settled(&name).await?;
    if after != before {
        walked.wrong.push(differing(&Value::Null, Ok(after), Ok(before)));
    }
    Ok(())
}

fn differing(
    value: &Value,
    changed: Result<Value, String>,
    fresh: Result<Value, String>,
) -> String {
    match (changed, fresh) {
        (Ok(changed), Ok(fresh)) => {
            let wrong = crate::oracle::differences(&changed, &fresh);
            format!("{value} after other values: {}", wrong.join("; "))
        }
        (Err(error), _) => format!("{value} after other values: {error}"),
        (_, Err(error)) => format!("{value} in a new cache: {error}"),
    }
}
