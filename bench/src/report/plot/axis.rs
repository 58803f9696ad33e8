//! An axis: from where to where, and where its round ticks are. Nothing of pixels.

/// What an axis counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// From 0, in equal steps.
    Linear,
    /// In equal factors. What is not above 0 has no place on it.
    Logarithmic,
}

/// A scale that holds all its values and ends at a tick on both sides.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    scale: Scale,
    /// Ascending; the first and the last are the ends.
    pub ticks: Vec<f64>,
}

/// About as many steps as can be read.
const STEPS: f64 = 6.0;
const ROUND: [f64; 4] = [1.0, 2.0, 5.0, 10.0];

impl Axis {
    /// The shortest with round ends that these values fit on.
    pub fn over(scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let ticks = match scale {
            Scale::Linear => linear(values.fold(0.0, f64::max)),
            Scale::Logarithmic => {
                let positive = values.filter(|value| *value > 0.0);
                let ends = positive.fold((f64::MAX, 0.0_f64), |(least, most), value| {
                    (least.min(value), most.max(value))
                });
                if ends.1 == 0.0 { vec![1.0, 10.0] } else { logarithmic(ends) }
            }
        };
        Self { scale, ticks }
    }

    /// From 0 at the beginning to 1 at the end; nothing for what has no place on it.
    pub fn place(&self, value: f64) -> Option<f64> {
        let (first, last) = (*self.ticks.first()?, *self.ticks.last()?);
        match self.scale {
            Scale::Linear => Some((value - first) / (last - first)),
            Scale::Logarithmic if value > 0.0 => {
                Some((value / first).log10() / (last / first).log10())
            }
            Scale::Logarithmic => None,
        }
    }
}

fn linear(most: f64) -> Vec<f64> {
    let most = if most > 0.0 { most } else { 1.0 };
    let step = round_up(most / STEPS);
    let mut ticks = vec![0.0];
    // A multiple, not a sum: a sum of tenths is not quite round.
    while ticks.last().is_some_and(|last| *last < most * (1.0 - 1e-9)) {
        ticks.push(step * super::super::measured::number(ticks.len()));
    }
    ticks
}

/// Powers of ten, with 2 and 5 between them where there is room.
fn logarithmic((least, most): (f64, f64)) -> Vec<f64> {
    let first = round_down(least);
    let last = round_up(most).max(round_up(first * 1.5));
    let between = if last / first <= 1001.0 { &ROUND[..3] } else { &ROUND[..1] };
    let mut ticks = vec![first];
    let mut power = 10.0_f64.powf(first.log10().floor());
    while power < last {
        let inside = between.iter().map(|factor| factor * power);
        ticks.extend(inside.filter(|tick| *tick > first * 1.001 && *tick < last * 0.999));
        power *= 10.0;
    }
    ticks.push(last);
    ticks
}

/// The next round number that is not less.
fn round_up(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let round = ROUND.iter().map(|factor| factor * power);
    round.into_iter().find(|round| *round >= value * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// The next round number that is not more.
fn round_down(value: f64) -> f64 {
    let power = 10.0_f64.powf(value.log10().floor());
    let round = ROUND.iter().map(|factor| factor * power);
    round.into_iter().rev().find(|round| *round <= value * (1.0 + 1e-9)).unwrap_or(power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(scale: Scale, values: &[f64]) -> Vec<String> {
        let axis = Axis::over(scale, values.iter().copied());
        axis.ticks.into_iter().map(crate::report::figure::figure).collect()
    }

    #[test]
    fn linear_ticks_are_round_and_hold_the_greatest() {
        let of = |most: f64| ticks(Scale::Linear, &[1.0, most]);
        assert_eq!(of(37.2), ["0", "10", "20", "30", "40"]);
        assert_eq!(of(1000.0), ["0", "200", "400", "600", "800", "1,000"]);
        assert_eq!(of(5.0), ["0", "1", "2", "3", "4", "5"]);
        assert_eq!(ticks(Scale::Linear, &[0.4]), ["0", "0.10", "0.20", "0.30", "0.40"]);
        assert_eq!(ticks(Scale::Linear, &[]), ["0", "0.20", "0.40", "0.60", "0.80", "1"]);
    }

    #[test]
    fn logarithmic_ticks_are_ones_twos_and_fives() {
        let of = |values: &[f64]| ticks(Scale::Logarithmic, values);
        assert_eq!(of(&[3.0, 0.0, 150.0]), ["2", "5", "10", "20", "50", "100", "200"]);
        assert_eq!(of(&[2.0, 90_000.0]), ["2", "10", "100", "1,000", "10,000", "100,000"]);
        assert_eq!(of(&[5.0]), ["5", "10"]);
        assert_eq!(of(&[]), ["1", "10"]);
    }

    #[test]
    fn places_go_from_end_to_end() {
        let axis = Axis::over(Scale::Linear, [200.0].into_iter());
        assert_eq!([0.0, 100.0, 200.0].map(|it| axis.place(it)), [0.0, 0.5, 1.0].map(Some));
        let axis = Axis::over(Scale::Logarithmic, [1.0, 100.0].into_iter());
        assert_eq!([1.0, 10.0, 100.0].map(|it| axis.place(it)), [0.0, 0.5, 1.0].map(Some));
        assert_eq!(axis.place(0.0), None);
    }
}
