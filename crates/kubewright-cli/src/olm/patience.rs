//! How long a step may wait, and what is said meanwhile. Pure: the clock is given.

use std::time::Duration;

use kubewright_testenv::progress::elapsed;

use super::look::{Look, Sentence};

/// Trouble that lasts this long does not pass by itself; images that are slow to pull are no trouble yet.
const TROUBLED: Duration = Duration::from_secs(45);
/// After so long without it, trouble is over.
const CALM: Duration = Duration::from_secs(20);
/// How often a sentence that stays the same is said again.
const AGAIN: Duration = Duration::from_secs(15);

/// What to do after a look.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict<T> {
    /// Go on with the next step.
    Done(T),
    /// Look again; say this, if there is something to say.
    Again(Option<String>),
    /// Nothing comes of it; this is why.
    GiveUp(String),
}

/// Remembers what was said of a step, and since when it is so.
#[derive(Debug)]
pub(crate) struct Patience {
    limit: Duration,
    /// The sentence that holds, since when, and when it was said last.
    told: Option<(Sentence, Duration, Duration)>,
    /// Since when there is trouble, and when it was seen last.
    troubled: Option<(Duration, Duration)>,
}

impl Patience {
    pub(crate) fn new(limit: Duration) -> Self {
        Self { limit, told: None, troubled: None }
    }

    /// Judges what was seen at `now`, which is counted from the begin of the step.
    pub(crate) fn judge<T>(&mut self, now: Duration, look: Look<T>) -> Verdict<T> {
        let (sentence, is_troubled) = match look {
            Look::Done(value) => return Verdict::Done(value),
            Look::Failed(sentence) => return Verdict::GiveUp(sentence.complaint()),
            Look::Waiting(sentence) => (sentence, false),
            Look::Troubled(sentence) => (sentence, true),
        };
        if is_troubled && now.saturating_sub(self.troubled_since(now)) >= TROUBLED {
            return Verdict::GiveUp(sentence.complaint());
        }
        if now >= self.limit {
            let after = elapsed(self.limit);
            return Verdict::GiveUp(format!("{} (waited {after})", sentence.complaint()));
        }
        Verdict::Again(self.say(now, sentence))
    }

    /// Since when there is trouble that there is now. What crashes runs for a moment now and then, and is the
    /// same trouble afterwards.
    fn troubled_since(&mut self, now: Duration) -> Duration {
        let since = match self.troubled {
            Some((since, seen)) if now.saturating_sub(seen) <= CALM => since,
            _ => now,
        };
        self.troubled = Some((since, now));
        since
    }

    fn say(&mut self, now: Duration, sentence: Sentence) -> Option<String> {
        let (since, said) = match &self.told {
            Some((told, since, said))
                if told.object == sentence.object && told.why == sentence.why =>
            {
                (*since, Some(*said))
            }
            _ => (now, None),
        };
        let is_due = said.is_none_or(|said| now.saturating_sub(said) >= AGAIN);
        let line = is_due.then(|| {
            let Sentence { object, why, .. } = &sentence;
            let lasted = now.saturating_sub(since);
            let lasted =
                if lasted < AGAIN { String::new() } else { format!(" (for {})", elapsed(lasted)) };
            format!("waiting for {object}: {why}{lasted}")
        });
        let said = if is_due { now } else { said.unwrap_or(now) };
        self.told = Some((sentence, since, said));
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_mins(5);

    fn at(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn waiting(why: &str) -> Look<()> {
        Look::Waiting(Sentence::new("subscription/a", why))
    }

    fn troubled(object: &str) -> Look<()> {
        Look::Troubled(Sentence::new(object, "bad").remedy("do this"))
    }

    #[test]
    fn a_sentence_is_said_once_and_again_when_it_lasts() {
        let mut patience = Patience::new(LIMIT);
        let first = patience.judge(at(0), waiting("one"));
        assert_eq!(first, Verdict::Again(Some("waiting for subscription/a: one".to_owned())));
        assert_eq!(patience.judge(at(1), waiting("one")), Verdict::Again(None));
        let again = "waiting for subscription/a: one (for 15.0 s)".to_owned();
        assert_eq!(patience.judge(at(15), waiting("one")), Verdict::Again(Some(again)));
        let other = "waiting for subscription/a: two".to_owned();
        assert_eq!(patience.judge(at(16), waiting("two")), Verdict::Again(Some(other)));
    }

    #[test]
    fn trouble_that_lasts_ends_the_wait_with_the_way_out() {
        let mut patience = Patience::new(LIMIT);
        for now in [10, 25, 40, 54] {
            assert!(matches!(patience.judge(at(now), troubled("pod/a")), Verdict::Again(_)));
        }
        let end = patience.judge(at(55), troubled("pod/a"));
        assert_eq!(end, Verdict::GiveUp("pod/a: bad; do this".to_owned()));
    }

    #[test]
    fn trouble_that_passes_is_forgotten() {
        let mut patience = Patience::new(LIMIT);
        patience.judge(at(0), troubled("pod/a"));
        patience.judge(at(10), waiting("one"));
        assert!(matches!(patience.judge(at(50), troubled("pod/a")), Verdict::Again(_)));
    }

    #[test]
    fn the_limit_ends_every_wait_and_failure_at_once() {
        let mut patience = Patience::new(at(20));
        let end = patience.judge(at(20), waiting("one"));
        assert_eq!(end, Verdict::GiveUp("subscription/a: one (waited 20.0 s)".to_owned()));
        let failed: Look<()> = Look::Failed(Sentence::new("csv/a", "broken"));
        assert_eq!(patience.judge(at(0), failed), Verdict::GiveUp("csv/a: broken".to_owned()));
    }
}
