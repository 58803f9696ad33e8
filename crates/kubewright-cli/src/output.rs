//! Standard output: what a verb answers. Progress and errors go to standard error, elsewhere.

use std::fmt;
use std::io::{self, Write as _};

use anyhow::Context as _;

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
