//! The time of day: the only place that reads it, so that whoever needs it can be given another one.
//! Deadlines and delays do not belong here; they use the monotonic clock of the runtime.

use jiff::Timestamp;

/// Tells the time of day, or always the same time: see [`crate::Operator::clock`].
///
/// ```
/// use kubewright::Clock;
///
/// let time = "2026-01-02T03:04:05Z".parse().unwrap();
/// assert_eq!(Clock::fixed(time).now(), time);
/// ```
#[derive(Clone, Debug)]
pub struct Clock(Source);

#[derive(Clone, Debug)]
enum Source {
    System,
    Fixed(Timestamp),
}

impl Clock {
    /// The clock of the machine.
    pub fn system() -> Self {
        Self(Source::System)
    }

    /// A clock that stands still.
    pub fn fixed(time: Timestamp) -> Self {
        Self(Source::Fixed(time))
    }

    /// Now, in whole seconds: `metav1.Time` has no more, and a time that is not what the API server
    /// gives back makes equal objects differ.
    pub fn now(&self) -> Timestamp {
        let now = self.read();
        Timestamp::from_second(now.as_second()).unwrap_or(now)
    }

    /// Now, in whole microseconds, for `metav1.MicroTime`.
    pub fn now_micro(&self) -> Timestamp {
        let now = self.read();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }

    #[expect(clippy::disallowed_methods, reason = "this is the place")]
    fn read(&self) -> Timestamp {
        match self.0 {
            Source::System => Timestamp::now(),
            Source::Fixed(time) => time,
        }
    }
}

#[cfg(test)]
mod tests {
    use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, Time};
    use serde::Serialize;
    use serde::de::DeserializeOwned;

    use super::*;

    fn sent_and_received<T: Serialize + DeserializeOwned>(time: &T) -> T {
        serde_json::from_value(serde_json::to_value(time).unwrap()).unwrap()
    }

    #[test]
    fn what_it_tells_is_the_same_on_the_wire() {
        let clock = Clock::fixed("2026-01-02T03:04:05.678901234Z".parse().unwrap());
        let (time, micro) = (Time(clock.now()), MicroTime(clock.now_micro()));
        assert_eq!(sent_and_received(&time), time);
        assert_eq!(sent_and_received(&micro), micro);
        assert_eq!(micro.0.to_string(), "2026-01-02T03:04:05.678901Z");
    }

    #[test]
    fn the_clock_of_the_machine_goes_on() {
        let clock = Clock::system();
        let first = clock.now_micro();
        std::thread::sleep(std::time::Duration::from_millis(2));
        assert!(clock.now_micro() > first);
        assert_eq!(clock.now().subsec_nanosecond(), 0);
    }
}
