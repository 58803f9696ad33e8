//! The cache never gets older, loses nothing while it is listed anew, and tells the right ones.

mod any;

use std::sync::Arc;
use std::time::Duration;

use kube::discovery::ApiResource;
use serde_json::json;

use super::*;
use crate::backoff::Backoff;

fn store(mapping: Mapping) -> Arc<Store> {
    let kind = ApiResource::erase::<k8s_openapi::api::core::v1::ConfigMap>(&());
    Arc::new(Store::new(kind, true, None, mapping, "tester".into()))
}

fn raw(name: &str, uid: &str, version: u64, owner: &str) -> Raw {
    let object = json!({
        "apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {
            "name": name, "namespace": "space", "uid": uid, "resourceVersion": version.to_string(),
            "labels": {"of": owner},
            "ownerReferences": [{"apiVersion": "v1", "kind": "X", "name": "x", "uid": owner, "controller": true}],
        },
        "data": {"version": version.to_string()},
    });
    Raw::parse(object.to_string()).unwrap()
}

fn key(name: &str) -> Key {
    Key::new("space", name)
}

fn version(store: &Store, name: &str) -> Option<u64> {
    store.get(&key(name)).map(|held| held.version())
}

/// A primary named `parent` with uid `p`, and what its queue hears of `store`.
fn subscribed(store: &Arc<Store>) -> Queue {
    let queue = Queue::new(Backoff::new(Duration::from_secs(1)));
    let primary = self::store(Mapping::Itself);
    primary.put(raw("parent", "p", 1, ""), Arrival::Live);
    store.subscribe(queue.clone(), primary);
    queue
}

async fn heard(queue: &Queue) -> Option<String> {
    let next = tokio::time::timeout(Duration::from_millis(20), queue.next()).await.ok()??;
    queue.finish(&next.key, crate::queue::Finish::Done);
    Some(format!("{} {}", next.key.name(), next.reason))
}

#[test]
fn what_came_of_a_write_is_remembered_whether_its_answer_or_its_event_comes_first() {
    let intent = Intent::new(json!({"data": {"a": "b"}}));
    let (early, late) = (store(Mapping::Owner), store(Mapping::Owner));
    let told = early.put(raw("a", "1", 5, "p"), Arrival::Live);
    let answered = early.put_applied(raw("a", "1", 5, "p"), &intent);
    assert!(Arc::ptr_eq(&told, &answered), "it was packed twice");
    late.put_applied(raw("a", "1", 5, "p"), &intent);
    late.put(raw("a", "1", 5, "p"), Arrival::Live);
    for store in [early, late] {
        assert!(store.get(&key("a")).unwrap().is_quiet(&intent));
        store.put_applied(raw("a", "1", 4, "p"), &intent);
        assert_eq!(version(&store, "a"), Some(5));
    }
}

#[test]
fn an_answer_that_comes_after_the_end_of_its_object_does_not_bring_it_back() {
    let intent = Intent::new(json!({"data": {"a": "b"}}));
    for is_known in [true, false] {
        let store = store(Mapping::Owner);
        if is_known {
            store.put(raw("a", "1", 5, "p"), Arrival::Live);
        }
        let key = key("a");
        let mute = store.mute(&key);
        store.remove(&raw("a", "1", 7, "p"));
        assert_eq!(store.put_applied(raw("a", "1", 6, "p"), &intent).version(), 6);
        assert_eq!((version(&store, "a"), store.len()), (None, 0));
        store.put_applied(raw("a", "2", 8, "p"), &intent); // another of the name
        assert_eq!(version(&store, "a"), Some(8));
        drop(mute);
        store.remove(&raw("a", "2", 9, "p"));
        store.put(raw("a", "3", 8, "p"), Arrival::Own);
        assert_eq!(
            version(&store, "a"),
            Some(8),
            "outside a write, nothing is known to have ended"
        );
    }
}

#[test]
fn an_answer_that_is_older_than_a_list_without_its_object_does_not_bring_it_back() {
    let store = store(Mapping::Owner);
    store.put(raw("a", "1", 5, "p"), Arrival::Live);
    let key = key("a");
    let _mute = store.mute(&key);
    store.end(store.begin().of_version(9), None);
    store.put(raw("a", "1", 6, "p"), Arrival::Own);
    assert_eq!(store.len(), 0);
    store.put(raw("a", "2", 10, "p"), Arrival::Own);
    assert_eq!(version(&store, "a"), Some(10));
}

