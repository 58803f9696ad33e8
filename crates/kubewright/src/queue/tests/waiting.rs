//! Delays, waiting workers, forgetting and closing.

use tokio::task::JoinSet;
use tokio::time::timeout;

use super::*;

/// Waits for an item and says its name and when it came.
async fn arrival(queue: &Queue, start: Instant) -> (String, Duration) {
    let item = queue.next().await.unwrap();
    (item.key.name().to_owned(), start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn delayed_items_come_in_the_order_of_time_to_a_worker_that_waits() {
    let (queue, start) = (queue(), Instant::now());
    for (name, delay) in [("c", 300), ("a", 100), ("b", 200)] {
        queue.add_after(key(name), millis(delay), Low, "timer");
    }
    for (name, delay) in [("a", 100), ("b", 200), ("c", 300)] {
        let (arrived, at) = arrival(&queue, start).await;
        assert_eq!(arrived, name);
        assert!((millis(delay)..=millis(delay + 2)).contains(&at), "{name} after {at:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn items_due_while_all_workers_are_busy_keep_their_place_before_later_additions() {
    let queue = queue();
    queue.add_after(key("due"), millis(10), Low, "timer");
    advance(millis(20)).await;
    queue.add(key("later"), Low, "list");
    let first = ready(&queue).unwrap();
    assert_eq!((first.key.name(), first.waited), ("due", millis(10)));
}

#[tokio::test(start_paused = true)]
async fn of_two_delays_the_shorter_counts_in_either_order() {
    for delays in [[50, 80], [80, 50]] {
        let queue = queue();
        for delay in delays {
            queue.add_after(key("a"), millis(delay), Low, "timer");
        }
        advance(millis(49)).await;
        assert_eq!(name(&queue), None);
        advance(millis(1)).await;
        assert_eq!(names(&queue), ["a"]);
        advance(millis(100)).await;
        assert_eq!(names(&queue), [""; 0]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_delayed_item_that_is_added_is_ready_at_once_and_only_once() {
    let queue = queue();
    queue.add_after(key("a"), millis(50), Low, "timer");
    queue.add(key("a"), Low, "resync");
    let item = ready(&queue).unwrap();
    assert_eq!((item.reason, item.waited), ("resync", Duration::ZERO));
    queue.finish(&key("a"), Finish::Done);
    advance(CAP).await;
    assert_eq!(name(&queue), None);
    assert_eq!(entries(&queue), 0);
}

#[tokio::test(start_paused = true)]
async fn an_addition_with_a_delay_while_it_runs_starts_to_count_at_the_addition() {
    let queue = queue();
    queue.add(key("a"), High, "change");
    ready(&queue);
    queue.add_after(key("a"), millis(50), Low, "timer");
    advance(millis(30)).await;
    queue.finish(&key("a"), Finish::Done);
    advance(millis(19)).await;
    assert_eq!(name(&queue), None);
    advance(millis(1)).await;
    assert_eq!(name(&queue).as_deref(), Some("a"));
}

#[tokio::test(start_paused = true)]
async fn an_endless_delay_is_no_overflow() {
    let queue = queue();
    queue.add_after(key("a"), Duration::MAX, Low, "timer");
    queue.add(key("b"), Low, "list");
    ready(&queue);
    queue.finish(&key("b"), Finish::After(Duration::MAX));
    assert!(timeout(Duration::from_hours(24), queue.next()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_million_additions_of_few_objects_leave_few_entries() {
    let queue = queue();
    for number in 0..1_000_000_u64 {
        let name = key(number % 10);
        match number % 4 {
            0 => queue.add(name, if number % 3 == 0 { High } else { Low }, "change"),
            1 => queue.add_after(name, Duration::from_nanos(2_000_000 - number), Low, "timer"),
            2 => queue.add_after(name, millis(number), High, "timer"),
            _ => {
                if let Some(item) = ready(&queue) {
                    queue.finish(&item.key, Finish::After(millis(number)));
                }
            }
        }
    }
    assert!(entries(&queue) <= 20, "{} entries for 10 objects", entries(&queue));
}

#[tokio::test(start_paused = true)]
async fn a_shorter_delay_reaches_the_worker_that_waits_for_a_longer_one() {
    let (queue, start) = (queue(), Instant::now());
    queue.add_after(key("long"), millis(500), Low, "timer");
    let mut next = Box::pin(arrival(&queue, start));
    assert!(next.as_mut().now_or_never().is_none());
    queue.add_after(key("short"), millis(50), Low, "timer");
    let (name, at) = next.await;
    assert!(name == "short" && at <= millis(52), "{name} after {at:?}");
}

#[tokio::test(start_paused = true)]
async fn a_worker_that_gives_up_waiting_takes_nothing_with_it() {
    let queue = queue();
    let mut first = Box::pin(queue.next());
    let mut second = Box::pin(queue.next());
    assert!(first.as_mut().now_or_never().is_none());
    assert!(second.as_mut().now_or_never().is_none());
    // Wakes the first, which goes away before it has looked.
    queue.add(key("a"), High, "change");
    drop(first);
    let item = timeout(millis(1), second).await.expect("the second is not woken").unwrap();
    assert_eq!(item.key, key("a"));
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_delay_is_not_missed_when_the_worker_that_knew_of_it_is_busy_or_gone() {
    let queue = queue();
    let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(queue.next())).collect();
    for next in &mut waiting {
        assert!(next.as_mut().now_or_never().is_none());
    }
    queue.add_after(key("late"), millis(50), Low, "timer");
    queue.add(key("now"), High, "change");
    let mut last = waiting.pop().unwrap();
    let busy = waiting.remove(0).await.unwrap();
    drop(waiting);
    assert_eq!(busy.key, key("now"));
    let item = timeout(millis(52), last.as_mut()).await.expect("the last one sleeps on");
    assert_eq!(item.map(|item| item.key), Some(key("late")));
}

#[tokio::test(start_paused = true)]
async fn items_added_together_reach_as_many_waiting_workers() {
    let queue = queue();
    let mut workers = JoinSet::new();
    for _ in 0..8 {
        let queue = queue.clone();
        workers.spawn(async move { queue.next().await.unwrap().key });
    }
    tokio::task::yield_now().await;
    for number in 0..8 {
        queue.add_after(key(number), millis(10 * (number % 2)), High, "change");
    }
    let keys = timeout(millis(20), workers.join_all()).await.expect("a worker sleeps on");
    assert_eq!(keys.into_iter().collect::<std::collections::HashSet<_>>().len(), 8);
}

#[tokio::test(start_paused = true)]
async fn forgetting_drops_delays_but_neither_what_is_ready_nor_what_runs() {
    let queue = queue();
    queue.add(key("running"), High, "change");
    ready(&queue);
    queue.add_after(key("running"), millis(10), High, "timer");
    queue.add_after(key("delayed"), millis(10), High, "timer");
    queue.add(key("ready"), High, "change");
    for name in ["running", "delayed", "ready", "unknown"] {
        queue.forget(&key(name));
    }
    advance(CAP).await;
    assert_eq!(names(&queue), ["ready"]);
    assert_eq!(queue.running().len(), 1);
    queue.finish(&key("running"), Finish::Wait);
    assert_eq!(entries(&queue), 0);
}

#[tokio::test(start_paused = true)]
async fn an_object_that_comes_back_while_the_pass_on_the_old_one_runs_is_looked_at() {
    let queue = queue();
    queue.add(key("a"), High, "change");
    ready(&queue);
    queue.forget(&key("a"));
    queue.add(key("a"), High, "change");
    queue.finish(&key("a"), Finish::Retry);
    assert_eq!(ready(&queue).map(|item| item.attempt), Some(1));
}

#[tokio::test(start_paused = true)]
async fn closing_wakes_all_who_wait_and_ends_the_queue() {
    let queue = queue();
    queue.add(key("running"), High, "change");
    ready(&queue);
    queue.add(key("running"), High, "change");
    let mut workers = JoinSet::new();
    for number in 0..8 {
        if number == 4 {
            queue.add_after(key("delayed"), CAP, Low, "timer");
        }
        let queue = queue.clone();
        workers.spawn(async move { queue.next().await });
        tokio::task::yield_now().await;
    }
    queue.close();
    let items = timeout(millis(1), workers.join_all()).await.expect("a worker sleeps on");
    assert_eq!(items, vec![None; 8]);
    queue.add(key("late"), High, "change");
    assert_eq!(queue.running().len(), 1);
    queue.finish(&key("running"), Finish::Retry);
    assert_eq!(timeout(CAP * 2, queue.next()).await, Ok(None));
    assert_eq!(entries(&queue), 0);
}

#[tokio::test(start_paused = true)]
async fn closing_drops_what_is_ready() {
    let queue = queue();
    queue.add(key("a"), High, "change");
    queue.close();
    assert_eq!(timeout(millis(1), queue.next()).await, Ok(None));
    assert_eq!(queue.stats().depth_high, 0);
}
