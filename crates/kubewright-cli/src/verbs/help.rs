//! The first help: all verbs, in the order in which a user needs them. Owns the order; what a verb is
//! for is said where it is defined.

use std::fmt::Write as _;

use clap::Command;

use crate::style::HEADING;

/// Headings and the verbs under them. What is not named here comes last.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Make a project", &["new", "init", "add", "create"]),
    ("Every day", &["generate", "test", "install", "uninstall", "run", "build"]),
    ("A Kubernetes of your own", &["dev"]),
    ("Images and clusters", &["image", "deploy", "undeploy"]),
    ("Catalogues", &["bundle", "scorecard", "catalog", "olm", "cleanup"]),
];
const REST: &str = "The rest";

/// Narrow terminals have this many columns, and longer lines are hard to read.
const WIDTH: usize = 80;

/// `command` with that help.
pub(super) fn grouped(command: Command) -> Command {
    let groups = groups(&command);
    let verb_width = groups.iter().flat_map(|(_, verbs)| verbs).map(|(name, _)| name.len()).max();
    let verb_width = verb_width.unwrap_or_default();
    let mut template =
        format!("{{about}}\n\n{HEADING}Usage:{HEADING:#} kubewright VERB [ARGUMENTS]\n");
    for (heading, verbs) in groups {
        // Writing to a string cannot fail.
        let _ = writeln!(template, "\n{HEADING}{heading}:{HEADING:#}");
        for (name, about) in verbs {
            let indent = verb_width + 4;
            let about = wrapped(&about, WIDTH - indent).join(&format!("\n{:indent$}", ""));
            let _ = writeln!(template, "  {name:verb_width$}  {about}");
        }
    }
    let _ = write!(
        template,
        "\n{HEADING}Options:{HEADING:#}\n{{options}}\n\n\
         `kubewright VERB --help` tells all about a verb, with an example.\n"
    );
    command.help_template(template)
}

/// Each heading with its verbs, and what each is for; without headings that have none.
fn groups(command: &Command) -> Vec<(&'static str, Vec<(String, String)>)> {
    let described = |verb: &Command| {
        (verb.get_name().to_owned(), verb.get_about().map(ToString::to_string).unwrap_or_default())
    };
    let named = GROUPS.map(|(heading, names)| {
        let verbs = names.iter().filter_map(|name| command.find_subcommand(name));
        (heading, verbs.filter(|verb| !verb.is_hide_set()).map(described).collect::<Vec<_>>())
    });
    let is_named = |name: &str| GROUPS.iter().any(|(_, names)| names.contains(&name));
    let rest = command.get_subcommands().filter(|verb| !verb.is_hide_set());
    let rest = rest.filter(|verb| !is_named(verb.get_name())).map(described).collect();
    let all = named.into_iter().chain([(REST, rest)]);
    all.filter(|(_, verbs)| !verbs.is_empty()).collect()
}

/// `text` in lines of at most `width` characters, unless a word is longer.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let Some(line) = lines.last_mut() else { break };
        if line.is_empty() {
            line.push_str(word);
        } else if line.chars().count() + 1 + word.chars().count() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::Kubewright;
    use super::*;

    #[test]
    fn each_verb_is_told_once_and_no_line_is_too_wide() {
        let text = Kubewright::definition().render_help().to_string();
        for verb in Kubewright::definition().get_subcommands() {
            let start = format!("  {} ", verb.get_name());
            let count = text.lines().filter(|line| line.starts_with(&start)).count();
            assert_eq!(count, usize::from(!verb.is_hide_set()), "{start}\n{text}");
        }
        assert!(text.lines().all(|line| line.chars().count() <= WIDTH), "{text}");
        let order =
            ["Every day:", "A Kubernetes of your own:", "Images and clusters:", "The rest:"];
        let places = order.map(|heading| text.find(heading).unwrap());
        assert!(places.is_sorted(), "{text}");
    }

    #[test]
    fn every_verb_teaches_with_an_example() {
        fn check(verb: &Command, path: &str) {
            let path = format!("{path} {}", verb.get_name());
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let has_example = help.starts_with("Example") && help.contains("\n  ");
            assert!(has_example && help.contains("kubewright "), "{path}: {help}");
            verb.get_subcommands().for_each(|verb| check(verb, &path));
        }
        Kubewright::definition().get_subcommands().for_each(|verb| check(verb, "kubewright"));
    }

    #[test]
    fn long_texts_are_wrapped_between_words() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable", 4), ["unbreakable"]);
    }
}
