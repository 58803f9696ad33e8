//! Names of namespaces, Leases and Deployments, checked as the API server would.

use std::ops::Deref;

use clap::{Arg, ArgAction, ArgMatches, Command};

const FLAG: &str = "namespace";

/// The namespaces to look after, sorted and each once; empty means all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespaces(Vec<String>);

impl Deref for Namespaces {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

impl FromIterator<String> for Namespaces {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let mut names: Vec<_> = names.into_iter().filter(|name| !name.is_empty()).collect();
        names.sort();
        names.dedup();
        Self(names)
    }
}

// By hand, because an empty variable must mean all namespaces and not one without a name: that is how
// a Deployment writes it that has nothing to say, and a list of clap's keeps the empty value.
impl clap::Args for Namespaces {
    fn augment_args(command: Command) -> Command {
        let help = "Look after these namespaces only, separated by commas or by repeating the flag \
                    [default: all]. An operator that may read only some namespaces needs it";
        command.arg(
            Arg::new(FLAG)
                .long(FLAG)
                .env("WATCH_NAMESPACE")
                .value_name("NAMESPACE")
                .value_delimiter(',')
                .action(ArgAction::Append)
                .value_parser(label_or_nothing)
                .help(help),
        )
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl clap::FromArgMatches for Namespaces {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(matches.get_many::<String>(FLAG).into_iter().flatten().cloned().collect())
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        if matches.contains_id(FLAG) {
            *self = Self::from_arg_matches(matches)?;
        }
        Ok(())
    }
}

fn label_or_nothing(text: &str) -> Result<String, String> {
    let text = text.trim();
    if text.is_empty() { Ok(String::new()) } else { label(text) }
}

/// A DNS label.
pub(crate) fn label(text: &str) -> Result<String, String> {
    if text.len() <= 63 && is_label(text) {
        return Ok(text.to_owned());
    }
    Err("a namespace has 1 to 63 small letters, digits and hyphens, and no hyphen at either end"
        .to_owned())
}

/// A DNS subdomain.
pub(super) fn subdomain(text: &str) -> Result<String, String> {
    if text.len() <= 253 && text.split('.').all(is_label) {
        return Ok(text.to_owned());
    }
    Err("such a name has 1 to 253 small letters, digits, hyphens and dots, and begins and ends \
         with a letter or digit"
        .to_owned())
}

fn is_label(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    !text.is_empty() && text.bytes().all(allowed) && !text.starts_with('-') && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_checked_as_the_api_server_does() {
        for good in ["a", "kube-system", "0", &"a".repeat(63)] {
            assert_eq!(label(good).as_deref(), Ok(good));
            assert_eq!(subdomain(good).as_deref(), Ok(good));
        }
        for bad in ["", "-a", "a-", "A", "a_b", "ä", "a b", "../a"] {
            assert!(label(bad).is_err(), "{bad}");
            assert!(subdomain(bad).is_err(), "{bad}");
        }
        assert!(label(&"a".repeat(64)).is_err());
        assert!(label("a.b").is_err());
        assert!(subdomain("a.example.com").is_ok());
        assert!(subdomain("a..b").is_err());
        assert!(subdomain(&"a.".repeat(127)).is_err());
    }
}
