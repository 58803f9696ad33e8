//! Whether what the Secret keeps can be served and is trusted by those that it names. Pure.
//!
//! Anybody may have written there, and clocks may have been wrong: what does not hold together is as good as
//! absent, and is made anew.

use jiff::Timestamp;

use super::certificate::{CertificateError, verify};
use super::rotation::Kept;

/// Why it is not.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unsound {
    #[error("it does not name the authorities that it should")]
    Authorities,
    #[error("its certificate cannot be served to {host}")]
    Serving {
        host: String,
        #[source]
        source: CertificateError,
    },
    #[error("its next certificate cannot be served to {host}")]
    Next {
        host: String,
        #[source]
        source: CertificateError,
    },
}

/// Looks at `kept` as the API server will, which calls `host` at the time `now`.
pub(super) fn check(kept: &Kept, host: &str, now: Timestamp) -> Result<(), Unsound> {
    // Which authority has signed what is served: of two, one is on its way in or out.
    let (serving, next) = match (&kept.authorities[..], &kept.next) {
        ([only] | [_, only], None) => (only, None),
        ([old, new], Some(next)) => (old, Some((new, next))),
        _ => return Err(Unsound::Authorities),
    };
    verify(&kept.serving, serving, host, now)
        .map_err(|source| Unsound::Serving { host: host.to_owned(), source })?;
    let Some((authority, pair)) = next else { return Ok(()) };
    verify(pair, authority, host, now)
        .map_err(|source| Unsound::Next { host: host.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use jiff::ToSpan as _;

    use super::super::certificate::{Made, make};
    use super::super::rotation::Timing;
    use super::*;

    const HOST: &str = "a.b.svc";

    fn now() -> Timestamp {
        Timestamp::from_second(1_800_000_000).unwrap()
    }

    fn made() -> Made {
        make(&[HOST.to_owned()], now(), 90).unwrap()
    }

    #[test]
    fn every_state_of_a_renewal_is_sound() {
        let timing = Timing::default();
        let begun = Kept::begin(made(), now(), timing);
        let prepared = begun.prepared(made(), now());
        let promoted = prepared.promoted(now(), timing);
        for kept in [&begun, &prepared, &promoted, &promoted.forgotten(now())] {
            check(kept, HOST, now()).unwrap();
        }
    }

    #[test]
    fn what_is_damaged_foreign_or_of_another_time_is_not() {
        let timing = Timing::default();
        let good = Kept::begin(made(), now(), timing);
        let prepared = good.prepared(made(), now());
        let mut damaged = good.clone();
        damaged.serving.certificate = "damaged".to_owned();
        let mut other_key = good.clone();
        other_key.serving.key = made().pair.key;
        let mut foreign = good.clone();
        foreign.authorities = vec![made().authority];
        let mut one_more = good.clone();
        one_more.authorities.push(made().authority);
        let mut no_next = prepared.clone();
        no_next.next = None;
        let mut other_next = prepared.clone();
        other_next.next = Some(made().pair);
        let mut none = good.clone();
        none.authorities.clear();
        for kept in [damaged, other_key, foreign, one_more, no_next, other_next, none] {
            check(&kept, HOST, now()).unwrap_err();
        }
        for time in [now() - 48.hours(), now() + 24.hours() * 91] {
            check(&good, HOST, time).unwrap_err();
        }
        check(&good, "other.b.svc", now()).unwrap_err();
    }
}
