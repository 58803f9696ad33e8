//! What is ready for a worker: two lanes, first in, first out, and the choice between them.

use std::collections::BTreeMap;

use super::Priority;
use crate::key::Key;

/// How many items in a row may come from the high lane while the low one waits: enough that live
/// changes hardly notice the low ones, few enough that a resync moves under any load.
const HIGH_IN_A_ROW: u32 = 16;

/// The place of an item in its lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Ticket(u64);

/// The two lanes. Maps ordered by ticket rather than deques, because an item in the middle may move
/// to the other lane, and a hole left behind would have to be remembered.
#[derive(Default)]
pub(super) struct Lanes {
    high: BTreeMap<u64, Key>,
    low: BTreeMap<u64, Key>,
    tickets: u64,
    high_in_a_row: u32,
}

impl Lanes {
    /// Puts an item at the end of a lane.
    pub(super) fn push(&mut self, key: Key, priority: Priority) -> Ticket {
        let ticket = self.tickets;
        self.tickets += 1;
        self.lane(priority).insert(ticket, key);
        Ticket(ticket)
    }

    /// Takes the item whose turn it is.
    pub(super) fn pop(&mut self) -> Option<Key> {
        let low_turn = self.high.is_empty() || self.high_in_a_row >= HIGH_IN_A_ROW;
        if low_turn && let Some((_, key)) = self.low.pop_first() {
            self.high_in_a_row = 0;
            return Some(key);
        }
        let (_, key) = self.high.pop_first()?;
        self.high_in_a_row = self.high_in_a_row.saturating_add(1);
        Some(key)
    }

    /// Removes an item that is to wait elsewhere.
    pub(super) fn remove(&mut self, ticket: Ticket, priority: Priority) {
        self.lane(priority).remove(&ticket.0);
    }

    /// How many wait in the low and in the high lane.
    pub(super) fn depths(&self) -> (usize, usize) {
        (self.low.len(), self.high.len())
    }

    /// Takes out everything.
    pub(super) fn clear(&mut self) {
        self.high.clear();
        self.low.clear();
    }

    fn lane(&mut self, priority: Priority) -> &mut BTreeMap<u64, Key> {
        match priority {
            Priority::High => &mut self.high,
            Priority::Low => &mut self.low,
        }
    }
}
