//! Standard output: what a verb answers, as text for people or as JSON for programs. Progress and
//! errors go to standard error, elsewhere.

use std::fmt;
use std::io::{self, Write as _};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use serde::Serialize;

/// How a verb answers. The keys of what it answers as JSON are in its help and do not change.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(crate) struct Format {
    /// How to answer: text is for people, json for programs
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Notation,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Notation {
    #[default]
    Text,
    Json,
}

impl Format {
    /// True if a program reads the answer, and nothing else may stand on standard output.
    pub(crate) fn is_json(self) -> bool {
        self.output == Notation::Json
    }

    /// Answers with `value`, or with the text of it.
    pub(crate) fn answer(
        self,
        value: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> anyhow::Result<()> {
        if self.is_json() {
            return write(format!("{}\n", serde_json::to_string_pretty(value)?));
        }
        write(text())
    }
}

/// Whoever read standard output has gone away. Not a failure: the verb ends, and with success.
#[derive(Debug)]
pub(crate) struct Closed;

impl fmt::Display for Closed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("standard output is closed")
    }
}

impl std::error::Error for Closed {}

/// Writes to standard output, at once.
pub(crate) fn write(bytes: impl AsRef<[u8]>) -> anyhow::Result<()> {
    let mut stdout = io::stdout().lock();
    let written = stdout.write_all(bytes.as_ref()).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Err(Closed.into()),
        written => written.context("cannot write to standard output"),
    }
}
