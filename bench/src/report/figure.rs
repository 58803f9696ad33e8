//! A number as people read it: three digits that matter, thousands set apart.

/// As `0`, `0.013`, `1.25`, `12.5`, `125`, `12,500`.
pub fn figure(value: f64) -> String {
    let size = value.abs();
    let decimals = if value.fract() == 0.0 || size >= 99.95 {
        0
    } else if size >= 9.995 {
        1
    } else if size >= 0.0995 {
        2
    } else {
        3
    };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let whole = thousands(whole);
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

/// A count of objects.
pub fn count(objects: usize) -> String {
    thousands(&objects.to_string())
}

fn thousands(whole: &str) -> String {
    let (sign, digits) = whole.strip_prefix('-').map_or(("", whole), |digits| ("-", digits));
    let mut text = String::from(sign);
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_digits_matter_and_thousands_are_set_apart() {
        let texts = [0.0, 0.0126, 0.5, 1.254, 12.54, 125.4, 12_500.0, -1_234_567.0].map(figure);
        assert_eq!(texts, ["0", "0.013", "0.50", "1.25", "12.5", "125", "12,500", "-1,234,567"]);
        assert_eq!([99, 1000].map(count), ["99", "1,000"]);
    }
}
