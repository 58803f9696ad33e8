//! What the dashboard asks for is what a running operator counts.

use std::collections::BTreeSet;

use kubewright::generate::dashboard;
use kubewright_testenv::Env;

use crate::books::{Books, book};
use crate::world::reconciled;
use crate::{running, seen};

/// The metrics of an expression: the words before a brace that opens.
fn metrics(expression: &str) -> impl Iterator<Item = &str> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || "_:".contains(letter);
    let before = expression
        .split('{')
        .map(move |text| text.rsplit(|letter: char| !is_word(letter)).next().unwrap_or_default());
    let count = expression.matches('{').count();
    before.take(count)
}

/// What the panels ask Prometheus.
fn expressions() -> Vec<String> {
    let dashboard = dashboard::dashboard("book-operator");
    let panels = dashboard["panels"].as_array().unwrap().clone();
    let targets = panels.into_iter().filter_map(|panel| panel["targets"].as_array().cloned());
    targets.flatten().map(|target| target["expr"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_metrics_of_an_expression_are_found() {
    let found: Vec<_> = metrics("sum by (a) (rate(b_total{c=~\"$d\"}[5m])) / e{f=\"g\"}").collect();
    assert_eq!(found, ["b_total", "e"]);
}

#[kubewright_testenv::test]
async fn every_metric_of_the_dashboard_is_there(env: Env) {
    let port = seen::free_port();
    let operator = running::start::<Books>(&env, running::measured(&env, port)).await;
    env.create(book("a")).await;
    reconciled(&env, "a", "True", "Reconciled").await;
    let text = seen::answers(&env, port, "/metrics", 200).await;
    let series = text.lines().filter(|line| !line.starts_with('#'));
    let there: BTreeSet<_> = series.filter_map(|line| line.split(['{', ' ']).next()).collect();
    let mut asked = BTreeSet::new();
    for expression in &expressions() {
        let found: Vec<_> = metrics(expression).map(str::to_owned).collect();
        assert!(!found.is_empty(), "{expression}");
        asked.extend(found);
    }
    asked.retain(|name| !there.contains(name.as_str()));
    let missing = asked;
    assert!(missing.is_empty(), "{missing:?} of\n{text}");
    operator.stop().await;
}
