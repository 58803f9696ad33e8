//! How failing objects keep their distance.

use std::collections::HashMap;

use tokio::time::{sleep, timeout};

use super::*;

/// Adds the object at high priority and lets the pass fail.
fn fail(queue: &Queue, name: &str, finish: Finish) {
    queue.add(key(name), High, "change");
    let item = ready(queue).expect("the object is not ready");
    queue.finish(&item.key, finish);
}

#[tokio::test(start_paused = true)]
async fn failures_double_the_delay_up_to_the_cap_and_success_starts_afresh() {
    let backoff = Backoff::new(Duration::from_secs(2));
    let queue = Queue::new(backoff.clone());
    for finish in [Finish::Done, Finish::After(Duration::ZERO)] {
        queue.add(key("a"), High, "change");
        for failures in 0..14 {
            let item = queue.next().await.unwrap();
            assert_eq!(item.attempt, failures);
            if failures > 0 {
                assert_eq!((item.priority, item.reason), (Low, "retry"));
            }
            let start = Instant::now();
            queue.finish(&item.key, Finish::Retry);
            let delay = backoff.delay(&item.key, failures + 1);
            let nominal = millis(5 << failures).min(Duration::from_secs(2));
            assert!(delay.abs_diff(nominal) <= nominal / 5, "{delay:?} after {failures}");
            sleep(delay.saturating_sub(millis(2))).await;
            assert_eq!(name(&queue), None, "too early after {failures} failures");
            sleep((start + delay).saturating_duration_since(Instant::now())).await;
            assert_eq!(queue.stats().depth_low, 1, "too late after {failures} failures");
        }
        let item = ready(&queue).unwrap();
        assert_eq!(item.attempt, 14);
        queue.finish(&item.key, finish);
        queue.add(key("a"), High, "change");
        let item = ready(&queue).unwrap();
        assert_eq!(item.attempt, 0);
        queue.finish(&item.key, Finish::Done);
    }
    assert_eq!(queue.stats().retries, 28);
    assert_eq!(entries(&queue), 0);
}

#[tokio::test(start_paused = true)]
async fn a_success_that_asks_for_a_timer_comes_back_at_low_priority() {
    let queue = queue();
    fail(&queue, "a", Finish::Retry);
    queue.add(key("a"), High, "change");
    ready(&queue);
    queue.finish(&key("a"), Finish::After(millis(100)));
    advance(millis(99)).await;
    assert_eq!(name(&queue), None);
    advance(millis(1)).await;
    let item = ready(&queue).unwrap();
    assert_eq!((item.priority, item.reason, item.attempt), (Low, "timer", 0));
}

#[tokio::test(start_paused = true)]
async fn a_resync_does_not_cut_a_back_off_short_but_a_live_change_does() {
    let queue = queue();
    fail(&queue, "a", Finish::Retry);
    queue.add(key("a"), Low, "resync");
    queue.add_after(key("a"), millis(1), Low, "timer");
    advance(millis(2)).await;
    assert_eq!(name(&queue), None);
    queue.add(key("a"), High, "change");
    let item = ready(&queue).unwrap();
    assert_eq!((item.priority, item.reason, item.attempt), (High, "change", 1));
    // The same while it runs.
    queue.add(key("a"), Low, "resync");
    queue.finish(&key("a"), Finish::Retry);
    assert_eq!(name(&queue), None);
    advance(millis(11)).await;
    assert_eq!(ready(&queue).unwrap().reason, "retry");
}

