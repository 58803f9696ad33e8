//! Durations by what they are of, printed as a table.

use std::fmt;
use std::time::Duration;

/// Durations, in the order in which their kinds first came.
#[derive(Default)]
pub(crate) struct Times(Vec<(&'static str, Vec<Duration>)>);

impl Times {
    pub(crate) fn add(&mut self, what: &'static str, time: Duration) {
        match self.0.iter_mut().find(|(known, _)| *known == what) {
            Some((_, times)) => times.push(time),
            None => self.0.push((what, vec![time])),
        }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            formatter,
            "{:44} {:>5} {:>8} {:>8} {:>8}",
            "seconds", "times", "least", "median", "most"
        )?;
        for (what, times) in &self.0 {
            let mut sorted: Vec<_> = times.iter().map(Duration::as_secs_f64).collect();
            sorted.sort_by(f64::total_cmp);
            let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
            let median = sorted[sorted.len() / 2];
            writeln!(
                formatter,
                "{what:44} {:>5} {least:>8.2} {median:>8.2} {most:>8.2}",
                sorted.len()
            )?;
        }
        Ok(())
    }
}
