//! Why the library says what it says: the reasons in the `Reconciled` condition and in its events.
//! They are an interface: scripts and alerts match on them, so a reason keeps its name for good.

use std::fmt;

macro_rules! reasons {
    ($($name:ident: $text:literal,)+) => {
        /// A reason that the library itself gives, in the `Reconciled` condition and in events.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Reason {
            $(#[doc = $text] $name,)+
        }

        impl Reason {
            /// All of them, in the order of their documentation.
            pub const ALL: &[Self] = &[$(Self::$name,)+];

            /// The reason as it stands in a condition or event.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$name => stringify!($name),)+ }
            }

            /// What it means, for the reference of an operator.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }
        }
    };
}

reasons! {
    Reconciled: "The last pass succeeded.",
    ReconcileFailed: "The last pass failed; the message says why. It is tried again with back-off.",
    Panicked: "The last pass panicked, which is a bug in the operator. It is tried again with back-off.",
    TimedOut: "The last pass took longer than it may and was ended. It is tried again with back-off.",
    NameTaken: "An object has the name of one that has to be created, and belongs to somebody else. It is left alone.",
    Undecodable: "The object is not of the form that the operator knows, so it cannot be reconciled until it is changed.",
    WrongNamespace: "An object was to be created in another namespace than its owner's, where it cannot be owned.",
    Forbidden: "The API server refused a request because the operator lacks a permission, or an admission rule denies it.",
    Invalid: "The API server refused an object as invalid. It is tried again when something changes.",
    Contested: "Somebody else keeps changing back what the operator has set.",
    ApiError: "The API server could not be reached or failed. It is tried again with back-off.",
    Conflict: "An object was changed by somebody else at the same time. It is tried again.",
    NotServed: "The cluster does not serve a kind that is needed.",
    Finalizing: "The object is being deleted, and what belongs to it is being cleaned up.",
    FinalizeFailed: "The object is being deleted, but cleaning up failed; the message says why. It is tried again with back-off.",
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.as_str())
    }
}

impl From<Reason> for String {
    fn from(reason: Reason) -> Self {
        reason.as_str().to_owned()
    }
}

impl From<Reason> for std::borrow::Cow<'static, str> {
    fn from(reason: Reason) -> Self {
        Self::Borrowed(reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::conditions::{self, Status};

    #[test]
    fn every_reason_is_legal_in_a_condition_and_in_an_event() {
        for reason in Reason::ALL {
            let mut given = vec![conditions::new("Reconciled", Status::False, *reason, "")];
            conditions::settle(&mut given, &[], None, jiff::Timestamp::UNIX_EPOCH);
            assert_eq!(given[0].reason, reason.to_string());
            assert!(reason.as_str().len() <= 128);
        }
    }

    #[test]
    fn no_two_reasons_are_the_same() {
        let names: HashSet<_> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        let texts: HashSet<_> = Reason::ALL.iter().map(|reason| reason.description()).collect();
        assert_eq!((names.len(), texts.len()), (Reason::ALL.len(), Reason::ALL.len()));
    }
}
