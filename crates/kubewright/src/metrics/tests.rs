//! What a scrape prints.

#![expect(clippy::float_cmp, reason = "what is put in comes out as it was")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use super::*;

/// A scrape as series -> value; fails on anything that is not well-formed or is there twice.
fn scrape(metrics: &Metrics) -> BTreeMap<String, f64> {
    let text = metrics.render();
    assert!(text.ends_with("# EOF\n"), "no end in\n{text}");
    let mut series = BTreeMap::new();
    let mut families = BTreeSet::new();
    for line in text.lines() {
        if let Some(family) = line.strip_prefix("# TYPE ") {
            assert!(families.insert(family.to_owned()), "{family} is there twice");
        }
        if line.starts_with('#') {
            continue;
        }
        let (name, value) = line.rsplit_once(' ').unwrap();
        let before = series.insert(name.to_owned(), value.parse().unwrap());
        assert_eq!(before, None, "{name} is there twice");
    }
    series
}

fn everything() -> Metrics {
    let metrics = Metrics::new();
    metrics.controller("guestbook", 4).finished(ReconcileResult::Success, Duration::ZERO);
    metrics.queue("guestbook", QueueStats::default).waited(Duration::ZERO);
    metrics.leader("lease", || true);
    metrics.requests().answered("GET", "host:443", "200", Duration::ZERO);
    metrics.watch("Pod");
    metrics.cached("Pod", || 3);
    metrics
}

#[test]
fn the_names_are_exactly_those_that_dashboards_ask_for() {
    let series = scrape(&everything());
    let names: BTreeSet<_> = series.keys().map(|key| key.split('{').next().unwrap()).collect();
    let expected = "
        controller_runtime_active_workers controller_runtime_max_concurrent_reconciles
        controller_runtime_reconcile_errors_total controller_runtime_reconcile_panics_total
        controller_runtime_reconcile_time_seconds_bucket
        controller_runtime_reconcile_time_seconds_count controller_runtime_reconcile_time_seconds_sum
        controller_runtime_reconcile_timeouts_total controller_runtime_reconcile_total
        controller_runtime_terminal_reconcile_errors_total
        kubewright_cached_objects kubewright_events_dropped_total
        kubewright_watch_relists_total kubewright_watch_restarts_total
        leader_election_master_status
        process_cpu_seconds_total process_open_fds process_resident_memory_bytes
        process_start_time_seconds
        rest_client_request_duration_seconds_bucket rest_client_request_duration_seconds_count
        rest_client_request_duration_seconds_sum rest_client_requests_total
        workqueue_adds_total workqueue_depth workqueue_longest_running_processor_seconds
        workqueue_queue_duration_seconds_bucket workqueue_queue_duration_seconds_count
        workqueue_queue_duration_seconds_sum workqueue_retries_total
        workqueue_unfinished_work_seconds workqueue_work_duration_seconds_bucket
        workqueue_work_duration_seconds_count workqueue_work_duration_seconds_sum";
    assert_eq!(names, expected.split_ascii_whitespace().collect());
}

#[test]
fn a_controller_that_has_done_nothing_has_all_its_series() {
    let metrics = Metrics::new();
    let _controller = metrics.controller("guestbook", 4);
    let series = scrape(&metrics);
    for result in ["error", "requeue", "requeue_after", "success"] {
        let name = format!(
            r#"controller_runtime_reconcile_total{{controller="guestbook",result="{result}"}}"#
        );
        assert_eq!(series.get(&name), Some(&0.0), "{name}");
    }
    let workers = r#"controller_runtime_max_concurrent_reconciles{controller="guestbook"}"#;
    assert_eq!(series[workers], 4.0);
    let buckets = series.keys().filter(|key| key.contains("reconcile_time_seconds_bucket"));
    assert_eq!(buckets.count(), 41, "40 and +Inf");
}

