//! What a registry wants of somebody whom it does not know yet, out of its header `WWW-Authenticate`.
//! Pure.

use std::collections::BTreeMap;

/// What a registry asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Challenge {
    /// Name and password with each request.
    Basic,
    /// A token, to be got at `realm`.
    Bearer { realm: String, service: Option<String>, scope: Option<String> },
}

impl Challenge {
    /// None if it is in no known way.
    pub(super) fn parse(header: &str) -> Option<Self> {
        let (scheme, rest) = header.trim().split_once(' ').unwrap_or((header.trim(), ""));
        if scheme.eq_ignore_ascii_case("basic") {
            return Some(Self::Basic);
        }
        let mut values = parameters(rest);
        if !scheme.eq_ignore_ascii_case("bearer") {
            return None;
        }
        let realm = values.remove("realm")?;
        Some(Self::Bearer {
            realm,
            service: values.remove("service"),
            scope: values.remove("scope"),
        })
    }
}

/// `name="value"` pairs with commas between them; a comma in quotes belongs to its value.
fn parameters(text: &str) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    let mut rest = text;
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_start();
        let (value, remaining) = match after.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
            None => after.split_once(',').unwrap_or((after, "")),
        };
        let name = name.trim_matches([',', ' ']).to_ascii_lowercase();
        values.insert(name, value.trim().to_owned());
        rest = remaining;
    }
    values
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_header_is_understood_or_not(header in "(bearer |Basic |realm=|,|=|\"|[a-zü ]){0,12}") {
            let _ = Challenge::parse(&header);
        }

        #[test]
        fn what_is_in_quotes_is_a_value(realm in "[^\"]*[^\"\\s][^\"]*") {
            let header = format!("Bearer realm=\"{realm}\",service=\"a\"");
            let (realm, service) = (realm.trim().to_owned(), Some("a".to_owned()));
            prop_assert_eq!(Challenge::parse(&header), Some(Challenge::Bearer { realm, service, scope: None }));
        }
    }

    #[test]
    fn a_bearer_challenge_may_hold_commas_in_its_values() {
        let header = r#"Bearer realm="https://auth.example.com/token",service="registry", scope="repository:a/b:pull,push",error="x""#;
        let expected = Challenge::Bearer {
            realm: "https://auth.example.com/token".to_owned(),
            service: Some("registry".to_owned()),
            scope: Some("repository:a/b:pull,push".to_owned()),
        };
        assert_eq!(Challenge::parse(header), Some(expected));
    }

    #[test]
    fn a_basic_challenge_needs_no_realm() {
        assert_eq!(Challenge::parse(r#"basic realm="Registry""#), Some(Challenge::Basic));
        assert_eq!(Challenge::parse("Basic"), Some(Challenge::Basic));
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for header in ["", "Negotiate", "Bearer", r#"Bearer service="a""#] {
            assert_eq!(Challenge::parse(header), None, "{header}");
        }
    }
}
