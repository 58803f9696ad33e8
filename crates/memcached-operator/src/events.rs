//! Which changes are published as events, from the same conditions that the status has. Pure.
//!
//! The failure of a pass is the library's to publish, and is not repeated here.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::conditions;
use memcached_api::condition::{ConditionType, Reason};
use memcached_api::v1alpha1::MemcachedStatus;

/// News for people.
#[derive(Debug, PartialEq)]
pub(crate) enum News {
    /// The cache became available.
    Available(String),
    /// Something broke, and why.
    Degraded(Reason, String),
}

/// What changed between two statuses that people want to know.
pub(crate) fn news(before: Option<&MemcachedStatus>, now: &MemcachedStatus) -> Vec<News> {
    let before = before.map(|status| status.conditions.as_slice()).unwrap_or_default();
    let began = |type_: ConditionType| {
        let holds = |list: &[Condition]| conditions::is_true(list, type_.as_str());
        let condition = conditions::find(&now.conditions, type_.as_str());
        condition.filter(|_| holds(&now.conditions) && !holds(before))
    };
    let available = began(ConditionType::Available)
        .filter(|condition| condition.reason == Reason::AllReady.as_str())
        .map(|condition| News::Available(condition.message.clone()));
    let degraded = began(ConditionType::Degraded).and_then(|condition| {
        let own = [Reason::ReplicaFailure, Reason::Stalled, Reason::PodFailing];
        let reason = own.into_iter().find(|reason| reason.as_str() == condition.reason)?;
        Some(News::Degraded(reason, condition.message.clone()))
    });
    available.into_iter().chain(degraded).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(available: bool, degraded: &str) -> MemcachedStatus {
        let ready = if available { Reason::AllReady } else { Reason::NotReady };
        let conditions = vec![
            conditions::new("Available", available, ready, "3 of 3"),
            conditions::new("Degraded", !degraded.is_empty(), degraded, "why"),
        ];
        MemcachedStatus { conditions, ..MemcachedStatus::default() }
    }

    #[test]
    fn only_what_begins_is_news() {
        let available = News::Available("3 of 3".to_owned());
        assert_eq!(news(None, &status(true, "")), [available]);
        assert_eq!(news(Some(&status(true, "")), &status(true, "")), []);
        assert_eq!(news(Some(&status(true, "")), &status(false, "")), []);
        let broken = News::Degraded(Reason::PodFailing, "why".to_owned());
        assert_eq!(news(Some(&status(false, "")), &status(false, "PodFailing")), [broken]);
        assert_eq!(news(Some(&status(false, "PodFailing")), &status(false, "Stalled")), []);
    }

    #[test]
    fn the_failure_of_a_pass_is_left_to_the_library() {
        assert_eq!(news(None, &status(false, "NameTaken")), []);
    }
}
