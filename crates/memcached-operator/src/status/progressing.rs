//! The condition `Progressing`: the instances are being brought to what the spec says.
//!
//! | the pass | the Deployment | pods | status | reason |
//! |---|---|---|---|---|
//! | failed | | | False | `Failed` |
//! | applied | stalled | | False | `Stalled` |
//! | applied | | more than wanted | True | `Stopping` |
//! | applied | under way | | True | `RollingOut` |
//! | applied | | fewer ready than wanted | True | `RollingOut` |
//! | applied | complete | all ready | False | `Complete` |

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kubewright::conditions;
use kubewright::rollout::Rollout;
use memcached_api::condition::{ConditionType, Reason};

use crate::reconcile::gather::Observed;

pub(super) fn progressing(
    wanted: i32,
    observed: &Observed,
    rollout: Option<&Rollout>,
) -> Condition {
    let (total, ready) = (observed.total(), observed.ready());
    let (holds, reason, message) = match rollout {
        None => (false, Reason::Failed, "the last pass failed".to_owned()),
        Some(Rollout { stalled: Some(report), .. }) => (false, Reason::Stalled, report.clone()),
        Some(_) if total > wanted => {
            (true, Reason::Stopping, format!("{total} instances run and {wanted} are wanted"))
        }
        Some(rollout) if rollout.is_under_way || ready < wanted => {
            (true, Reason::RollingOut, format!("{ready} of {wanted} instances are ready"))
        }
        Some(_) => (false, Reason::Complete, "the instances are as the spec says".to_owned()),
    };
    conditions::new(ConditionType::Progressing, holds, reason, message)
}
