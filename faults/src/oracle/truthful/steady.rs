//! Whether what a condition says stays, as long as what it is about does.

use std::collections::HashMap;

use serde_json::Value;

use super::{conditions, is_cache};
use crate::history::Seen;

/// A fault that passes takes a word away and lets it come back, once. Who says the same for the third time of the
/// same spec and the same children does not know what it is saying.
const APPEARANCES: usize = 3;

/// What each condition says: its type, the generation, and its words.
type Words = [String; 3];

/// What a cache's conditions said again and again.
pub(super) fn judge(life: &[&Seen]) -> Vec<String> {
    let (mut said, mut changes, mut wrong) = (HashMap::new(), 0, Vec::new());
    let mut last: HashMap<String, Words> = HashMap::new();
    for seen in life {
        if !is_cache(seen) {
            changes += 1;
            continue;
        }
        for words in conditions(&seen.object).iter().map(words) {
            if last.insert(words[0].clone(), words.clone()).as_ref() == Some(&words) {
                continue;
            }
            let times: &mut usize = said.entry((words.clone(), changes)).or_default();
            *times += 1;
            if *times == APPEARANCES {
                let [type_, generation, words] = words;
                wrong.push(format!("{type_} of generation {generation} flaps: {words}"));
            }
        }
    }
    wrong
}

fn words(condition: &Value) -> Words {
    let [type_, generation, status, reason, message] =
        ["type", "observedGeneration", "status", "reason", "message"].map(|it| &condition[it]);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    [text(type_), generation.to_string(), format!("{status} {reason} {message}")]
}
