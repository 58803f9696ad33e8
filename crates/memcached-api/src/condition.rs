//! The conditions of a `Memcached` and their reasons. Both are an interface: scripts and alerts match on
//! them, so they keep their names for good. The library's own condition `Reconciled` comes on top.

macro_rules! words {
    ($(#[$about:meta])* $name:ident { $($variant:ident: $text:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = $text] $variant,)+
        }

        impl $name {
            /// All of them, in the order of their documentation.
            pub const ALL: &[Self] = &[$(Self::$variant,)+];

            /// The word as it stands in a condition.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => stringify!($variant),)+ }
            }

            /// What it means.
            pub const fn description(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.as_str().to_owned()
            }
        }
    };
}

words! {
    /// The types of the conditions.
    ConditionType {
        Available: "All instances that are wanted are ready.",
        Progressing: "The instances are being brought to what the spec says.",
        Degraded: "Something keeps the instances from what the spec says, and it will not pass by itself.",
    }
}

words! {
    /// Why a condition is what it is.
    Reason {
        AllReady: "All instances that are wanted are ready.",
        NoneWanted: "The size is 0, so that there is nothing to wait for.",
        NotReady: "Fewer instances are ready than are wanted.",
        RollingOut: "The Deployment replaces or adds instances.",
        Stopping: "There are more instances than are wanted; they are being stopped.",
        Complete: "The instances are as the spec says.",
        Stalled: "The Deployment makes no progress; the message says what it reports.",
        ReplicaFailure: "Pods cannot be created, for example because of a quota; the message says why.",
        PodFailing: "A pod cannot start or keeps failing; the message names it and says why.",
        AsExpected: "Nothing is wrong.",
        Finalizing: "The object is being deleted.",
        Failed: "The last pass failed; the condition Reconciled says why.",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_words_are_the_same() {
        let reasons: HashSet<_> = Reason::ALL.iter().map(|reason| reason.as_str()).collect();
        assert_eq!(reasons.len(), Reason::ALL.len());
        assert!(Reason::ALL.iter().all(|reason| !reason.description().is_empty()));
        assert!(ConditionType::ALL.iter().all(|type_| !type_.description().is_empty()));
    }
}
