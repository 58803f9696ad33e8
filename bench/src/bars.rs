//! What was measured, beside what it may be, printed as a table.

use std::fmt;

/// A line of the table.
struct Row {
    what: String,
    measured: String,
    bar: String,
    missed: bool,
}

/// The table.
#[derive(Default)]
pub struct Bars(Vec<Row>);

impl Bars {
    /// For information.
    pub fn note(&mut self, what: impl Into<String>, measured: impl Into<String>) {
        let (what, measured) = (what.into(), measured.into());
        self.0.push(Row { what, measured, bar: String::new(), missed: false });
    }

    /// May not be more than `limit`.
    pub fn at_most(&mut self, what: impl Into<String>, measured: f64, limit: f64, unit: &str) {
        self.0.push(Row {
            what: what.into(),
            measured: format!("{measured:.2} {unit}"),
            bar: format!("<= {limit:.2} {unit}"),
            missed: measured > limit,
        });
    }

    /// Has to be `wanted`.
    pub fn exactly(&mut self, what: impl Into<String>, measured: usize, wanted: usize) {
        self.0.push(Row {
            what: what.into(),
            measured: measured.to_string(),
            bar: format!("= {wanted}"),
            missed: measured != wanted,
        });
    }

    /// May not be more often than `limit`.
    pub fn no_more_than(&mut self, what: impl Into<String>, measured: usize, limit: usize) {
        self.0.push(Row {
            what: what.into(),
            measured: measured.to_string(),
            bar: format!("<= {limit}"),
            missed: measured > limit,
        });
    }

    /// The names of the bars that were missed.
    pub fn missed(&self) -> Vec<&str> {
        self.0.iter().filter(|row| row.missed).map(|row| row.what.as_str()).collect()
    }
}

impl fmt::Display for Bars {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{:54} {:>22}  bar", "", "measured")?;
        for Row { what, measured, bar, missed } in &self.0 {
            let missed = if *missed { "  MISSED" } else { "" };
            let line = format!("{what:54} {measured:>22}  {bar}{missed}");
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
