//! The version of a server, to compare by: what a server can do depends on it.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// `1.6.45`, or `1.6.45-rc1`: three numbers, and what is behind them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Version {
    /// 1 in `1.6.45`.
    pub major: u32,
    /// 6 in `1.6.45`.
    pub minor: u32,
    /// 45 in `1.6.45`.
    pub patch: u32,
    /// What is behind the numbers, with what parts it from them: `-rc1`. Mostly empty.
    pub suffix: String,
}

/// A text that is not a version.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{text:?} is not a version of memcached")]
pub struct VersionError {
    /// What it is.
    pub text: String,
}

impl Version {
    /// The numbers, to compare: `version.numbers() >= (1, 6, 43)`. What a suffix means for the order
    /// depends on who built the server, so it does not count.
    pub fn numbers(&self) -> (u32, u32, u32) {
        (self.major, self.minor, self.patch)
    }
}

impl FromStr for Version {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let parse = || {
            let (major, rest) = text.split_once('.')?;
            let (minor, rest) = rest.split_once('.')?;
            let digits = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
            let (patch, suffix) = rest.split_at(digits);
            let suffix = suffix.to_owned();
            Some(Self {
                major: number(major)?,
                minor: number(minor)?,
                patch: number(patch)?,
                suffix,
            })
        };
        parse().ok_or_else(|| VersionError { text: text.to_owned() })
    }
}

/// Digits alone: `parse` would take a sign too.
fn number(digits: &str) -> Option<u32> {
    if digits.starts_with('+') { None } else { digits.parse().ok() }
}

impl fmt::Display for Version {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { major, minor, patch, suffix } = self;
        write!(formatter, "{major}.{minor}.{patch}{suffix}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_printed_as_it_was_read() {
        for text in ["1.6.45", "1.6.0-rc1", "1.6.45_3-gdeadbee", "1.4.36.1"] {
            assert_eq!(text.parse::<Version>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        let version = |text: &str| text.parse::<Version>().unwrap().numbers();
        assert!(version("1.6.9") < version("1.6.18"));
        assert!(version("1.6.43-rc1") >= (1, 6, 43));
    }

    #[test]
    fn what_is_no_version_is_an_error() {
        for text in
            ["", "1.6", "1.6.", "one.6.45", "1.-6.45", "1.+6.45", "1.6.99999999999", "UNKNOWN"]
        {
            assert_eq!(text.parse::<Version>(), Err(VersionError { text: text.to_owned() }));
        }
    }
}
