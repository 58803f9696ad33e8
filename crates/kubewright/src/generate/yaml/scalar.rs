//! One value without fields or items, and when a string needs quotes.

use std::fmt::Write as _;

use serde_json::{Number, Value};

/// Mean something else than themselves to some reader, in any case of their letters.
const WORDS: &[&str] = &[
    "~", "null", "true", "false", "yes", "no", "on", "off", "y", "n", ".inf", "+.inf", "-.inf",
    ".nan", "=", "<<",
];

/// The value in its shortest form that is read back as the same. A block of lines is indented by
/// `indent` and ends with a newline.
pub(super) fn scalar(value: &Value, indent: usize) -> String {
    match value {
        Value::String(text) if is_block(text) => block(text, indent),
        Value::String(text) => key(text),
        Value::Number(number) => self::number(number),
        // Empty lists and objects too: the others are written by the caller.
        _ => value.to_string(),
    }
}

/// A string on one line.
pub(super) fn key(text: &str) -> String {
    if text.chars().any(needs_escape) {
        double_quoted(text)
    } else if is_plain(text) {
        text.to_owned()
    } else if text.contains(['"', '\\']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        format!("\"{text}\"")
    }
}

/// `65535`, not `65535.0`: where JSON has one type of number, the shorter text is the better.
fn number(number: &Number) -> String {
    let text = number.to_string();
    text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
}

fn double_quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            _ if needs_escape(letter) => {
                // Writing to a string does not fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(letter));
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

/// Not printable in YAML, or a line break to some reader. All of them have four hexadecimal digits.
fn needs_escape(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

fn is_plain(text: &str) -> bool {
    let has_dash = text.starts_with('-') && !text.starts_with("---");
    let after_dash = text.trim_start_matches('-');
    let begins_well = if has_dash {
        after_dash.starts_with(|letter: char| letter.is_ascii_alphabetic())
    } else {
        text.starts_with(|letter: char| letter.is_alphanumeric() || "./$(_+<^;~=".contains(letter))
    };
    begins_well
        && !text.ends_with([' ', ':'])
        && !text.contains(": ")
        && !text.contains(" #")
        && !text.starts_with("...")
        && !WORDS.contains(&text.to_ascii_lowercase().as_str())
        && !is_number_or_date(text)
}

/// True if it begins as a number does and goes on as a number, a time or a date may, in any notation
/// that YAML ever had: `1_000`, `0o17`, `1:30`, `2001-02-03`.
fn is_number_or_date(text: &str) -> bool {
    let bare = text.replace('_', "");
    let bare = bare.trim_start_matches(['+', '-', '.']);
    if !bare.starts_with(|letter: char| letter.is_ascii_digit()) {
        return false;
    }
    let has_prefix = ["0x", "0X", "0o", "0O", "0b", "0B"].iter().any(|one| bare.starts_with(one));
    let is_date = |letter: char| letter.is_ascii_digit() || ":-+.TtZz ".contains(letter);
    has_prefix
        || bare.parse::<f64>().is_ok()
        || (bare.contains([':', '-']) && bare.chars().all(is_date))
}

/// True if a block of lines says it without doubt: it does not begin with space, which would be taken
/// for indentation, and nothing in it needs an escape.
fn is_block(text: &str) -> bool {
    let is_safe = |letter: char| letter == '\n' || letter == '\t' || !needs_escape(letter);
    text.contains('\n') && !text.starts_with([' ', '\t', '\n']) && text.chars().all(is_safe)
}

fn block(text: &str, indent: usize) -> String {
    let end = match text.strip_suffix('\n') {
        None => "|-",
        Some(rest) if rest.ends_with('\n') => "|+",
        Some(_) => "|",
    };
    let mut block = format!("{end}\n");
    for line in text.lines() {
        if !line.is_empty() {
            block.extend(std::iter::repeat_n(' ', indent));
        }
        block.push_str(line);
        block.push('\n');
    }
    block
}
