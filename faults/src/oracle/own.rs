//! V7: only our own objects are written to, and nothing is asked that is not permitted.

use crate::label::{self, Place};
use crate::plan::{Fault, Scenario};
use crate::run::Observed;
use crate::scenario::NAME;

/// What the API server itself refuses in a namespace that goes: one for each cache, and for each life of the
/// operator, because one that has just begun cannot know what its predecessor was told.
fn refusals(scenario: Scenario, fault: Option<Fault>) -> usize {
    match scenario {
        Scenario::Namespace => 1 + usize::from(fault.is_some_and(Fault::kills)),
        _ => 0,
    }
}

pub(super) fn judge(scenario: Scenario, fault: Option<Fault>, run: &Observed) -> Vec<String> {
    let mut wrong = Vec::new();
    for sent in run.sent.iter().filter(|sent| label::is_write(&sent.asked)) {
        let Place { resource, name, namespace, .. } = label::place(&sent.asked.path);
        let ours = match resource.as_str() {
            "memcacheds" | "deployments" | "services" => name == NAME,
            "events" => true,
            _ => false,
        };
        if !ours || namespace != run.namespace {
            wrong.push(format!("it wrote to {}", sent.asked.path));
        }
    }
    let refused: Vec<_> = run
        .sent
        .iter()
        .filter(|sent| sent.code == Some(403))
        .map(|sent| label::write(&sent.asked))
        .collect();
    if refused.len() > refusals(scenario, fault) {
        wrong.push(format!("{} requests were refused with 403: {refused:?}", refused.len()));
    }
    wrong
}
