//! Names that are derived from the name of another object and have to fit a tighter rule. Pure.
//!
//! An object may have a name of 253 characters with dots; a label value, a container or a Service may
//! not. Each function gives the name itself where it is legal, else a legal beginning of it, a dash
//! and a hash of the whole, so that different names stay different. The result for a given name never
//! changes, not with a new version of the library either: objects in clusters bear it.
//!
//! The hash guards against accident, not against somebody who chooses names to collide.

/// The longest DNS label and the longest label value.
const MAX: usize = 63;
/// A dash and the 16 hexadecimal digits of the hash.
const SUFFIX: usize = 17;

/// `name` as the value of a label: at most 63 letters, digits, `-`, `_` and `.`, with a letter or digit
/// at both ends. Empty is legal.
///
/// ```
/// use kubewright::names::label_value;
///
/// assert_eq!(label_value("My_guestbook.v1"), "My_guestbook.v1");
/// assert_eq!(label_value("a/b"), "a-b-e620c3190468cf61");
/// ```
pub fn label_value(name: &str) -> String {
    let is_legal = |one: u8| one.is_ascii_alphanumeric() || matches!(one, b'-' | b'_' | b'.');
    let is_end = |one: &u8| one.is_ascii_alphanumeric();
    let bytes = name.as_bytes();
    let fits = bytes.len() <= MAX
        && bytes.iter().all(|one| is_legal(*one))
        && bytes.first().is_none_or(is_end)
        && bytes.last().is_none_or(is_end);
    if fits { name.to_owned() } else { with_hash(&replaced(name, is_legal), name) }
}

/// `name` as a DNS label (RFC 1123), for containers, ports and most children: at most 63 lower-case
/// letters, digits and `-`, with a letter or digit at both ends.
///
/// ```
/// use kubewright::names::dns_label;
///
/// assert_eq!(dns_label("guestbook-1"), "guestbook-1");
/// assert_eq!(dns_label("guestbook.v1"), "guestbook-v1-09189ac1739d8569");
/// ```
pub fn dns_label(name: &str) -> String {
    if is_dns_label(name) { name.to_owned() } else { with_hash(&lower(name), name) }
}

/// `name` as the name of a Service (RFC 1035): a DNS label that begins with a letter.
///
/// ```
/// use kubewright::names::service_name;
///
/// assert_eq!(service_name("guestbook-1"), "guestbook-1");
/// assert_eq!(service_name("1-guestbook"), "x1-guestbook-2c27f86849fb3b90");
/// ```
pub fn service_name(name: &str) -> String {
    let begins_with_letter = |text: &str| text.starts_with(|one: char| one.is_ascii_lowercase());
    if is_dns_label(name) && begins_with_letter(name) {
        return name.to_owned();
    }
    let lower = lower(name);
    let beginning = lower.trim_start_matches('-');
    if begins_with_letter(beginning) {
        with_hash(beginning, name)
    } else {
        with_hash(&format!("x{beginning}"), name)
    }
}

fn is_dns_label(name: &str) -> bool {
    let is_inner = |one: u8| matches!(one, b'a'..=b'z' | b'0'..=b'9' | b'-');
    (1..=MAX).contains(&name.len())
        && name.bytes().all(is_inner)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

fn lower(name: &str) -> String {
    replaced(&name.to_ascii_lowercase(), |one| one.is_ascii_lowercase() || one.is_ascii_digit())
}

/// ASCII of the same number of characters, so that it can be cut anywhere.
fn replaced(name: &str, is_legal: impl Fn(u8) -> bool) -> String {
    let legal = |letter: char| u8::try_from(letter).is_ok_and(&is_legal);
    name.chars().map(|letter| if legal(letter) { letter } else { '-' }).collect()
}

/// The beginning of `legal` and the hash of `name`, together not longer than a label may be.
fn with_hash(legal: &str, name: &str) -> String {
    let ends = ['-', '_', '.'];
    let start = legal.trim_start_matches(ends);
    let beginning = start[..start.len().min(MAX - SUFFIX)].trim_end_matches(ends);
    let hash = fnv1a(name.as_bytes());
    if beginning.is_empty() { format!("{hash:016x}") } else { format!("{beginning}-{hash:016x}") }
}

/// FNV-1a with 64 bits: short, fixed for ever, and never the same for two names that differ in one
/// character, as the names of siblings do.
fn fnv1a(bytes: &[u8]) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    bytes.iter().fold(OFFSET, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests;
