//! V6: no version of a status says what was not so, nor takes its word back again and again. All kinds share one
//! count of versions, so what there was when a status was written is known.

mod children;
mod steady;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

use super::News;
use crate::history::Seen;
use crate::run::Observed;

pub(super) fn judge(run: &Observed) -> Vec<String> {
    judge_history(&run.history, News::OnTime)
}

/// Looks at every version of every cache.
pub(crate) fn judge_history(history: &[Seen], news: News) -> Vec<String> {
    lives(history).values().flat_map(|life| judge_life(life, news)).collect()
}

/// What happened to each cache and to its children, by the cache's uid.
fn lives(history: &[Seen]) -> BTreeMap<&str, Vec<&Seen>> {
    let mut lives: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for seen in history {
        let metadata = &seen.object["metadata"];
        let uid = match seen.resource {
            "memcacheds" => &metadata["uid"],
            _ => &metadata["ownerReferences"][0]["uid"],
        };
        lives.entry(uid.as_str().unwrap_or_default()).or_default().push(seen);
    }
    lives
}

fn judge_life(life: &[&Seen], news: News) -> Vec<String> {
    let mut wrong = steady::judge(life);
    let mut before: Option<&Value> = None;
    let caches = life.iter().filter(|seen| is_cache(seen) && seen.type_ != "DELETED");
    for seen in caches {
        let cache = &*seen.object;
        wrong.extend(ahead(cache));
        wrong.extend(children::judge(life, seen, news));
        wrong.extend(before.into_iter().flat_map(|before| restless(before, cache)));
        before = Some(cache);
    }
    wrong
}

fn is_cache(seen: &Seen) -> bool {
    seen.resource == "memcacheds"
}

fn conditions(cache: &Value) -> &[Value] {
    cache["status"]["conditions"].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// What a status is about that is not there yet.
fn ahead(cache: &Value) -> Vec<String> {
    let generation = cache["metadata"]["generation"].as_i64().unwrap_or(0);
    let told = |value: &Value| value["observedGeneration"].as_i64().unwrap_or(0) > generation;
    let mut wrong = Vec::new();
    if told(&cache["status"]) {
        wrong.push(format!("the status is ahead of generation {generation}"));
    }
    let ahead = conditions(cache).iter().filter(|condition| told(condition));
    wrong.extend(ahead.map(|it| format!("{} is ahead of generation {generation}", it["type"])));
    wrong
}

/// A time that changes without the status it is about.
fn restless(before: &Value, after: &Value) -> Vec<String> {
    let changed = |old: &&Value| {
        let new = conditions(after).iter().find(|new| new["type"] == old["type"]);
        new.is_some_and(|new| {
            new["status"] == old["status"] && new["lastTransitionTime"] != old["lastTransitionTime"]
        })
    };
    let restless = conditions(before).iter().filter(changed);
    restless.map(|it| format!("the time of {} changed without a transition", it["type"])).collect()
}
