//! Every field of every kind of child is edited and removed by a stranger; each change that the server
//! accepts is seen, named, and put back without a trace.

use kubewright_testenv::Env;
use serde_json::{Value, json};

use super::objects;
use super::subject::{MANAGER, STRANGER, Subject, values};
use crate::drift;
use crate::raw::Raw;

/// Values of which one may stand for another.
const CHOICES: [&[&str]; 8] = [
    &["UDP", "TCP", "SCTP"],
    &["Never", "Always", "IfNotPresent"],
    &["OnDelete", "RollingUpdate", "Recreate"],
    &["ClientIP", "None"],
    &["ScheduleAnyway", "DoNotSchedule"],
    &["Replace", "Forbid", "Allow"],
    &["Egress", "Ingress"],
    &["Unconfined", "RuntimeDefault"],
];

/// Lists of plain values, where a change leaves something that may be somebody else's and must stay.
const KEPT: [&str; 2] = ["/metadata/finalizers/", "/spec/zones/"];

#[derive(Default)]
struct Tally {
    seen: usize,
    refused: usize,
    renamed: usize,
    wrong: Vec<String>,
}

#[kubewright_testenv::test]
async fn every_change_of_a_deployment_is_seen_and_put_back(env: Env) {
    changes(&env, "apps/v1 Deployment deployments", objects::deployment(), 130).await;
}

#[kubewright_testenv::test]
async fn every_change_of_a_stateful_set_is_seen_and_put_back(env: Env) {
    changes(&env, "apps/v1 StatefulSet statefulsets", objects::stateful_set(), 130).await;
}

#[kubewright_testenv::test]
async fn every_change_of_a_cron_job_is_seen_and_put_back(env: Env) {
    changes(&env, "batch/v1 CronJob cronjobs", objects::cron_job(), 130).await;
}

#[kubewright_testenv::test]
async fn every_change_of_a_service_is_seen_and_put_back(env: Env) {
    changes(&env, "v1 Service services", objects::service(), 18).await;
}

#[kubewright_testenv::test]
async fn every_change_of_a_headless_service_is_seen_and_put_back(env: Env) {
    changes(&env, "v1 Service services", objects::headless_service(), 8).await;
}

#[kubewright_testenv::test]
async fn every_change_of_a_small_object_is_seen_and_put_back(env: Env) {
    for (kind, object, at_least) in objects::small().into_iter().chain(objects::more()) {
        changes(&env, kind, object, at_least).await;
    }
}

#[kubewright_testenv::test]
async fn every_change_of_a_custom_resource_is_seen_and_put_back(env: Env) {
    env.install(&[objects::definition()]).await;
    changes(&env, "quiet.kubewright.dev/v1 Thing things", objects::thing(), 20).await;
}

/// Makes every change to an object, of which the server must accept `at_least` some.
async fn changes(env: &Env, kind: &str, desired: Value, at_least: usize) {
    let subject = Subject::new(env.client(), env.namespace(), kind, desired);
    let mut fresh = subject.create().await;
    let held = Subject::held(&fresh);
    let own = held.own_fields().unwrap();
    let unseen = drift::drifted(subject.intent.body(), &held.value(), &own);
    assert!(subject.is_quiet(&fresh), "{kind}: what the server makes of it: {unseen:?}");
    let mut tally = Tally::default();
    let mut nodes = Vec::new();
    collect(subject.intent.body(), String::new(), &mut nodes);
    for (path, value) in &nodes {
        let mut edited = false;
        for operation in operations(path, value) {
            // One edit of each that the server accepts is enough.
            if edited && operation["op"] == "replace" {
                continue;
            }
            let Some(after) = change(&subject, &fresh, &operation, &mut tally).await else {
                continue;
            };
            edited = true;
            // The next change starts from the same state.
            fresh = match after {
                Ok(back) => back,
                Err(problem) => {
                    tally.wrong.push(format!("{operation}: {problem}"));
                    subject.recreate().await
                }
            };
            if is_kept(&operation) {
                fresh = subject.recreate().await;
            }
        }
    }
    let Tally { seen, refused, renamed, wrong } = tally;
    println!("{kind}: {seen} seen, {renamed} of them renamed, {refused} refused");
    assert!(wrong.is_empty(), "{kind}:\n{}", wrong.join("\n"));
    assert!(seen >= at_least, "{kind}: only {seen} changes were accepted");
}

