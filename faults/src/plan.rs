//! What is done to whom: a scenario, the write or event of it that is hit, and the fault. Pure; a plan is a
//! JSON file that says the same tomorrow.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What a user does while the fault happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scenario {
    /// Creates a cache.
    Create,
    /// Changes its size.
    Scale,
    /// Changes what its pods are made of.
    Config,
    /// Changes one child by hand and deletes the other.
    Drift,
    /// Deletes the cache.
    Delete,
    /// Deletes it and makes another of the same name.
    Recreate,
    /// Deletes the namespace that it is in.
    Namespace,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Create,
        Self::Scale,
        Self::Config,
        Self::Drift,
        Self::Delete,
        Self::Recreate,
        Self::Namespace,
    ];

    /// As it is written in ids.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Scale => "scale",
            Self::Config => "config",
            Self::Drift => "drift",
            Self::Delete => "delete",
            Self::Recreate => "recreate",
            Self::Namespace => "namespace",
        }
    }
}

/// The write or event that is hit: the `nth` (from 1) of those that look like `what`, since the user acted.
///
/// Not the n-th of all: two writes that are sent at the same time have no order.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A request that changes something, such as `PATCH deployments/cache`.
    Write {
        /// Method, resource, name, subresource.
        what: String,
        /// Which of them.
        nth: usize,
    },
    /// An event of a watch, such as `deployments MODIFIED`.
    Event {
        /// Resource and type.
        what: String,
        /// Which of them.
        nth: usize,
    },
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// SIGKILL before the write is sent.
    KillBefore,
    /// SIGKILL when the API server has done it, before the answer.
    KillAfterSend,
    /// SIGKILL after the answer.
    KillAfterAnswer,
    /// 409, and nothing is done.
    Conflict,
    /// 429 with `Retry-After: 1`.
    TooMany,
    /// 500.
    Internal,
    /// 503.
    Unavailable,
    /// 504 although it was done.
    TimedOutButDone,
    /// 403.
    Forbidden,
    /// The connection is closed before it is sent.
    Unsent,
    /// It is done, and the connection is closed before the answer.
    AnswerLost,
    /// It is done later than the client waits for it.
    Silence,
    /// It is done; half of the answer comes.
    Truncated,
    /// It is done; the answer comes at a byte per second.
    Slow,
    /// The leader is killed with this write on its way, another leads, and then the write arrives.
    LeaderChange,
    /// An event is not seen until another of the same object makes it obsolete.
    Hide,
    /// It and all behind it come 5 s later.
    Delay,
    /// It comes twice.
    Duplicate,
    /// It comes after the next one.
    Reorder,
    /// In its place the watch ends with 410.
    Expire,
    /// For 5 s nothing but bookmarks.
    Bookmarks,
    /// The watch breaks off before it.
    Disconnect,
    /// The watch ends with 410 and the list that follows is an old one.
    Stale,
}

impl Fault {
    /// What can happen to a write.
    pub const OF_WRITES: [Self; 15] = [
        Self::KillBefore,
        Self::KillAfterSend,
        Self::KillAfterAnswer,
        Self::Conflict,
        Self::TooMany,
        Self::Internal,
        Self::Unavailable,
        Self::TimedOutButDone,
        Self::Forbidden,
        Self::Unsent,
        Self::AnswerLost,
        Self::Silence,
        Self::Truncated,
        Self::Slow,
        Self::LeaderChange,
    ];

    /// What can happen to an event.
    pub const OF_EVENTS: [Self; 8] = [
        Self::Hide,
        Self::Delay,
        Self::Duplicate,
        Self::Reorder,
        Self::Expire,
        Self::Bookmarks,
        Self::Disconnect,
        Self::Stale,
    ];

    /// True if the operator's process ends by it.
    pub const fn kills(self) -> bool {
        matches!(
            self,
            Self::KillBefore | Self::KillAfterSend | Self::KillAfterAnswer | Self::LeaderChange
        )
    }
}

/// One run.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Plan {
    /// What the user does.
    pub scenario: Scenario,
    /// The number of the target in the recording of the clean run, for people.
    pub number: usize,
    /// What is hit.
    pub target: Target,
    /// By what.
    pub fault: Fault,
}

/// The id: `create.w3.kill-before`, `scale.e2.hide`.
impl fmt::Display for Plan {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = match self.target {
            Target::Write { .. } => 'w',
            Target::Event { .. } => 'e',
        };
        let fault = serde_json::to_value(self.fault).unwrap_or_default();
        let fault = fault.as_str().unwrap_or_default();
        write!(formatter, "{}.{letter}{}.{fault}", self.scenario.name(), self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_is_a_file_that_reads_as_it_was_written() {
        let target = Target::Write { what: "PATCH deployments/cache".to_owned(), nth: 1 };
        let plan =
            Plan { scenario: Scenario::Create, number: 2, target, fault: Fault::KillAfterSend };
        assert_eq!(plan.to_string(), "create.w2.kill-after-send");
        let text = serde_json::to_string_pretty(&plan).unwrap();
        assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }
}
