//! What may be a name, in the words of Kubernetes. Pure.

/// Lower-case words with dots between them, at most 253 characters: RFC 1123.
pub(super) fn is_subdomain(text: &str) -> bool {
    let is_word = |word: &str| {
        let inner = |one: char| one.is_ascii_lowercase() || one.is_ascii_digit() || one == '-';
        !word.is_empty()
            && word.chars().all(inner)
            && !word.starts_with('-')
            && !word.ends_with('-')
    };
    text.len() <= 253 && text.split('.').all(is_word)
}

/// What the value of a label may be; empty is a value, too.
pub(super) fn is_label_value(text: &str) -> bool {
    let is_edge = |one: char| one.is_ascii_alphanumeric();
    let inner = |one: char| is_edge(one) || "-_.".contains(one);
    text.is_empty()
        || (text.len() <= 63
            && text.chars().all(inner)
            && text.starts_with(is_edge)
            && text.ends_with(is_edge))
}

/// What the key of a label or annotation may be: a name, with a domain and a slash before it or not.
pub(super) fn is_key(text: &str) -> bool {
    let (domain, name) =
        text.split_once('/').map_or((None, text), |(domain, name)| (Some(domain), name));
    domain.is_none_or(is_subdomain) && !name.is_empty() && is_label_value(name)
}

/// An amount such as `100m`, `1.5Gi` or `1e3`.
pub(super) fn is_quantity(text: &str) -> bool {
    const SUFFIXES: [&str; 16] =
        ["", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    let suffix = text.trim_start_matches(|one: char| one.is_ascii_digit() || one == '.');
    let number = text.strip_suffix(suffix).unwrap_or_default();
    let is_number = number.contains(|one: char| one.is_ascii_digit())
        && number.bytes().filter(|one| *one == b'.').count() <= 1;
    let exponent = suffix.strip_prefix(['e', 'E']);
    is_number
        && (SUFFIXES.contains(&suffix) || exponent.is_some_and(|text| text.parse::<i32>().is_ok()))
}

/// A lower-case word that begins with a letter, at most 63 characters: RFC 1035.
pub(super) fn is_label(text: &str) -> bool {
    text.len() <= 63
        && !text.contains('.')
        && is_subdomain(text)
        && text.starts_with(|one: char| one.is_ascii_lowercase())
}

/// An address such as `person@example.com`, or `A Person <person@example.com>`.
pub(super) fn is_mail(text: &str) -> bool {
    let address = text.split_once('<').map_or(Some(text), |(_, rest)| rest.strip_suffix('>'));
    let parts = address.and_then(|address| address.trim().split_once('@'));
    let is_part = |part: &str| {
        let odd = |one: char| one.is_whitespace() || "@<>()[],;:\\\"".contains(one);
        let dots = part.starts_with('.') || part.ends_with('.') || part.contains("..");
        !part.is_empty() && !dots && !part.contains(odd)
    };
    parts.is_some_and(|(person, host)| is_part(person) && is_part(host))
}

/// An address such as `https://example.com/docs`, or a path from the root.
pub(super) fn is_url(text: &str) -> bool {
    if text.chars().any(char::is_control) {
        return false;
    }
    if text.starts_with('/') {
        return true;
    }
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let inner = |one: char| one.is_ascii_alphanumeric() || "+-.".contains(one);
    let host = rest.strip_prefix("//").unwrap_or_default();
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    scheme.starts_with(|one: char| one.is_ascii_alphabetic())
        && scheme.chars().all(inner)
        && rest.starts_with('/')
        && !host.contains(' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_what_kubernetes_takes_for_names() {
        for (text, expected) in [
            ("a.v1.0.0", [true, true, false]),
            ("a-b", [true, true, true]),
            ("1a", [true, true, false]),
            ("A", [false, true, false]),
            ("a_b", [false, true, false]),
            ("-a", [false, false, false]),
            ("a..b", [false, true, false]),
            ("", [false, true, false]),
        ] {
            assert_eq!(
                [is_subdomain(text), is_label_value(text), is_label(text)],
                expected,
                "{text}"
            );
        }
        assert!(!is_label_value(&"a".repeat(64)) && is_subdomain(&"a".repeat(64)));
    }

    #[test]
    fn addresses_are_told_from_other_text() {
        for mail in ["a@example.com", "A Person <a@example.com>"] {
            assert!(is_mail(mail), "{mail}");
        }
        for text in ["a", "a@", "@b", "a b@c", "a@b@c", "A Person", "a@.example.com"] {
            assert!(!is_mail(text), "{text}");
        }
        for url in ["https://example.com", "https://example.com/a?b#c", "/docs"] {
            assert!(is_url(url), "{url}");
        }
        for text in ["example.com", "docs", "", "https://exa mple.com", "mailto:a@b"] {
            assert!(!is_url(text), "{text}");
        }
    }

    #[test]
    fn amounts_are_written_as_kubernetes_reads_them() {
        for text in ["1", "100m", "1.5Gi", ".5", "5.", "-1", "+2k", "1e3", "1E-3", "3E", "0"] {
            assert!(is_quantity(text), "{text}");
        }
        for text in ["", "m", ".", "128MiB", "1 Gi", "1.2.3", "1K", "1e", "1ee3", "one", "--1"] {
            assert!(!is_quantity(text), "{text}");
        }
    }

    #[test]
    fn keys_may_have_a_domain() {
        for text in ["a", "app.kubernetes.io/name", "A_b.c"] {
            assert!(is_key(text), "{text}");
        }
        for text in ["", "a/", "/a", "a b", "A.example.com/a", "a/b/c", "-a"] {
            assert!(!is_key(text), "{text}");
        }
    }
}