#[test]
fn a_pass_is_counted_by_how_it_ended() {
    let metrics = Metrics::new();
    let controller = metrics.controller("guestbook", 1);
    controller.started();
    controller.started();
    controller.finished(ReconcileResult::Error, Duration::from_millis(20));
    controller.terminal_error();
    controller.panicked();
    controller.timed_out();
    let series = scrape(&metrics);
    let of =
        |name: &str| series[&format!(r#"controller_runtime_{name}{{controller="guestbook"}}"#)];
    assert_eq!(of("active_workers"), 1.0);
    assert_eq!(of("reconcile_errors_total"), 1.0);
    assert_eq!(of("terminal_reconcile_errors_total"), 1.0);
    assert_eq!(of("reconcile_panics_total"), 1.0);
    assert_eq!(of("reconcile_timeouts_total"), 1.0);
    assert_eq!(of("reconcile_time_seconds_sum"), 0.02);
    let error = r#"controller_runtime_reconcile_total{controller="guestbook",result="error"}"#;
    assert_eq!(series[error], 1.0);
}

#[test]
fn a_queue_is_asked_at_every_scrape() {
    let metrics = Metrics::new();
    let depth = Arc::new(AtomicUsize::new(1));
    let asked = Arc::clone(&depth);
    let _queue = metrics.queue("guestbook", move || QueueStats {
        depth_low: 7,
        depth_high: asked.load(Ordering::Relaxed),
        adds: 9,
        retries: 2,
        unfinished: Duration::from_millis(1500),
        longest: Duration::from_secs(1),
    });
    scrape(&metrics);
    depth.store(5, Ordering::Relaxed);
    let series = scrape(&metrics);
    let labels = r#"name="guestbook",controller="guestbook""#;
    assert_eq!(series[&format!(r#"workqueue_depth{{{labels},priority="0"}}"#)], 5.0);
    assert_eq!(series[&format!(r#"workqueue_depth{{{labels},priority="-100"}}"#)], 7.0);
    assert_eq!(series[&format!("workqueue_adds_total{{{labels}}}")], 9.0);
    assert_eq!(series[&format!("workqueue_retries_total{{{labels}}}")], 2.0);
    assert_eq!(series[&format!("workqueue_unfinished_work_seconds{{{labels}}}")], 1.5);
    assert_eq!(series[&format!("workqueue_longest_running_processor_seconds{{{labels}}}")], 1.0);
}

#[test]
fn what_is_registered_again_replaces_what_was_there() {
    let metrics = everything();
    metrics.queue("guestbook", || QueueStats { adds: 1, ..QueueStats::default() });
    metrics.cached("Pod", || 8);
    let leading = Arc::new(AtomicBool::new(false));
    metrics.leader("lease", move || leading.load(Ordering::Relaxed));
    let series = scrape(&metrics);
    assert_eq!(series[r#"workqueue_adds_total{name="guestbook",controller="guestbook"}"#], 1.0);
    assert_eq!(series[r#"kubewright_cached_objects{kind="Pod"}"#], 8.0);
    assert_eq!(series[r#"leader_election_master_status{name="lease"}"#], 0.0);
}

#[test]
fn watches_events_and_requests_are_counted() {
    let metrics = Metrics::new();
    let watch = metrics.watch("Pod");
    watch.restarted();
    watch.restarted();
    watch.relisted();
    metrics.events_dropped();
    metrics.requests().answered("PATCH", "host:443", "<error>", Duration::from_secs(10));
    let series = scrape(&metrics);
    assert_eq!(series[r#"kubewright_watch_restarts_total{kind="Pod"}"#], 2.0);
    assert_eq!(series[r#"kubewright_watch_relists_total{kind="Pod"}"#], 1.0);
    assert_eq!(series["kubewright_events_dropped_total"], 1.0);
    let request = r#"rest_client_requests_total{code="<error>",method="PATCH",host="host:443"}"#;
    assert_eq!(series[request], 1.0);
    let duration = r#"rest_client_request_duration_seconds_sum{verb="PATCH",host="host:443"}"#;
    assert_eq!(series[duration], 10.0);
}

#[test]
fn the_process_is_measured() {
    let series = scrape(&Metrics::new());
    assert!(series["process_resident_memory_bytes"] > 100_000.0);
    assert!(series["process_open_fds"] >= 3.0);
    let started = series["process_start_time_seconds"];
    let now = std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64();
    assert!((0.0..86_400.0).contains(&(now - started)), "started at {started}, it is {now}");
}