#[tokio::test]
async fn a_change_by_others_during_a_write_is_told_whichever_comes_first() {
    let store = store(Mapping::Owner);
    let queue = subscribed(&store);
    let key = key("a");
    let mut mute = store.mute(&key);
    store.put(raw("a", "1", 7, "p"), Arrival::Live);
    let answer = raw("a", "1", 6, "p");
    mute.answered(answer.version());
    assert_eq!(store.put(answer, Arrival::Own).version(), 7);
    drop(mute);
    assert_eq!(heard(&queue).await.as_deref(), Some("parent changed"));
}

#[test]
fn an_object_never_gets_older() {
    let store = store(Mapping::Owner);
    let round = store.begin().of_version(9);
    store.put(raw("a", "1", 10, "p"), Arrival::Own);
    store.put(raw("a", "1", 9, "p"), Arrival::Live);
    assert_eq!(version(&store, "a"), Some(10));
    store.put(raw("a", "1", 8, "p"), Arrival::Listed(round));
    assert_eq!(version(&store, "a"), Some(10));
}

#[test]
fn a_late_deletion_does_not_take_its_successor_along() {
    let store = store(Mapping::Owner);
    store.put(raw("a", "1", 10, "p"), Arrival::Live);
    store.put(raw("a", "2", 12, "p"), Arrival::Own);
    store.remove(&raw("a", "1", 11, "p"));
    assert_eq!(version(&store, "a"), Some(12));
    store.remove(&raw("a", "2", 13, "p"));
    assert_eq!(version(&store, "a"), None);
}

#[test]
fn a_listing_takes_away_what_it_did_not_see_and_only_at_its_end() {
    let store = store(Mapping::Owner);
    store.put(raw("stays", "1", 1, "p"), Arrival::Live);
    store.put(raw("goes", "2", 2, "p"), Arrival::Live);
    let round = store.begin().of_version(20);
    store.put(raw("stays", "1", 1, "p"), Arrival::Listed(round));
    store.put(raw("written", "3", 21, "p"), Arrival::Own);
    assert_eq!(version(&store, "goes"), Some(2), "not before the end");
    store.end(round, None);
    assert_eq!(version(&store, "goes"), None);
    assert_eq!(version(&store, "stays"), Some(1));
    assert_eq!(version(&store, "written"), Some(21), "written after the list was asked for");
}

#[test]
fn a_listing_of_one_namespace_leaves_the_others_alone() {
    let store = store(Mapping::Owner);
    store.put(raw("elsewhere", "1", 1, "p"), Arrival::Live);
    let round = store.begin().of_version(5);
    store.end(round, Some("other"));
    assert_eq!(version(&store, "elsewhere"), Some(1));
}

#[test]
fn a_list_that_is_older_than_what_was_known_is_a_restored_server() {
    let store = store(Mapping::Owner);
    store.put(raw("a", "1", 100, "p"), Arrival::Live);
    let round = store.begin().of_version(50);
    store.put(raw("a", "1", 40, "p"), Arrival::Listed(round));
    store.end(round, None);
    assert_eq!(version(&store, "a"), Some(40));
    store.put(raw("a", "1", 60, "p"), Arrival::Live);
    assert_eq!(version(&store, "a"), Some(60));
}

#[test]
fn a_list_that_has_an_object_older_than_it_was_is_of_a_restored_server_however_far_its_count() {
    let store = store(Mapping::Itself);
    store.put(raw("a", "future", 100, "o"), Arrival::Live);
    let round = store.begin().of_version(150);
    store.put(raw("a", "past", 40, "o"), Arrival::Listed(round));
    assert_eq!(store.get(&key("a")).unwrap().uid(), "past");
    store.put(raw("a", "past", 160, "o"), Arrival::Own);
    store.put(raw("a", "past", 40, "o"), Arrival::Listed(round));
    assert_eq!(version(&store, "a"), Some(160), "what came after the list is left alone");
}

