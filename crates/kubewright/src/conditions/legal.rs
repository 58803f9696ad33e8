//! Makes a condition pass the schema of `metav1.Condition`. One illegal reason would have the API
//! server refuse the whole status, and with it the message that says what is wrong.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;

use super::Status;
use super::text::truncate;

const MAX_TYPE: usize = 316;
const MAX_REASON: usize = 1024;
/// The schema counts characters; bytes are never fewer.
const MAX_MESSAGE: usize = 32768;
/// Stands for a type or reason of which nothing legal is left.
const NOTHING: &str = "Unknown";

/// Changes only what the API server would refuse.
pub(super) fn make(condition: &mut Condition) {
    if !is_type(&condition.type_) {
        condition.type_ = legal_type(&condition.type_);
    }
    if !is_reason(&condition.reason) {
        condition.reason = legal_reason(&condition.reason);
    }
    let known = [Status::True, Status::False, Status::Unknown].map(Status::as_str);
    if !known.contains(&condition.status.as_str()) {
        condition.status = Status::Unknown.as_str().into();
    }
    condition.observed_generation = condition.observed_generation.filter(|number| *number >= 0);
    truncate(&mut condition.message, MAX_MESSAGE);
}

/// `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`
fn is_reason(reason: &str) -> bool {
    reason.len() <= MAX_REASON
        && reason.starts_with(|first: char| first.is_ascii_alphabetic())
        && reason.ends_with(|last: char| last.is_ascii_alphanumeric() || last == '_')
        && reason.chars().all(is_in_reason)
}

fn is_in_reason(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '_' | ',' | ':')
}

fn legal_reason(reason: &str) -> String {
    let replaced = replace(reason, '_', is_in_reason);
    let start = replaced.trim_start_matches(|first: char| !first.is_ascii_alphabetic());
    let cut = &start[..start.len().min(MAX_REASON)];
    or_nothing(cut.trim_end_matches([',', ':', '_']))
}

/// A qualified name whose part after the slash is as long as the rest of the schema lets it be:
/// `^(dns-subdomain/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$`
fn is_type(type_: &str) -> bool {
    let (prefix, name) = type_.split_once('/').map_or((None, type_), |(a, b)| (Some(a), b));
    type_.len() <= MAX_TYPE
        && prefix.is_none_or(is_subdomain)
        && name.starts_with(|first: char| first.is_ascii_alphanumeric())
        && name.ends_with(|last: char| last.is_ascii_alphanumeric())
        && name.chars().all(is_in_type)
}

fn is_in_type(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.')
}

fn is_subdomain(prefix: &str) -> bool {
    prefix.split('.').all(|label| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.chars().all(|one| matches!(one, 'a'..='z' | '0'..='9' | '-'))
    })
}

/// A prefix is given up: a type that is not legal is nobody's qualified name.
fn legal_type(type_: &str) -> String {
    let replaced = replace(type_, '-', is_in_type);
    let start = replaced.trim_start_matches(['-', '_', '.']);
    let cut = &start[..start.len().min(MAX_TYPE)];
    or_nothing(cut.trim_end_matches(['-', '_', '.']))
}

/// The result is ASCII, so that it can be cut anywhere.
fn replace(text: &str, by: char, is_legal: impl Fn(char) -> bool) -> String {
    text.chars().map(|letter| if is_legal(letter) { letter } else { by }).collect()
}

fn or_nothing(text: &str) -> String {
    if text.is_empty() { NOTHING.to_owned() } else { text.to_owned() }
}