/// Makes one change and puts it back; none if the server refused it or it changed nothing.
async fn change(
    subject: &Subject,
    fresh: &Raw,
    operation: &Value,
    tally: &mut Tally,
) -> Option<Result<Raw, String>> {
    let Ok(changed) = subject.patch(STRANGER, json!([operation])).await else {
        tally.refused += 1;
        return None;
    };
    let own = |raw: &Raw| raw.own_fields(MANAGER, None);
    if values(&changed) == values(fresh) && own(&changed) == own(fresh) {
        return None;
    }
    tally.seen += 1;
    if let Err(problem) = is_seen(subject, &changed, operation) {
        return Some(Err(problem));
    }
    match subject.put_back(&changed).await {
        Err(error) => Some(Err(format!("the put-back was refused: {error}"))),
        Ok((back, requests)) => {
            tally.renamed += usize::from(requests > 1);
            Some(is_as_before(subject, fresh, &back, operation).map(|()| back))
        }
    }
}

fn is_kept(operation: &Value) -> bool {
    let path = operation["path"].as_str().unwrap();
    KEPT.iter().any(|kept| path.starts_with(kept))
}

fn is_seen(subject: &Subject, changed: &Raw, operation: &Value) -> Result<(), String> {
    if subject.is_quiet(changed) {
        return Err(format!("was not seen: {:?}", changed.own_fields(MANAGER, None)));
    }
    let held = Subject::held(changed);
    let own = held.own_fields().unwrap_or_default();
    let drifts = drift::drifted(subject.intent.body(), &held.value(), &own);
    if drifts.is_empty() {
        return Err("was not named".to_owned());
    }
    let edited = operation["op"] == "replace" && operation["value"] != Value::Null;
    let named = drifts.iter().any(|drift| {
        let renamed = drift.actual.is_none();
        renamed || drift::manager_of(changed, drift, MANAGER).as_deref() == Some(STRANGER)
    });
    if edited && !named { Err(format!("nobody was named for {drifts:?}")) } else { Ok(()) }
}

fn is_as_before(
    subject: &Subject,
    fresh: &Raw,
    back: &Raw,
    operation: &Value,
) -> Result<(), String> {
    if !subject.is_quiet(back) {
        return Err("is still seen after it was put back".to_owned());
    }
    if is_kept(operation) {
        return Ok(());
    }
    if values(back) != values(fresh) {
        return Err(format!(
            "left something behind: {:?}",
            difference(&values(back), &values(fresh))
        ));
    }
    if back.own_fields(MANAGER, None) != fresh.own_fields(MANAGER, None) {
        return Err("is put back, but not all of it is ours".to_owned());
    }
    Ok(())
}

/// What is in the nodes of `left` and not in `right`.
fn difference(left: &Value, right: &Value) -> Vec<(String, Value)> {
    let (mut all, mut rest) = (Vec::new(), Vec::new());
    collect(left, String::new(), &mut all);
    collect(right, String::new(), &mut rest);
    let leaf = |value: &Value| !value.is_object() && !value.is_array();
    all.into_iter()
        .filter(|(path, value)| leaf(value) && !rest.contains(&(path.clone(), value.clone())))
        .collect()
}

/// All nodes below the root, with their JSON pointers.
fn collect(value: &Value, path: String, nodes: &mut Vec<(String, Value)>) {
    let child = |key: &str| format!("{path}/{}", key.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| collect(value, child(key), nodes)),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, child(&index.to_string()), nodes);
            }
        }
        _ => {}
    }
    nodes.push((path, value.clone()));
}

/// A stranger's edits of a node, and its removal.
fn operations(path: &str, value: &Value) -> Vec<Value> {
    let edits = match value {
        Value::String(text) => {
            let choices = CHOICES.iter().find(|choices| choices.contains(&text.as_str()));
            let choices =
                choices.into_iter().flat_map(|choices| choices.iter().map(|text| json!(text)));
            choices.chain([json!(format!("{text}x")), json!("77"), json!("dHdv")]).collect()
        }
        Value::Number(number) => vec![json!(number.as_i64().unwrap() + 1)],
        Value::Bool(flag) => vec![json!(!flag)],
        _ => vec![],
    };
    let edits = edits.into_iter().filter(|edit| edit != value);
    let edits = edits.map(|edit| json!({"op": "replace", "path": path, "value": edit}));
    edits.chain([json!({"op": "remove", "path": path})]).collect()
}
