//! Where an object comes from, and what follows for what is held already. Pure.

use crate::queue::Priority;

/// Where an object comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A list, in the round that [`super::Store::begin`] began.
    Listed(Round),
    /// A watch.
    Live,
    /// The answer to a write of our own, or a read that prepared one.
    Own,
}

/// One listing of one scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Round {
    pub(super) epoch: u64,
    /// The newest that was known when the listing was asked for.
    pub(super) newest: u64,
    /// What the listing's data is of.
    pub(super) version: u64,
}

impl Round {
    /// Who lists had reached this version before, whatever the others of this store have seen since.
    pub(crate) fn since(self, reached: u64) -> Self {
        Self { newest: self.newest.max(reached), ..self }
    }

    /// The listing's data is of this version.
    pub(crate) fn of_version(self, version: u64) -> Self {
        Self { version, ..self }
    }

    /// The newest that was known when it was asked for.
    pub(crate) fn newest(self) -> u64 {
        self.newest
    }

    /// The server's data is older than what was known: it was restored from a backup.
    pub(crate) fn is_rewound(self) -> bool {
        self.version != 0 && self.version < self.newest
    }

    /// The object is listed as older than it was before the time of the listing: that was in a history
    /// that has not happened, whatever the count is now.
    fn denies(self, held: u64, listed: u64) -> bool {
        self.is_rewound() || (listed < held && held <= self.version)
    }
}

impl Arrival {
    /// It counts although it is older than what is held.
    pub(super) fn denies(self, held: u64, version: u64) -> bool {
        matches!(self, Self::Listed(round) if round.denies(held, version))
    }

    pub(super) fn is_rewound(self) -> bool {
        matches!(self, Self::Listed(round) if round.is_rewound())
    }

    /// What has been failing over a history that was taken back need not wait for its retry.
    pub(super) fn priority(self) -> Priority {
        if self == Self::Live || self.is_rewound() { Priority::High } else { Priority::Low }
    }
}
