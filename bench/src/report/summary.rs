//! Many rounds in one line: the median, and how far they went apart; and ratios, each within one round,
//! because two rounds may have met two different loads of the machine.

use std::collections::BTreeMap;
use std::fmt;

use super::figure::figure;

/// A figure for each round in which it was measured.
pub type Rounds = BTreeMap<usize, f64>;

/// What is said of several rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    /// As many are below as are above; between the two in the middle if their number is even.
    pub median: f64,
    /// The least.
    pub minimum: f64,
    /// The most.
    pub maximum: f64,
}

impl Summary {
    /// Of these figures; nothing if there is none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let (minimum, maximum) = (*values.first()?, *values.last()?);
        let (lower, upper) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        // One infinite ratio beside another has no mean.
        let median =
            if lower.total_cmp(&upper).is_eq() { lower } else { f64::midpoint(lower, upper) };
        Some(Self { median, minimum, maximum })
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [median, minimum, maximum] = [self.median, self.minimum, self.maximum].map(figure);
        if minimum == maximum {
            write!(formatter, "{median}")
        } else {
            write!(formatter, "{median} ({minimum}–{maximum})")
        }
    }
}

/// The median of these rounds.
pub fn median(rounds: &Rounds) -> Option<f64> {
    Summary::of(rounds.values().copied()).map(|summary| summary.median)
}

/// The worst of these rounds: what may never happen must not have happened in any.
pub fn most(rounds: &Rounds) -> Option<f64> {
    Summary::of(rounds.values().copied()).map(|summary| summary.maximum)
}

/// The one over the other in each round that has both.
pub fn ratios(over: &Rounds, under: &Rounds) -> Rounds {
    let ratio = |(round, over): (&usize, &f64)| {
        let under = under.get(round)?;
        // Nothing over nothing is as much.
        let equal = over.total_cmp(under).is_eq();
        Some((*round, if equal { 1.0 } else { over / under }))
    };
    over.iter().filter_map(ratio).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle_and_beside_it_stand_the_extremes() {
        let said = |values: &[f64]| Summary::of(values.iter().copied()).map(|it| it.to_string());
        assert_eq!(said(&[3.0, 1.0, 2.0]).as_deref(), Some("2 (1–3)"));
        assert_eq!(said(&[4.0, 1.0, 2.0, 3.0]).as_deref(), Some("2.50 (1–4)"));
        assert_eq!(said(&[7.0]).as_deref(), Some("7"));
        assert_eq!(said(&[]), None);
    }

    #[test]
    fn a_ratio_is_taken_within_its_round() {
        // The medians, 20 and 4, would give 5; no round has that.
        let over = Rounds::from([(0, 10.0), (1, 20.0), (2, 60.0), (3, 1.0)]);
        let under = Rounds::from([(0, 5.0), (1, 10.0), (2, 4.0), (7, 1.0)]);
        let ratios = ratios(&over, &under);
        assert_eq!(ratios, Rounds::from([(0, 2.0), (1, 2.0), (2, 15.0)]));
        assert_eq!(median(&ratios), Some(2.0));
        assert_eq!(most(&ratios), Some(15.0));
    }

    #[test]
    fn nothing_over_nothing_is_as_much() {
        let [none, some] = [0.0, 3.0].map(|value| Rounds::from([(0, value)]));
        assert_eq!(median(&ratios(&none, &none)), Some(1.0));
        assert_eq!(median(&ratios(&some, &none)), Some(f64::INFINITY));
    }
}
