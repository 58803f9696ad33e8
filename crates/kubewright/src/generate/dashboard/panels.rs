//! What is shown: one panel per question that somebody asks of a running operator.

/// A picture of one or more figures over time.
pub(super) struct Panel {
    pub(super) title: &'static str,
    /// What it says, and when to worry.
    pub(super) about: &'static str,
    /// The unit, as Grafana calls it.
    pub(super) unit: &'static str,
    /// Each expression with its legend.
    pub(super) expressions: Vec<(String, &'static str)>,
}

/// By rows.
pub(super) fn rows() -> [(&'static str, Vec<Panel>); 4] {
    [("Passes", passes()), ("Queue", queue()), ("API server", requests()), ("Process", process())]
}

fn passes() -> Vec<Panel> {
    vec![
        Panel {
            title: "Passes by result",
            about: "How many objects are looked at per second, and how that ends.",
            unit: "ops",
            expressions: vec![(
                rate("controller, result", "controller_runtime_reconcile_total", OF_CONTROLLERS),
                "{{controller}} {{result}}",
            )],
        },
        Panel {
            title: "Failures",
            about: "Passes that failed; those that are not repeated, panicked or took too long are also counted by themselves.",
            unit: "ops",
            expressions: vec![
                (rate_each("controller_runtime_reconcile_errors_total"), "{{controller}} failed"),
                (
                    rate_each("controller_runtime_terminal_reconcile_errors_total"),
                    "{{controller}} failed for good",
                ),
                (rate_each("controller_runtime_reconcile_panics_total"), "{{controller}} panicked"),
                (
                    rate_each("controller_runtime_reconcile_timeouts_total"),
                    "{{controller}} timed out",
                ),
            ],
        },
        Panel {
            title: "How long a pass takes",
            about: "Of all passes, half, 95 of 100 and 99 of 100 are at least as fast.",
            unit: "s",
            expressions: vec![
                (
                    quantile_each(0.5, "controller_runtime_reconcile_time_seconds"),
                    "{{controller}} 50 %",
                ),
                (
                    quantile_each(0.95, "controller_runtime_reconcile_time_seconds"),
                    "{{controller}} 95 %",
                ),
                (
                    quantile_each(0.99, "controller_runtime_reconcile_time_seconds"),
                    "{{controller}} 99 %",
                ),
            ],
        },
    ]
}

fn queue() -> Vec<Panel> {
    vec![
        Panel {
            title: "Objects that wait",
            about: "How many objects wait for a worker. A number that only grows means that the workers do not keep up.",
            unit: "short",
            expressions: vec![(sum_each("workqueue_depth"), "{{controller}}")],
        },
        Panel {
            title: "How long they wait",
            about: "From the moment an object is put into the queue to the moment a worker takes it.",
            unit: "s",
            expressions: vec![
                (quantile_each(0.5, "workqueue_queue_duration_seconds"), "{{controller}} 50 %"),
                (quantile_each(0.99, "workqueue_queue_duration_seconds"), "{{controller}} 99 %"),
            ],
        },
        Panel {
            title: "Objects that come, and come back",
            about: "What is put into the queue, and what is put there again because its pass failed.",
            unit: "ops",
            expressions: vec![
                (rate_each("workqueue_adds_total"), "{{controller}}"),
                (rate_each("workqueue_retries_total"), "{{controller}} again"),
            ],
        },
        Panel {
            title: "Workers",
            about: "How many passes run, and how many may. All of them busy while objects wait: raise --max-concurrent-reconciles.",
            unit: "short",
            expressions: vec![
                (sum_each("controller_runtime_active_workers"), "{{controller}} busy"),
                (
                    max_each("controller_runtime_max_concurrent_reconciles"),
                    "{{controller}} at most",
                ),
            ],
        },
        Panel {
            title: "The oldest pass that runs",
            about: "Near the deadline of a pass (30 s unless set): something it waits for does not answer.",
            unit: "s",
            expressions: vec![(
                max_each("workqueue_longest_running_processor_seconds"),
                "{{controller}}",
            )],
        },
        Panel {
            title: "Objects in the cache",
            about: "What the operator holds in memory, by kind.",
            unit: "short",
            expressions: vec![(max("kind", "kubewright_cached_objects", OF_JOBS), "{{kind}}")],
        },
    ]
}

fn requests() -> Vec<Panel> {
    vec![
        Panel {
            title: "Requests by answer",
            about: "403: the role lacks something. 409: somebody else writes the same objects. <error>: no answer at all.",
            unit: "reqps",
            expressions: vec![(
                rate("method, code", "rest_client_requests_total", OF_JOBS),
                "{{method}} {{code}}",
            )],
        },
        Panel {
            title: "How long an answer takes",
            about: "Until the head of the answer, 99 of 100.",
            unit: "s",
            expressions: vec![(
                quantile(0.99, "verb", "rest_client_request_duration_seconds", OF_JOBS),
                "{{verb}}",
            )],
        },
        Panel {
            title: "Watches that began again",
            about: "Where they had ended, which is usual, or with a list of all objects, which is dear.",
            unit: "ops",
            expressions: vec![
                (rate("kind", "kubewright_watch_restarts_total", OF_JOBS), "{{kind}}"),
                (rate("kind", "kubewright_watch_relists_total", OF_JOBS), "{{kind}} with a list"),
            ],
        },
    ]
}

fn process() -> Vec<Panel> {
    vec![
        Panel {
            title: "Who leads",
            about: "1 for the instance that works. None for long: nobody works.",
            unit: "short",
            expressions: vec![(
                max("name, instance", "leader_election_master_status", OF_JOBS),
                "{{name}} {{instance}}",
            )],
        },
        Panel {
            title: "Memory",
            about: "What the process has in memory.",
            unit: "bytes",
            expressions: vec![(
                r#"process_resident_memory_bytes{job=~"$job"}"#.to_owned(),
                "{{instance}}",
            )],
        },
        Panel {
            title: "Processor",
            about: "Cores in use.",
            unit: "short",
            expressions: vec![(
                r#"rate(process_cpu_seconds_total{job=~"$job"}[$__rate_interval])"#.to_owned(),
                "{{instance}}",
            )],
        },
        Panel {
            title: "Open files",
            about: "Connections are among them. A number that only grows is a leak.",
            unit: "short",
            expressions: vec![(r#"process_open_fds{job=~"$job"}"#.to_owned(), "{{instance}}")],
        },
        Panel {
            title: "Events that were not published",
            about: "Because too many were waiting.",
            unit: "ops",
            expressions: vec![(
                r#"sum(rate(kubewright_events_dropped_total{job=~"$job"}[$__rate_interval]))"#
                    .to_owned(),
                "dropped",
            )],
        },
    ]
}

const OF_JOBS: &str = r#"{job=~"$job"}"#;
const OF_CONTROLLERS: &str = r#"{job=~"$job",controller=~"$controller"}"#;

/// What a counter grows by in a second.
fn rate(by: &str, metric: &str, of: &str) -> String {
    format!("sum by ({by}) (rate({metric}{of}[$__rate_interval]))")
}

/// The same of each controller.
fn rate_each(metric: &str) -> String {
    rate("controller", metric, OF_CONTROLLERS)
}

/// What `share` of all that a histogram has seen does not exceed.
fn quantile(share: f32, by: &str, metric: &str, of: &str) -> String {
    let rates = rate(&format!("{by}, le"), &format!("{metric}_bucket"), of);
    format!("histogram_quantile({share}, {rates})")
}

/// The same of each controller.
fn quantile_each(share: f32, metric: &str) -> String {
    quantile(share, "controller", metric, OF_CONTROLLERS)
}

fn sum_each(metric: &str) -> String {
    format!("sum by (controller) ({metric}{OF_CONTROLLERS})")
}

fn max(by: &str, metric: &str, of: &str) -> String {
    format!("max by ({by}) ({metric}{of})")
}

fn max_each(metric: &str) -> String {
    max("controller", metric, OF_CONTROLLERS)
}
