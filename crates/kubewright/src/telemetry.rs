//! Where the log goes: standard error, as text or as JSON, with times in UTC.
//!
//! Owns the format. A line is one event: whatever a value contains (the message of a server, the name
//! of an object), it cannot begin a line of its own or send a command to a terminal.

#[cfg(test)]
mod tests;

use std::fmt::{self, Debug, Write};
use std::io::{self, IsTerminal as _};

use tracing::field::Field;
use tracing::{Dispatch, dispatcher};
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::layer::SubscriberExt as _;

use crate::flags::{LogFormat, LogLevel};

/// Logs from now on. Does nothing if the process has a subscriber already, its own or this one.
pub(crate) fn install(level: &LogLevel, format: LogFormat) {
    let colours = io::stderr().is_terminal();
    let _ = dispatcher::set_global_default(dispatch(level, format, colours, io::stderr));
}

fn dispatch<W>(level: &LogLevel, format: LogFormat, colours: bool, writer: W) -> Dispatch
where
    W: for<'a> MakeWriter<'a> + Send + Sync + 'static,
{
    let registry = tracing_subscriber::registry().with(level.targets());
    let layer = tracing_subscriber::fmt::layer().with_writer(writer);
    match format {
        LogFormat::Text => {
            let layer = layer.with_ansi(colours).fmt_fields(debug_fn(field).delimited(" "));
            Dispatch::new(registry.with(layer))
        }
        LogFormat::Json => {
            Dispatch::new(registry.with(layer.json().flatten_event(true).with_span_list(false)))
        }
    }
}

/// tracing's own format escapes what commands a terminal, but lets line breaks through.
fn field(writer: &mut Writer<'_>, field: &Field, value: &dyn Debug) -> fmt::Result {
    match field.name() {
        "message" => write!(Escaped(writer), "{value:?}"),
        name => {
            write!(writer, "{}=", name.trim_start_matches("r#"))?;
            write!(Escaped(writer), "{value:?}")
        }
    }
}

/// Writes control characters as Rust does in a literal.
struct Escaped<'a, W>(&'a mut W);

impl<W: Write> Write for Escaped<'_, W> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|letter| self.write_char(letter))
    }

    fn write_char(&mut self, letter: char) -> fmt::Result {
        if letter.is_control() {
            write!(self.0, "{}", letter.escape_default())
        } else {
            self.0.write_char(letter)
        }
    }
}
