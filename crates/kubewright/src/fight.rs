//! Fights: who puts a field back again and again is fighting somebody. Decides when to stop for a while.
//! No IO; time comes in.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use crate::key::Key;

/// A field that was put back more often than this within [`WINDOW`] is fought over.
const LIMIT: usize = 5;
const WINDOW: Duration = Duration::from_mins(1);
/// How long nothing is written then; doubles with every fight that follows.
const FIRST_HOLD: Duration = Duration::from_mins(1);
const LONGEST_HOLD: Duration = Duration::from_mins(16);
/// A bound; what has rested longest is forgotten first.
const MOST: usize = 1024;

/// One field of one object.
type Field = (String, Key, String);

#[derive(Default)]
struct Fight {
    put_back: Vec<Instant>,
    held_until: Option<Instant>,
    holds: u32,
    /// Who the other side is, once it was looked up.
    opponent: Option<String>,
}

/// The fields that were put back lately.
#[derive(Default)]
pub(crate) struct Fights(Mutex<HashMap<Field, Fight>>);

/// Whether a field may be put back now.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It may.
    PutBack,
    /// It was put back too often; nothing is written for this long. With the other side, if known.
    Hold(Duration, Option<String>),
}

impl Fights {
    /// Somebody changed `field`; counts putting it back, unless that is a fight.
    pub(crate) fn judge(&self, kind: &str, key: &Key, field: &str, now: Instant) -> Verdict {
        let mut fights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if fights.len() >= MOST {
            forget_oldest(&mut fights);
        }
        let fight = fights.entry((kind.into(), key.clone(), field.into())).or_default();
        if let Some(until) = fight.held_until.filter(|until| *until > now) {
            return Verdict::Hold(until - now, fight.opponent.clone());
        }
        let rested = fight.put_back.last().is_none_or(|last| now - *last > LONGEST_HOLD * 2);
        if rested {
            fight.holds = 0;
        }
        fight.put_back.retain(|at| now - *at < WINDOW);
        if fight.put_back.len() >= LIMIT {
            let hold = FIRST_HOLD.saturating_mul(1 << fight.holds.min(8)).min(LONGEST_HOLD);
            fight.holds += 1;
            fight.held_until = Some(now + hold);
            fight.opponent = None;
            return Verdict::Hold(hold, None);
        }
        fight.put_back.push(now);
        Verdict::PutBack
    }

    /// Remembers who the other side is, so that it is looked up once per fight.
    pub(crate) fn name(&self, kind: &str, key: &Key, field: &str, opponent: &str) {
        let mut fights = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fight) = fights.get_mut(&(kind.into(), key.clone(), field.into())) {
            fight.opponent = Some(opponent.to_owned());
        }
    }
}

fn forget_oldest(fights: &mut HashMap<Field, Fight>) {
    let last = |fight: &Fight| fight.held_until.max(fight.put_back.last().copied());
    let oldest = fights.iter().min_by_key(|(_, fight)| last(fight)).map(|(field, _)| field.clone());
    if let Some(oldest) = oldest {
        fights.remove(&oldest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(fights: &Fights, field: &str, now: Instant) -> Verdict {
        fights.judge("Deployment", &Key::new("a", "b"), field, now)
    }

    #[tokio::test]
    async fn the_sixth_time_in_a_minute_is_a_fight() {
        let (fights, start) = (Fights::default(), Instant::now());
        for second in 0..5 {
            let now = start + Duration::from_secs(second);
            assert_eq!(judge(&fights, "spec.replicas", now), Verdict::PutBack);
        }
        let now = start + Duration::from_secs(6);
        assert_eq!(judge(&fights, "spec.replicas", now), Verdict::Hold(FIRST_HOLD, None));
        assert_eq!(judge(&fights, "spec.paused", now), Verdict::PutBack, "another field");
    }

    #[tokio::test]
    async fn a_fight_that_goes_on_is_held_longer_each_time() {
        let (fights, mut now) = (Fights::default(), Instant::now());
        let mut holds = Vec::new();
        while holds.len() < 7 {
            match judge(&fights, "spec.replicas", now) {
                Verdict::PutBack => now += Duration::from_secs(1),
                Verdict::Hold(hold, _) => {
                    holds.push(hold.as_secs() / 60);
                    now += hold;
                }
            }
        }
        assert_eq!(holds, [1, 2, 4, 8, 16, 16, 16]);
    }

    #[tokio::test]
    async fn once_every_20_seconds_is_no_fight() {
        let (fights, start) = (Fights::default(), Instant::now());
        for round in 0..100 {
            let now = start + Duration::from_secs(20 * round);
            assert_eq!(judge(&fights, "spec.replicas", now), Verdict::PutBack);
        }
    }

    #[tokio::test]
    async fn what_is_remembered_is_bounded() {
        let (fights, start) = (Fights::default(), Instant::now());
        for number in 0..3000_u64 {
            let now = start + Duration::from_millis(number);
            judge(&fights, &number.to_string(), now);
        }
        assert!(fights.0.lock().unwrap().len() <= MOST);
    }
}
