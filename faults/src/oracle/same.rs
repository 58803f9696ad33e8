//! V2: the end is that of the clean run, and each object was made, deleted and changed as often.

use serde_json::Value;

use super::Clean;
use crate::run::Observed;

/// More differences than this are one difference.
const SHOWN: usize = 3;

pub(super) fn judge(run: &Observed, clean: &Clean) -> Vec<String> {
    let mut wrong = Vec::new();
    differences(&run.end, &clean.end, &mut String::new(), &mut wrong);
    wrong.truncate(SHOWN);
    for (object, count) in &clean.counts {
        let seen = run.counts.get(object).copied().unwrap_or_default();
        if seen != *count {
            wrong.push(format!("{object} had {seen:?}, and in the clean run {count:?}"));
        }
    }
    let strangers = run.counts.keys().filter(|object| !clean.counts.contains_key(*object));
    wrong.extend(strangers.map(|object| format!("{object} is not in the clean run")));
    wrong
}

pub(super) fn differences(is: &Value, clean: &Value, path: &mut String, wrong: &mut Vec<String>) {
    let length = path.len();
    match (is, clean) {
        (Value::Object(is), Value::Object(clean)) => {
            let names: std::collections::BTreeSet<_> = is.keys().chain(clean.keys()).collect();
            for name in names {
                path.truncate(length);
                path.push('.');
                path.push_str(name);
                let part = |object: &serde_json::Map<String, Value>| {
                    object.get(name).cloned().unwrap_or_default()
                };
                differences(&part(is), &part(clean), path, wrong);
            }
        }
        (Value::Array(is), Value::Array(clean)) if is.len() == clean.len() => {
            for (is, clean) in is.iter().zip(clean) {
                differences(is, clean, path, wrong);
            }
        }
        (is, clean) if is == clean => {}
        (is, clean) => wrong.push(format!("{path} is {is}, and in the clean run {clean}")),
    }
    path.truncate(length);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_difference_is_named_by_its_path() {
        let mut wrong = Vec::new();
        let (is, clean) = (json!({"a": [{"b": 1}], "c": 1}), json!({"a": [{"b": 2}], "c": 1}));
        differences(&is, &clean, &mut String::new(), &mut wrong);
        assert_eq!(wrong, [".a.b is 1, and in the clean run 2"]);
    }
}
