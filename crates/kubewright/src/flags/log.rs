//! What is logged, and how.

use std::str::FromStr;

use tracing_subscriber::filter::{LevelFilter, Targets};

/// What is logged: a level, and levels of its own for parts of the program (`info,kube=debug`).
/// Without a level for the rest, that is `info`.
#[derive(Clone, Debug, PartialEq)]
pub struct LogLevel(Targets);

impl LogLevel {
    pub(crate) fn targets(&self) -> Targets {
        self.0.clone()
    }
}

impl Default for LogLevel {
    fn default() -> Self {
        Self(quiet_client(Targets::new().with_default(LevelFilter::INFO)))
    }
}

impl FromStr for LogLevel {
    type Err = UnknownLevel;

    // Not tracing's own parser: it takes a misspelt level for the name of a part, and is silent.
    fn from_str(text: &str) -> Result<Self, UnknownLevel> {
        let mut targets = Targets::new().with_default(LevelFilter::INFO);
        let mut asks_for_client = false;
        for part in text.split(',') {
            targets = match part.trim().split_once('=') {
                None => targets.with_default(level(part.trim())?),
                Some((target, chosen)) => {
                    asks_for_client |= target.starts_with("kube");
                    targets.with_target(target, level(chosen)?)
                }
            };
        }
        Ok(Self(if asks_for_client { targets } else { quiet_client(targets) }))
    }
}

/// kube's client warns with the whole text of an answer that it does not understand, which may be a
/// Secret's. The library reports such an answer itself; whoever wants the text asks for `kube=warn`.
fn quiet_client(targets: Targets) -> Targets {
    targets.with_target("kube_client::client", LevelFilter::ERROR)
}

/// The text names no level.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no level `{0}`; write error, warn, info, debug, trace or off, or a list such as \
         \"info,kube=debug\""
)]
pub struct UnknownLevel(String);

fn level(text: &str) -> Result<LevelFilter, UnknownLevel> {
    Ok(match text.to_ascii_lowercase().as_str() {
        "off" => LevelFilter::OFF,
        "error" => LevelFilter::ERROR,
        "warn" => LevelFilter::WARN,
        "info" => LevelFilter::INFO,
        "debug" => LevelFilter::DEBUG,
        "trace" => LevelFilter::TRACE,
        _ => return Err(UnknownLevel(text.to_owned())),
    })
}

/// How it is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// A line for people.
    #[default]
    Text,
    /// A JSON object per line.
    Json,
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[test]
    fn a_part_of_the_program_can_have_its_own_level() {
        let targets = "warn,kube=debug,hyper=off".parse::<LogLevel>().unwrap().targets();
        assert!(targets.would_enable("anything", &Level::WARN));
        assert!(!targets.would_enable("anything", &Level::INFO));
        assert!(targets.would_enable("kube_client", &Level::WARN));
        assert!(targets.would_enable("kube::client", &Level::DEBUG));
        assert!(!targets.would_enable("hyper", &Level::ERROR));
    }

    #[test]
    fn the_rest_stays_at_info_if_only_a_part_is_named() {
        let targets = "kube=trace".parse::<LogLevel>().unwrap().targets();
        assert!(targets.would_enable("anything", &Level::INFO));
        assert!(!targets.would_enable("anything", &Level::DEBUG));
    }

    #[test]
    fn a_misspelt_level_is_refused() {
        for text in ["inof", "", "info,", "kube=loud", "kube=", "3"] {
            assert!(text.parse::<LogLevel>().is_err(), "{text}");
        }
        assert_eq!("INFO".parse(), Ok(LogLevel::default()));
    }
}
