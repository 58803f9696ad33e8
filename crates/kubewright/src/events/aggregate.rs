//! Decides what becomes of an event: a new object, one more of a series, or nothing. Pure: the time
//! comes from outside, and nothing is sent.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::recent::Recent;
use super::{Event, EventType};

/// A series ends when nothing was added for this long.
const WINDOW: Duration = Duration::from_mins(6);
/// Of how many series the count is kept. The longest silent one is given up for a new one, and with it
/// what was counted and not yet sent.
const MAX_SERIES: usize = 4096;
/// Of how many objects the new events are limited.
const MAX_OBJECTS: usize = 4096;
/// New events about one object: so many at once …
const BURST: f64 = 10.0;
/// … and so many per second after that.
const REFILL: f64 = 10.0 / 60.0;

/// What becomes of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Decision {
    /// It is the first of its kind.
    Create,
    /// It is one more of its kind.
    Bump,
    /// There were too many about this object.
    Drop,
}

/// Events with the same key are of one series.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    object: String,
    type_: EventType,
    reason: Cow<'static, str>,
    action: Cow<'static, str>,
    note: String,
}

impl Key {
    pub(super) fn of(event: &Event) -> Self {
        let regarding = &event.regarding;
        let text = |field: &Option<String>| field.clone().unwrap_or_default();
        let object = regarding.uid.clone().unwrap_or_else(|| {
            let place = [&regarding.api_version, &regarding.kind, &regarding.namespace];
            place.map(text).join("/") + "/" + &text(&regarding.name)
        });
        Self {
            object,
            type_: event.type_,
            reason: event.reason.clone(),
            action: event.action.clone(),
            note: event.note.clone(),
        }
    }
}

/// Where the object of a series is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) namespace: String,
    pub(super) name: String,
}

/// A count to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Update {
    pub(super) key: Arc<Key>,
    pub(super) place: Place,
    pub(super) count: u64,
    pub(super) last_observed: Timestamp,
}

struct Series {
    /// `None` until the object is created.
    place: Option<Place>,
    count: u64,
    sent: u64,
    sent_at: Instant,
    last_seen: Instant,
    last_observed: Timestamp,
}

impl Series {
    fn unsent(&self) -> u64 {
        self.count.saturating_sub(self.sent)
    }
}

/// The series and limits of a recorder.
pub(super) struct Aggregator {
    series: Recent<Arc<Key>, Series>,
    buckets: Recent<String, Bucket>,
}

impl Aggregator {
    pub(super) fn new() -> Self {
        Self { series: Recent::new(MAX_SERIES), buckets: Recent::new(MAX_OBJECTS) }
    }

    /// Takes notice of an event that is seen `now`; `time` is the same by the clock on the wall.
    pub(super) fn observe(&mut self, key: &Arc<Key>, now: Instant, time: Timestamp) -> Decision {
        if let Some(series) = self.series.touch(&**key)
            && now.duration_since(series.last_seen) < WINDOW
        {
            series.count += 1;
            series.last_seen = now;
            series.last_observed = time;
            return Decision::Bump;
        }
        if !self.has_token(&key.object, now) {
            return Decision::Drop;
        }
        let series = Series {
            place: None,
            count: 1,
            sent: 0,
            sent_at: now,
            last_seen: now,
            last_observed: time,
        };
        self.series.insert(Arc::clone(key), series);
        Decision::Create
    }

    fn has_token(&mut self, object: &str, now: Instant) -> bool {
        if let Some(bucket) = self.buckets.touch(object) {
            return bucket.take(now);
        }
        let mut bucket = Bucket { tokens: BURST, filled: now };
        let taken = bucket.take(now);
        self.buckets.insert(object.to_owned(), bucket);
        taken
    }

    /// The first event of the series is now at `place`.
    pub(super) fn created(&mut self, key: &Key, place: Place) {
        if let Some(series) = self.series.get_mut(key) {
            series.place = Some(place);
            series.sent = 1;
        }
    }

    /// This count of the series is now in its object. The series may be another one by now.
    pub(super) fn sent(&mut self, update: &Update) {
        let series = self.series.get_mut(&*update.key);
        if let Some(series) = series.filter(|one| one.place.as_ref() == Some(&update.place)) {
            series.sent = update.count;
        }
    }

    /// Ends a series, and says how many of its events were not sent.
    pub(super) fn forget(&mut self, key: &Key) -> u64 {
        self.series.remove(key).map_or(0, |series| series.unsent())
    }

    /// The counts that have grown and of which none was asked for since `pause`. Ends the series that
    /// have gone silent.
    pub(super) fn due(&mut self, now: Instant, pause: Duration) -> Vec<Update> {
        let mut due = Vec::new();
        for (key, series) in self.series.iter_mut() {
            let Some(place) = series.place.clone() else { continue };
            if series.unsent() > 0 && now.duration_since(series.sent_at) >= pause {
                series.sent_at = now;
                let (count, last_observed) = (series.count, series.last_observed);
                due.push(Update { key: Arc::clone(key), place, count, last_observed });
            }
        }
        let is_silent = |series: &Series| now.duration_since(series.last_seen) >= WINDOW;
        while self.series.remove_oldest_if(is_silent) {}
        due
    }

    /// How many events were taken notice of and not sent.
    pub(super) fn unsent(&mut self) -> u64 {
        self.series.iter_mut().map(|(_, series)| series.unsent()).sum()
    }
}

struct Bucket {
    tokens: f64,
    filled: Instant,
}

impl Bucket {
    fn take(&mut self, now: Instant) -> bool {
        let gained = now.duration_since(self.filled).as_secs_f64() * REFILL;
        self.tokens = (self.tokens + gained).min(BURST);
        self.filled = now;
        let taken = self.tokens >= 1.0;
        if taken {
            self.tokens -= 1.0;
        }
        taken
    }
}

#[cfg(test)]
mod tests;
