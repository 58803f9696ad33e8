//! How words look: colour on a terminal, plain text elsewhere. `NO_COLOR`, `CLICOLOR_FORCE` and
//! `TERM=dumb` decide as they do for other programs. Owns colours and no words but `warning:`.

use std::io::Write as _;

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

const WRONG: Style = AnsiColor::Red.on_default().bold();
const CAREFUL: Style = AnsiColor::Yellow.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default();
/// Of a table, and of a part of the help.
pub(crate) const HEADING: Style = Style::new().bold();

/// What text for one stream looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Paint {
    coloured: bool,
}

impl Paint {
    /// No colours, for tests.
    #[cfg(test)]
    pub(crate) const PLAIN: Self = Self { coloured: false };

    /// For standard output.
    pub(crate) fn stdout() -> Self {
        Self { coloured: AutoStream::choice(&std::io::stdout()) != ColorChoice::Never }
    }

    /// For standard error.
    pub(crate) fn stderr() -> Self {
        Self { coloured: AutoStream::choice(&std::io::stderr()) != ColorChoice::Never }
    }

    /// What failed, or is missing.
    pub(crate) fn wrong(self, text: &str) -> String {
        self.styled(WRONG, text)
    }

    /// What is as it should be.
    pub(crate) fn good(self, text: &str) -> String {
        self.styled(GOOD, text)
    }

    /// The first line of a table.
    pub(crate) fn heading(self, text: &str) -> String {
        self.styled(HEADING, text)
    }

    /// What works and will be regretted.
    pub(crate) fn careful(self, text: &str) -> String {
        self.styled(CAREFUL, text)
    }

    fn styled(self, style: Style, text: &str) -> String {
        if self.coloured { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

/// Tells on standard error what is done all the same and might not be what was meant.
pub(crate) fn warn(line: &str) {
    let word = Paint::stderr().careful("warning:");
    // With standard error closed there is nobody left to tell.
    let _ = writeln!(std::io::stderr().lock(), "{word} {line}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_surround_the_text_and_plain_is_the_text_itself() {
        let coloured = Paint { coloured: true };
        assert_eq!(coloured.wrong("error:"), "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m");
        let paints = [Paint::wrong, Paint::careful, Paint::good, Paint::heading];
        for paint in paints {
            assert_eq!(paint(Paint::PLAIN, "text"), "text");
            assert!(paint(coloured, "text").ends_with("text\u{1b}[0m"));
        }
    }
}
