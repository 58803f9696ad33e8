//! When the self-made certificate is renewed, and in which steps. Pure.
//!
//! ```text
//!            serves   trusted        until
//! steady     old      old            two thirds of its life are over
//! prepared   old      old, new       all API servers and replicas know of the new authority
//! promoted   new      old, new       all replicas serve the new certificate
//! steady     new      new
//! ```
//!
//! At every moment, each replica serves a certificate that every API server trusts, whichever of two
//! neighbouring states it has seen.

use std::time::Duration;

use jiff::Timestamp;

use super::certificate::{Made, Pair};

/// Clocks differ, but not by so much: what was written by one that is further ahead would not be renewed in time.
const TOMORROW: Duration = Duration::from_hours(24);

/// How long things last.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timing {
    /// The life of a certificate, in days.
    pub(crate) days: i32,
    /// How long a state lasts in which two authorities are trusted. News take seconds.
    pub(crate) overlap: Duration,
}

impl std::default::Default for Timing {
    fn default() -> Self {
        Self { days: 90, overlap: Duration::from_mins(2) }
    }
}

/// What the Secret keeps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Kept {
    /// The certificates of the authorities that are trusted, oldest first.
    pub(super) authorities: Vec<String>,
    pub(super) serving: Pair,
    /// Will be served next.
    pub(super) next: Option<Pair>,
    /// When a new one is made.
    pub(super) renew_after: Timestamp,
    pub(super) not_after: Timestamp,
    /// Since when it is so.
    pub(super) since: Timestamp,
}

/// What to do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing for so long.
    Wait(Duration),
    /// Nobody can be called any more: begin anew.
    Replace,
    /// Make the next certificate, and trust its authority.
    Prepare,
    /// Serve the next certificate.
    Promote,
    /// Trust the last authority only.
    Forget,
}

impl Kept {
    /// Begins with a new certificate.
    pub(super) fn begin(made: Made, now: Timestamp, timing: Timing) -> Self {
        let Made { authority, pair } = made;
        let (renew_after, not_after) = ends(now, timing);
        Self {
            authorities: vec![authority],
            serving: pair,
            next: None,
            renew_after,
            not_after,
            since: now,
        }
    }

    pub(super) fn step(&self, now: Timestamp, timing: Timing) -> Step {
        let left = |until: Timestamp| Duration::try_from(until - now).unwrap_or_default();
        let overlapped = self.since + timing.overlap;
        if now >= self.not_after || self.since > now + TOMORROW {
            Step::Replace
        } else if self.next.is_some() {
            if now >= overlapped { Step::Promote } else { Step::Wait(left(overlapped)) }
        } else if self.authorities.len() > 1 {
            if now >= overlapped { Step::Forget } else { Step::Wait(left(overlapped)) }
        } else if now >= self.renew_after {
            Step::Prepare
        } else {
            Step::Wait(left(self.renew_after))
        }
    }

    pub(super) fn prepared(&self, made: Made, now: Timestamp) -> Self {
        let mut kept = Self { next: Some(made.pair), since: now, ..self.clone() };
        kept.authorities.push(made.authority);
        kept
    }

    pub(super) fn promoted(&self, now: Timestamp, timing: Timing) -> Self {
        // It was made when the state began.
        let (renew_after, not_after) = ends(self.since, timing);
        let serving = self.next.clone().unwrap_or_else(|| self.serving.clone());
        Self { serving, next: None, renew_after, not_after, since: now, ..self.clone() }
    }

    pub(super) fn forgotten(&self, now: Timestamp) -> Self {
        let last = self.authorities.last().cloned().into_iter().collect();
        Self { authorities: last, since: now, ..self.clone() }
    }
}

/// When a certificate that was made at `made` is renewed, and when it ends; both a little early.
fn ends(made: Timestamp, timing: Timing) -> (Timestamp, Timestamp) {
    let days = |count: i32| Duration::from_hours(24) * count.unsigned_abs();
    (made + days(timing.days * 2 / 3), made + days(timing.days - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMING: Timing = Timing { days: 90, overlap: Duration::from_secs(100) };

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_800_000_000 + seconds).unwrap()
    }

    fn made(name: &str) -> Made {
        let pair = Pair { certificate: format!("certificate {name}"), key: String::new() };
        Made { authority: format!("authority {name}"), pair }
    }

    fn served(kept: &Kept) -> &str {
        kept.serving.certificate.strip_prefix("certificate ").unwrap()
    }

    #[test]
    fn a_renewal_trusts_both_before_it_serves_the_new_one() {
        let day = 24 * 3600;
        let old = Kept::begin(made("old"), at(0), TIMING);
        assert_eq!(old.step(at(0), TIMING), Step::Wait(Duration::from_hours(60 * 24)));
        assert_eq!(old.step(at(60 * day), TIMING), Step::Prepare);

        let prepared = old.prepared(made("new"), at(60 * day));
        assert_eq!((served(&prepared), prepared.authorities.len()), ("old", 2));
        assert_eq!(prepared.step(at(60 * day + 40), TIMING), Step::Wait(Duration::from_mins(1)));
        assert_eq!(prepared.step(at(60 * day + 100), TIMING), Step::Promote);

        let promoted = prepared.promoted(at(60 * day + 100), TIMING);
        assert_eq!((served(&promoted), promoted.authorities.len()), ("new", 2));
        assert_eq!(promoted.step(at(60 * day + 150), TIMING), Step::Wait(Duration::from_secs(50)));
        assert_eq!(promoted.step(at(60 * day + 200), TIMING), Step::Forget);

        let steady = promoted.forgotten(at(60 * day + 200));
        assert_eq!(
            (served(&steady), &steady.authorities[..]),
            ("new", &["authority new".to_owned()][..])
        );
        assert!(matches!(steady.step(at(60 * day + 200), TIMING), Step::Wait(_)));
        assert!(steady.not_after > at(148 * day));
    }

    #[test]
    fn what_has_expired_is_replaced_whatever_was_under_way() {
        let old = Kept::begin(made("old"), at(0), TIMING);
        let prepared = old.prepared(made("new"), at(1));
        for kept in [old, prepared] {
            assert_eq!(kept.step(kept.not_after, TIMING), Step::Replace);
        }
    }

    #[test]
    fn what_a_clock_in_the_future_has_written_is_replaced() {
        let kept = Kept::begin(made("a"), at(25 * 3600), TIMING);
        assert_eq!(kept.step(at(0), TIMING), Step::Replace);
        assert!(matches!(kept.step(at(2 * 3600), TIMING), Step::Wait(_)));
    }

    #[test]
    fn it_is_renewed_weeks_before_it_ends() {
        let kept = Kept::begin(made("a"), at(0), Timing::default());
        let left = Duration::try_from(kept.not_after - kept.renew_after).unwrap();
        assert!(left > Duration::from_hours(28 * 24), "{left:?}");
    }
}