#[tokio::test(start_paused = true)]
async fn a_second_live_change_within_a_second_waits_for_its_end() {
    for finish in [Finish::Retry, Finish::Wait] {
        let queue = queue();
        // So many failures that the back-off is long.
        for _ in 0..20 {
            queue.add(key("a"), High, "change");
            let item = queue.next().await.unwrap();
            queue.finish(&item.key, Finish::Retry);
        }
        advance(millis(2000)).await;
        fail(&queue, "a", finish);
        advance(millis(300)).await;
        queue.add(key("a"), High, "change");
        queue.add(key("a"), High, "change");
        advance(millis(699)).await;
        assert_eq!(name(&queue), None, "{finish:?}");
        advance(millis(1)).await;
        let item = ready(&queue).unwrap_or_else(|| panic!("the change is lost after {finish:?}"));
        assert_eq!((item.priority, item.reason), (High, "change"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_live_change_hurries_a_failing_object_that_has_waited_out_its_back_off() {
    let queue = queue();
    fail(&queue, "a", Finish::Retry);
    queue.add(key("other"), Low, "list");
    fail(&queue, "a", Finish::Retry);
    advance(millis(12)).await;
    queue.add(key("a"), High, "change");
    assert_eq!(ready(&queue).map(|item| (item.key, item.priority)), Some((key("a"), High)));
}

#[tokio::test(start_paused = true)]
async fn an_object_that_always_fails_and_is_always_changed_runs_about_once_a_second() {
    for finish in [Finish::Retry, Finish::Wait] {
        let queue = queue();
        queue.add(key("a"), High, "change");
        let mut passes = 0;
        let end = Instant::now() + Duration::from_mins(1);
        while Instant::now() < end {
            if let Ok(item) = timeout(millis(10), queue.next()).await {
                passes += 1;
                assert!(passes < 100, "a hot loop with {finish:?}");
                // The pass writes a status, and somebody else writes too.
                queue.add(key("a"), High, "change");
                queue.finish(&item.unwrap().key, finish);
            }
            queue.add(key("a"), High, "change");
        }
        // The first ones follow the back-off while it is shorter than a second.
        assert!((58..=72).contains(&passes), "{passes} passes a minute with {finish:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_server_that_asks_for_patience_gets_it_whatever_changes() {
    let queue = queue();
    fail(&queue, "a", Finish::Patience(millis(30_000)));
    for _ in 0..3 {
        advance(millis(9_000)).await;
        queue.add(key("a"), High, "change");
        assert_eq!(name(&queue), None);
    }
    advance(millis(3_000)).await;
    let item = ready(&queue).unwrap();
    assert_eq!((item.attempt, item.priority), (1, High));
    // One that always says "in a moment" is asked less and less often.
    for _ in 0..20 {
        queue.finish(&key("a"), Finish::Patience(millis(1)));
        advance(CAP + CAP).await;
        ready(&queue).unwrap();
    }
    queue.finish(&key("a"), Finish::Patience(millis(1)));
    advance(CAP / 2).await;
    assert_eq!(name(&queue), None);
}

#[tokio::test(start_paused = true)]
async fn a_terminal_failure_waits_for_any_addition_and_keeps_the_count() {
    for (priority, reason) in [(Low, "resync"), (High, "change")] {
        let queue = queue();
        fail(&queue, "a", Finish::Retry);
        advance(millis(10)).await;
        let item = ready(&queue).unwrap();
        queue.finish(&item.key, Finish::Wait);
        advance(CAP * 2).await;
        assert_eq!(name(&queue), None);
        queue.add(key("a"), priority, reason);
        let item = ready(&queue).unwrap();
        assert_eq!((item.priority, item.reason, item.attempt), (priority, reason, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn forgetting_an_object_forgets_its_failures() {
    for finish in [Finish::Retry, Finish::Wait] {
        let queue = queue();
        fail(&queue, "a", finish);
        queue.forget(&key("a"));
        assert_eq!(entries(&queue), 0);
        advance(CAP).await;
        assert_eq!(name(&queue), None);
        fail(&queue, "a", finish);
        queue.add(key("a"), High, "change");
        queue.forget(&key("a"));
        assert_eq!(ready(&queue).map(|item| item.attempt), Some(0));
    }
}

#[tokio::test(start_paused = true)]
async fn five_thousand_failing_objects_do_not_hold_up_five_thousand_healthy_ones() {
    // One worker at 1 ms a pass, while 5,000 retries a second are asked for: more than it can do.
    let queue = Queue::new(Backoff::new(Duration::from_secs(1)));
    for number in 0..5000 {
        queue.add(key(format!("failing-{number}")), Low, "list");
        queue.add(key(format!("healthy-{number}")), Low, "list");
    }
    let mut passes: HashMap<Key, u32> = HashMap::new();
    let mut slowest = Duration::ZERO;
    for pass in 0..40_000_u32 {
        if pass >= 20_000 && pass % 4 == 0 {
            queue.add(key(format!("healthy-{}", pass / 4 % 5000)), High, "change");
        }
        let item = queue.next().await.unwrap();
        sleep(millis(1)).await;
        let failing = item.key.name().starts_with("failing");
        queue.finish(&item.key, if failing { Finish::Retry } else { Finish::Done });
        if item.priority == High {
            slowest = slowest.max(item.waited);
        }
        *passes.entry(item.key).or_default() += 1;
    }
    let of = |prefix: &str| {
        let of = passes.iter().filter(|(key, _)| key.name().starts_with(prefix));
        let counts: Vec<u32> = of.map(|(_, &passes)| passes).collect();
        (counts.len(), counts.iter().min().copied(), counts.iter().max().copied())
    };
    assert_eq!(of("healthy"), (5000, Some(2), Some(2)));
    let (objects, fewest, most) = of("failing");
    assert!(objects == 5000 && fewest >= Some(5) && most <= Some(8), "{fewest:?} to {most:?}");
    assert!(slowest <= millis(2), "a live change waited for {slowest:?}");
}
