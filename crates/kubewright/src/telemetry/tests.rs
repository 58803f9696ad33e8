//! What a line looks like, and what it never does.

use std::io::Write;
use std::sync::{Arc, Mutex};

use serde_json::Value;

use super::*;

#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn logged(level: &str, format: LogFormat, colours: bool, log: impl FnOnce()) -> String {
    let buffer = Buffer::default();
    let writer = buffer.clone();
    let dispatch =
        dispatch(&level.parse().unwrap(), format, colours, move || -> Buffer { writer.clone() });
    dispatcher::with_default(&dispatch, log);
    let bytes = buffer.0.lock().unwrap().clone();
    String::from_utf8(bytes).unwrap()
}

/// A line break, a line that looks real, a terminal command, and its eight-bit form.
const EVIL: &str = "a\r\n2026-01-01T00:00:00Z  INFO forged\x1b[2J\x07\u{9b}31m";

fn log_evil() {
    let error = io::Error::other(EVIL);
    let span = tracing::info_span!("pass", object = %EVIL);
    let _inside = span.enter();
    tracing::info!(display = %EVIL, debug = ?EVIL, text = EVIL, "constant");
    tracing::warn!(error = &error as &dyn std::error::Error, "{EVIL}");
}

#[test]
fn a_value_cannot_add_a_line_or_command_a_terminal() {
    for colours in [false, true] {
        let text = logged("info", LogFormat::Text, colours, log_evil);
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert_eq!(text.matches('\n').count(), 2, "{text:?}");
        // The colours are ours; nothing else may remain.
        let own = text.split('\x1b').skip(1).all(|after| {
            ["[0m", "[1m", "[2m", "[3m", "[32m", "[33m"].iter().any(|code| after.starts_with(code))
        });
        assert!(own, "{text:?}");
        assert!(!text.contains(['\r', '\x07', '\u{9b}']), "{text:?}");
        assert!(text.contains(r"display=a\r\n2026"), "{text:?}");
    }
}

#[test]
fn text_has_the_time_in_utc_the_level_the_span_and_the_fields() {
    let text = logged("info", LogFormat::Text, false, || {
        let span = tracing::info_span!("pass", object = %"default/a");
        let _inside = span.enter();
        tracing::info!(count = 3, r#type = "Pod", "applied");
    });
    let (time, rest) = text.split_once(' ').unwrap();
    let time: jiff::Timestamp = time.parse().unwrap();
    assert!(
        crate::clock::Clock::system().now_micro().duration_since(time).as_secs() < 60,
        "{text}"
    );
    assert!(text.split_once(' ').unwrap().0.ends_with('Z'), "{text}");
    assert_eq!(
        rest,
        " INFO pass{object=default/a}: kubewright::telemetry::tests: applied count=3 type=\"Pod\"\n"
    );
}

#[test]
fn json_is_one_object_per_line_with_the_values_as_they_are() {
    let text = logged("info", LogFormat::Json, true, log_evil);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{text:?}");
    assert_eq!(lines[0]["message"], "constant");
    assert_eq!(lines[0]["level"], "INFO");
    assert_eq!(lines[0]["display"], EVIL);
    assert_eq!(lines[0]["span"]["object"], EVIL);
    assert_eq!(lines[1]["error"], EVIL);
    let time: jiff::Timestamp = lines[0]["timestamp"].as_str().unwrap().parse().unwrap();
    assert!(crate::clock::Clock::system().now_micro().duration_since(time).as_secs() < 60);
    assert!(!text.contains('\x1b'), "{text:?}");
}

#[test]
fn what_is_below_the_level_is_not_logged() {
    let text = logged("warn,loud=debug", LogFormat::Text, false, || {
        tracing::info!("hidden");
        tracing::debug!(target: "loud", "shown");
        tracing::error!("shown");
    });
    assert_eq!(text.lines().count(), 2, "{text}");
    assert!(!text.contains("hidden"), "{text}");
}

#[test]
fn installing_twice_does_nothing() {
    install(&"off".parse().unwrap(), LogFormat::Json);
    install(&"trace".parse().unwrap(), LogFormat::Text);
    assert!(!tracing::enabled!(tracing::Level::ERROR), "the first one stays");
}
