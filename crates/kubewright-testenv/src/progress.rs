//! Tells a person what a long step is doing and for how long it has been at it. Writes to standard
//! error only; decides nothing.

use std::io::Write as _;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How often a step that is still running says so again.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// Where progress goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// One line per step on standard error, and a heartbeat for long ones.
    Shown,
    /// Nothing.
    Silent,
}

impl Progress {
    /// Runs `work` as one named step: announces it, repeats the name with the elapsed time while it
    /// lasts, and says how long it took.
    pub fn step<T>(self, name: &str, work: impl FnOnce() -> T) -> T {
        if self == Self::Silent {
            return work();
        }
        let started = Instant::now();
        say(&format!("{name} …"));
        let (done, finished) = mpsc::channel::<()>();
        let result = std::thread::scope(|scope| {
            scope.spawn(move || {
                while finished.recv_timeout(HEARTBEAT) == Err(RecvTimeoutError::Timeout) {
                    say(&format!("{name} … {}", elapsed(started.elapsed())));
                }
            });
            let result = work();
            drop(done);
            result
        });
        say(&format!("{name}: {}", elapsed(started.elapsed())));
        result
    }

    /// One line that is not a step.
    pub fn note(self, line: &str) {
        if self == Self::Shown {
            say(line);
        }
    }
}

fn say(line: &str) {
    // A closed standard error is no reason to fail the work that is being reported.
    let _ = writeln!(std::io::stderr().lock(), "  {line}");
}

/// `4.1 s`, `2 min 5 s`.
pub fn elapsed(duration: Duration) -> String {
    let seconds = duration.as_secs();
    if seconds < 60 {
        format!("{:.1} s", duration.as_secs_f64())
    } else {
        format!("{} min {} s", seconds / 60, seconds % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elapsed_time_reads_like_a_person_says_it() {
        assert_eq!(elapsed(Duration::from_millis(4_130)), "4.1 s");
        assert_eq!(elapsed(Duration::from_secs(125)), "2 min 5 s");
    }
}
