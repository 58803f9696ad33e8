//! Conditions of a status: how an author states them, and how the library completes them.
//!
//! A status function states what is the case, without a clock and without a look at the status
//! before; the library adds since when, and for which generation, and sees to it that the result
//! passes the schema of `metav1.Condition`. Nothing here sends a request.

mod legal;
pub(crate) mod text;

use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Where a status keeps its conditions, so that the library can report there how a pass went.
///
/// ```
/// use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
/// use kubewright::conditions::Conditions;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Default, PartialEq, Serialize, Deserialize)]
/// struct GuestbookStatus {
///     #[serde(default)]
///     conditions: Vec<Condition>,
/// }
///
/// impl Conditions for GuestbookStatus {
///     fn conditions(&mut self) -> &mut Vec<Condition> {
///         &mut self.conditions
///     }
/// }
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is used as a status but has no conditions",
    note = "add `conditions: Vec<Condition>` and `impl Conditions for {Self}`"
)]
pub trait Conditions:
    Default + Clone + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static
{
    /// The types of the conditions that a new object has as `Unknown`, by a default in its definition:
    /// whoever waits for one finds it before the operator has seen the object, and without one. Every
    /// other field of the status must then be optional.
    const INITIAL: &'static [&'static str] = &[];

    /// The list, to be read and changed.
    fn conditions(&mut self) -> &mut Vec<Condition>;
}

/// Whether a condition holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// It does.
    True,
    /// It does not.
    False,
    /// It cannot be told.
    Unknown,
}

impl Status {
    /// The status as it stands in a condition.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

impl From<bool> for Status {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// A condition as the author of an operator states it. Since when it holds, and for which generation,
/// is filled in when the status is written.
///
/// ```
/// use kubewright::conditions::{self, Status};
///
/// let available = conditions::new("Available", Status::True, "AllReady", "3 of 3 pods are ready");
/// assert!(conditions::is_true(&[available], "Available"));
/// ```
pub fn new(
    type_: impl Into<String>,
    status: impl Into<Status>,
    reason: impl Into<String>,
    message: impl Into<String>,
) -> Condition {
    Condition {
        type_: type_.into(),
        status: status.into().as_str().to_owned(),
        reason: reason.into(),
        message: message.into(),
        last_transition_time: Time(Timestamp::UNIX_EPOCH),
        observed_generation: None,
    }
}

/// The condition of a type.
pub fn find<'a>(conditions: &'a [Condition], type_: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.type_ == type_)
}

/// True if there is a condition of this type and it holds.
pub fn is_true(conditions: &[Condition], type_: &str) -> bool {
    find(conditions, type_).is_some_and(|condition| condition.status == Status::True.as_str())
}

/// Puts a condition in the place of the one of its type, or at the end.
pub(crate) fn set(conditions: &mut Vec<Condition>, condition: Condition) {
    match conditions.iter_mut().find(|other| other.type_ == condition.type_) {
        Some(other) => *other = condition,
        None => conditions.push(condition),
    }
}

/// Completes what an author stated, given the conditions `before`.
///
/// # Guarantees
/// - The time of the last transition is that of the condition before while the status is the same,
///   else `now`; what the author put there does not count.
/// - The observed generation is `generation` where the author left it out.
/// - Of several conditions of one type the last one wins, in the place of the first.
/// - Each condition passes the schema of `metav1.Condition`, whatever the author wrote.
pub(crate) fn settle(
    new: &mut Vec<Condition>,
    before: &[Condition],
    generation: Option<i64>,
    now: Timestamp,
) {
    let stated = std::mem::take(new);
    for mut condition in stated {
        legal::make(&mut condition);
        let since = find(before, &condition.type_)
            .filter(|old| old.status == condition.status)
            .map_or(now, |old| old.last_transition_time.0);
        condition.last_transition_time = Time(since);
        condition.observed_generation = condition.observed_generation.or(generation);
        set(new, condition);
    }
}

#[cfg(test)]
mod tests;
