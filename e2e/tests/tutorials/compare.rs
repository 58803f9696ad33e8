//! Whether what a page shows is what was printed. Pure.
//!
//! `…` stands for what varies: alone on a line for any lines, else for any text within its line. How many
//! blanks separate words does not count, nor do empty lines: tables are as wide as the names in them.

/// What varies.
const ANY: char = '…';

/// True if what is shown stands for all that was printed.
pub(crate) fn is_as_shown(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (lines(shown), lines(printed));
    fits(
        &shown,
        &printed,
        |line| line[..] == [ANY],
        |shown, printed| fits(shown, printed, |one| *one == ANY, |shown, printed| shown == printed),
    )
}

fn lines(text: &str) -> Vec<Vec<char>> {
    let words = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    words.filter(|line| !line.is_empty()).map(|line| line.chars().collect()).collect()
}

/// Whether `printed` is what `pattern` says, where each part that `is_any` stands for as many as it takes.
fn fits<T>(
    pattern: &[T],
    printed: &[T],
    is_any: impl Fn(&T) -> bool + Copy,
    is_same: impl Fn(&T, &T) -> bool + Copy,
) -> bool {
    let Some((first, rest)) = pattern.split_first() else {
        return printed.is_empty();
    };
    if is_any(first) {
        let mut ends = (0..=printed.len()).map(|end| &printed[end..]);
        return ends.any(|left| fits(rest, left, is_any, is_same));
    }
    let same = printed.split_first().filter(|(one, _)| is_same(first, one));
    same.is_some_and(|(_, left)| fits(rest, left, is_any, is_same))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_varies_in_a_line_is_any_text_of_that_line() {
        let shown = "NAME READY AGE\nsample-… 1/1 …\n";
        assert!(is_as_shown(shown, "NAME        READY   AGE\nsample-5f-x   1/1     3s\n"));
        assert!(!is_as_shown(shown, "NAME        READY   AGE\nsample-5f-x   0/1     3s\n"));
        assert!(!is_as_shown(shown, "NAME READY AGE\nsample-a 1/1 3s\nsample-b 1/1 3s\n"));
    }

    #[test]
    fn what_varies_alone_is_any_lines() {
        assert!(is_as_shown("…\nok\n…", "Compiling a\n\nCompiling b\nok\n"));
        assert!(is_as_shown("…", ""));
        assert!(!is_as_shown("…\nok", "ok\nnot ok\n"));
    }

    #[test]
    fn nothing_shown_is_nothing_printed() {
        assert!(is_as_shown("", "\n"));
        assert!(!is_as_shown("", "warning\n"));
    }
}
