//! What the queue promises, one sentence each; time is paused and moves only when all wait.

mod failing;
mod model;
mod waiting;
mod workers;

use futures_util::FutureExt;
use tokio::time::advance;

use super::Priority::{High, Low};
use super::*;

const CAP: Duration = Duration::from_mins(5);

fn queue() -> Queue {
    Queue::new(Backoff::new(CAP))
}

fn key(name: impl std::fmt::Display) -> Key {
    Key::new("shop", &name.to_string())
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// The item that is ready now.
fn ready(queue: &Queue) -> Option<Item> {
    queue.next().now_or_never().flatten()
}

/// The name of the item that is ready now, which stays in the hands of the caller.
fn name(queue: &Queue) -> Option<String> {
    ready(queue).map(|item| item.key.name().to_owned())
}

/// The names of all that is ready, each finished before the next is taken.
fn names(queue: &Queue) -> Vec<String> {
    std::iter::from_fn(|| {
        let item = ready(queue)?;
        queue.finish(&item.key, Finish::Done);
        Some(item.key.name().to_owned())
    })
    .collect()
}

/// How many entries the queue holds in all its tables.
fn entries(queue: &Queue) -> usize {
    queue.shared.state.lock().unwrap().entries()
}

#[tokio::test(start_paused = true)]
async fn two_hundred_items_come_in_the_order_in_which_they_were_added() {
    let queue = queue();
    let expected: Vec<String> = (0..200).map(|number| format!("cart-{number}")).collect();
    for name in &expected {
        queue.add(key(name), Low, "list");
    }
    assert_eq!(names(&queue), expected);
    assert_eq!(entries(&queue), 0, "idle objects are remembered");
}

#[tokio::test(start_paused = true)]
async fn a_live_change_overtakes_an_initial_list() {
    let queue = queue();
    for number in 0..50 {
        queue.add(key(number), Low, "list");
    }
    queue.add(key("new"), High, "change");
    queue.add(key(30), High, "change");
    assert_eq!(names(&queue)[..4], ["new", "30", "0", "1"]);
}

#[tokio::test(start_paused = true)]
async fn an_item_waits_once_at_its_first_place_and_for_its_first_reason() {
    let queue = queue();
    queue.add(key("a"), Low, "first");
    queue.add(key("b"), Low, "list");
    advance(millis(30)).await;
    queue.add(key("a"), Low, "second");
    queue.add_after(key("a"), millis(1), High, "third");
    let expected =
        Item { key: key("a"), waited: millis(30), priority: Low, attempt: 0, reason: "first" };
    assert_eq!(ready(&queue), Some(expected));
    assert_eq!(names(&queue), ["b"]);
    assert_eq!(queue.stats().adds, 2);
}

#[tokio::test(start_paused = true)]
async fn a_low_item_added_at_high_moves_to_the_end_of_high_and_takes_that_reason() {
    let queue = queue();
    for name in ["a", "b"] {
        queue.add(key(name), Low, "list");
    }
    queue.add(key("c"), High, "change");
    queue.add(key("b"), High, "change");
    queue.add(key("b"), Low, "resync");
    assert_eq!((queue.stats().depth_low, queue.stats().depth_high), (1, 2));
    assert_eq!(name(&queue).as_deref(), Some("c"));
    let second = ready(&queue).unwrap();
    assert_eq!((second.key, second.priority, second.reason), (key("b"), High, "change"));
    assert_eq!(names(&queue), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn after_sixteen_high_items_in_a_row_a_low_one_is_served() {
    let queue = queue();
    for number in 0..100 {
        queue.add(key(number), High, "change");
    }
    for number in 100..103 {
        queue.add(key(number), Low, "list");
    }
    let order = names(&queue);
    let low = |name: &str| order.iter().position(|other| other == name);
    assert_eq!((low("100"), low("101"), low("102")), (Some(16), Some(33), Some(50)));
    assert_eq!(order.len(), 103);
}

#[tokio::test(start_paused = true)]
async fn what_is_added_while_it_runs_comes_again_behind_those_who_waited() {
    let queue = queue();
    for name in ["hot", "b", "c"] {
        queue.add(key(name), High, "change");
    }
    let mut order = Vec::new();
    for _ in 0..9 {
        let item = ready(&queue).unwrap();
        queue.add(item.key.clone(), Low, "list");
        queue.add(item.key.clone(), High, "change");
        assert!(!queue.running().is_empty());
        order.push(item.key.name().to_owned());
        queue.finish(&item.key, Finish::Done);
    }
    assert_eq!(order, ["hot", "b", "c", "hot", "b", "c", "hot", "b", "c"]);
}

#[tokio::test(start_paused = true)]
async fn a_running_object_is_not_handed_out_again_until_it_finishes() {
    let queue = queue();
    queue.add(key("a"), High, "change");
    assert_eq!(name(&queue).as_deref(), Some("a"));
    queue.add(key("a"), Low, "resync");
    advance(millis(40)).await;
    assert_eq!(name(&queue), None);
    queue.finish(&key("a"), Finish::After(CAP));
    let again = ready(&queue).unwrap();
    assert_eq!((again.priority, again.waited, again.reason), (Low, millis(40), "resync"));
}

#[tokio::test(start_paused = true)]
async fn an_unknown_or_waiting_key_cannot_be_finished() {
    let queue = queue();
    queue.finish(&key("a"), Finish::Retry);
    queue.add(key("a"), High, "change");
    queue.finish(&key("a"), Finish::Done);
    assert_eq!(queue.stats().retries, 0);
    assert_eq!(names(&queue), ["a"]);
}

#[tokio::test(start_paused = true)]
async fn the_statistics_tell_depth_and_how_long_passes_have_been_running() {
    let queue = queue();
    for name in ["a", "b", "c"] {
        queue.add(key(name), Low, "list");
    }
    queue.add_after(key("late"), millis(5), High, "timer");
    queue.add_after(key("later"), CAP, High, "timer");
    ready(&queue);
    advance(millis(10)).await;
    ready(&queue);
    advance(millis(20)).await;
    let expected = QueueStats {
        depth_low: 2,
        depth_high: 0,
        adds: 4,
        retries: 0,
        unfinished: millis(50),
        longest: millis(30),
    };
    assert_eq!(queue.stats(), expected);
    let mut running = queue.running();
    running.sort();
    assert_eq!(running, [(key("a"), millis(30)), (key("late"), millis(20))]);
    queue.finish(&key("a"), Finish::Done);
    assert_eq!(queue.running(), [(key("late"), millis(20))]);
}