#[test]
fn what_we_deleted_answers_no_more_until_it_comes_back() {
    let store = store(Mapping::Owner);
    store.put(raw("a", "1", 1, "p"), Arrival::Live);
    store.deleted(&key("a"), "1");
    assert_eq!(version(&store, "a"), None);
    assert!(store.indexed("p").is_empty());
    store.put(raw("a", "2", 3, "p"), Arrival::Live);
    assert_eq!(version(&store, "a"), Some(3));
}

#[tokio::test]
async fn the_owner_is_told_of_changes_and_of_the_end() {
    let store = store(Mapping::Owner);
    let queue = subscribed(&store);
    store.put(raw("a", "1", 1, "p"), Arrival::Live);
    assert_eq!(heard(&queue).await.as_deref(), Some("parent changed"));
    store.put(raw("a", "1", 1, "p"), Arrival::Live);
    assert_eq!(heard(&queue).await, None, "nothing new");
    store.put(raw("a", "1", 2, "p"), Arrival::Own);
    assert_eq!(heard(&queue).await, None, "our own write");
    store.put(raw("a", "1", 3, "q"), Arrival::Live);
    assert_eq!(heard(&queue).await.as_deref(), Some("parent left its owner"));
    store.put(raw("b", "2", 4, "p"), Arrival::Live);
    assert!(heard(&queue).await.is_some());
    store.remove(&raw("b", "2", 5, "p"));
    assert_eq!(heard(&queue).await.as_deref(), Some("parent deleted"));
}

#[tokio::test]
async fn news_of_an_object_are_held_back_while_we_write_to_it() {
    let store = store(Mapping::Owner);
    let queue = subscribed(&store);
    let key = key("a");
    let mut mute = store.mute(&key);
    store.put(raw("a", "1", 7, "p"), Arrival::Live);
    assert_eq!(heard(&queue).await, None);
    mute.answered(7);
    drop(mute);
    assert_eq!(heard(&queue).await, None, "it was our own write");
    let mut mute = store.mute(&key);
    store.put(raw("a", "1", 9, "p"), Arrival::Live);
    mute.answered(8);
    drop(mute);
    assert_eq!(heard(&queue).await.as_deref(), Some("parent changed"), "somebody wrote after us");
    let mute = store.mute(&key);
    store.put(raw("a", "1", 10, "p"), Arrival::Live);
    drop(mute);
    assert!(heard(&queue).await.is_some(), "our write failed");
}

#[tokio::test]
async fn a_label_leads_to_the_object_of_that_name_however_long() {
    let long = "n".repeat(200);
    let store = store(Mapping::Label("of".into()));
    let queue = Queue::new(Backoff::new(Duration::from_secs(1)));
    let primary = self::store(Mapping::Itself);
    primary.put(raw("short", "s", 1, ""), Arrival::Live);
    primary.put(raw(&long, "l", 1, ""), Arrival::Live);
    store.subscribe(queue.clone(), primary);
    store.put(raw("pod", "1", 2, "short"), Arrival::Live);
    assert_eq!(heard(&queue).await.as_deref(), Some("short changed"));
    store.put(raw("pod2", "2", 3, &names::label_value(&long)), Arrival::Live);
    assert_eq!(heard(&queue).await, Some(format!("{long} changed")));
    let index = store.index_of(&Key::new("space", &long), "l");
    assert_eq!(store.indexed(&index).len(), 1);
}

#[tokio::test]
async fn an_object_without_a_namespace_has_labelled_ones_in_all() {
    let store = store(Mapping::Label("of".into()));
    let queue = Queue::new(Backoff::new(Duration::from_secs(1)));
    let kind = ApiResource::erase::<k8s_openapi::api::core::v1::Namespace>(&());
    let primary = Arc::new(Store::new(kind, false, None, Mapping::Itself, "tester".into()));
    let object = json!({"metadata": {"name": "wide", "uid": "w", "resourceVersion": "1"}});
    primary.put(Raw::parse(object.to_string()).unwrap(), Arrival::Live);
    store.subscribe(queue.clone(), primary.clone());
    store.put(raw("pod", "1", 2, "wide"), Arrival::Live);
    assert_eq!(heard(&queue).await.as_deref(), Some("wide changed"));
    assert_eq!(store.children(&primary, &Key::new("", "wide"), "w").len(), 1);
    assert!(store.children(&primary, &Key::new("", "narrow"), "n").is_empty());
}
