//! What was measured, beside what it may be, printed as a table. What is measured, and where the bars are,
//! is the programs' that fill it.

use std::fmt;

/// What became of a bar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// There was none.
    Note,
    Held,
    Missed,
    NotMeasured,
}

/// A line of the table.
struct Row {
    what: String,
    measured: String,
    bar: String,
    verdict: Verdict,
}

/// The table.
#[derive(Default)]
pub struct Bars(Vec<Row>);

impl Bars {
    /// For information.
    pub fn note(&mut self, what: impl Into<String>, measured: impl Into<String>) {
        self.add(what, measured, "", Verdict::Note);
    }

    /// May not be more than `limit`.
    pub fn at_most(&mut self, what: impl Into<String>, measured: f64, limit: f64, unit: &str) {
        let bar = format!("<= {limit:.2} {unit}");
        self.judged(what, format!("{measured:.2} {unit}"), bar, measured <= limit);
    }

    /// Has to be `wanted`.
    pub fn exactly(&mut self, what: impl Into<String>, measured: usize, wanted: usize) {
        self.judged(what, measured.to_string(), format!("= {wanted}"), measured == wanted);
    }

    /// May not be more often than `limit`.
    pub fn no_more_than(&mut self, what: impl Into<String>, measured: usize, limit: usize) {
        self.judged(what, measured.to_string(), format!("<= {limit}"), measured <= limit);
    }

    /// A bar that takes more words than the others.
    pub fn judged(
        &mut self,
        what: impl Into<String>,
        measured: impl Into<String>,
        bar: impl Into<String>,
        held: bool,
    ) {
        self.add(what, measured, bar, if held { Verdict::Held } else { Verdict::Missed });
    }

    /// A bar for which there is no figure: neither held nor missed.
    pub fn not_measured(&mut self, what: impl Into<String>, bar: impl Into<String>) {
        self.add(what, "not measured", bar, Verdict::NotMeasured);
    }

    /// The names of the bars that were missed.
    pub fn missed(&self) -> Vec<&str> {
        self.named(Verdict::Missed)
    }

    /// The names of the bars for which there is no figure.
    pub fn unknown(&self) -> Vec<&str> {
        self.named(Verdict::NotMeasured)
    }

    /// The names of the bars that were held.
    pub fn held(&self) -> Vec<&str> {
        self.named(Verdict::Held)
    }

    /// What, how much, the bar, and what became of it, in words.
    pub fn rows(&self) -> impl Iterator<Item = [&str; 4]> {
        self.0.iter().map(|Row { what, measured, bar, verdict }| {
            let verdict = match verdict {
                Verdict::Note | Verdict::NotMeasured => "",
                Verdict::Held => "held",
                Verdict::Missed => "MISSED",
            };
            [what.as_str(), measured.as_str(), bar.as_str(), verdict]
        })
    }

    fn add(
        &mut self,
        what: impl Into<String>,
        measured: impl Into<String>,
        bar: impl Into<String>,
        verdict: Verdict,
    ) {
        let (what, measured, bar) = (what.into(), measured.into(), bar.into());
        self.0.push(Row { what, measured, bar, verdict });
    }

    fn named(&self, verdict: Verdict) -> Vec<&str> {
        self.0.iter().filter(|row| row.verdict == verdict).map(|row| row.what.as_str()).collect()
    }
}

impl fmt::Display for Bars {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{:54} {:>22}  bar", "", "measured")?;
        for Row { what, measured, bar, verdict } in &self.0 {
            let missed = if *verdict == Verdict::Missed { "  MISSED" } else { "" };
            let line = format!("{what:54} {measured:>22}  {bar}{missed}");
            writeln!(formatter, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
