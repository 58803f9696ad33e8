//! Finds out of the machine's apt sources from where it gets Debian, so that the same mirror is used
//! and no other host is spoken to.
//!
//! Parsing is pure; only [`of_this_machine`] reads files. Writes nothing.

use std::fs;
use std::path::{Path, PathBuf};

/// The mirror that this machine is configured to use.
pub(super) fn of_this_machine() -> Option<String> {
    let directory = Path::new("/etc/apt");
    let listed = fs::read_dir(directory.join("sources.list.d")).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = listed.map(|entry| entry.path()).collect();
    files.sort(); // as apt does
    files.insert(0, directory.join("sources.list"));
    files.iter().find_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        match file.extension()?.to_str()? {
            "list" => in_list(&text),
            "sources" => in_stanzas(&text),
            _ => None, // apt ignores them too
        }
    })
}

/// The mirror in a file of lines: `deb [options] URI SUITE COMPONENT…`.
fn in_list(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.split('#').next().unwrap_or_default();
        let rest = line.trim().strip_prefix("deb")?;
        let rest = rest.strip_prefix([' ', '\t'])?.trim_start();
        let rest = match rest.strip_prefix('[') {
            Some(options) => options.split_once(']')?.1,
            None => rest,
        };
        let mut words = rest.split_whitespace();
        let (uri, _suite) = (words.next()?, words.next()?);
        words.any(|component| component == "main").then(|| debian(uri)).flatten()
    })
}

/// The mirror in a file of stanzas (deb822): `Types:`, `URIs:`, `Suites:`, `Components:`.
fn in_stanzas(text: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    lines.split(|line| line.trim().is_empty()).find_map(|stanza| {
        let field = |name| words_of(stanza, name);
        let is_on = !field("Enabled").iter().any(|word| word.eq_ignore_ascii_case("no"));
        let is_ours = field("Types").contains(&"deb") && field("Components").contains(&"main");
        (is_on && is_ours).then(|| field("URIs").into_iter().find_map(debian)).flatten()
    })
}

/// The words of a field, those of its continuation lines included.
fn words_of<'a>(stanza: &[&'a str], name: &str) -> Vec<&'a str> {
    let mut words = Vec::new();
    let mut is_inside = false;
    for line in stanza {
        if line.starts_with([' ', '\t']) {
            if is_inside {
                words.extend(line.split_whitespace());
            }
        } else if let Some((key, value)) = line.split_once(':') {
            is_inside = key.eq_ignore_ascii_case(name);
            if is_inside {
                words.extend(value.split_whitespace());
            }
        }
    }
    words
}

/// The URI if it is of the Debian archive itself. `debian.list` is how cloud images say it: a
/// `mirror+file:` list of mirrors, which apt takes in place of a URI.
fn debian(uri: &str) -> Option<String> {
    let uri = uri.trim_end_matches('/');
    (uri.ends_with("/debian") || uri.ends_with("/debian.list")).then(|| uri.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mirror_is_found_in_a_list_with_options_comments_and_other_archives() {
        let text = "\
# deb http://commented.example/debian bookworm main
deb-src http://sources.example/debian bookworm main
deb http://security.example/debian-security bookworm-security main
deb [arch=amd64 signed-by=/k.gpg] https://container.example/linux/debian bookworm stable
deb [ arch=amd64 ] http://mirror.example/pub/debian/ bookworm main contrib # ours
deb http://second.example/debian bookworm main
";
        assert_eq!(in_list(text).as_deref(), Some("http://mirror.example/pub/debian"));
    }

    #[test]
    fn the_mirror_is_found_in_stanzas() {
        let text = "\
Types: deb
URIs: http://security.example/debian-security
Suites: bookworm-security
Components: main

Enabled: no
Types: deb
URIs: http://disabled.example/debian
Components: main

Types: deb deb-src
# URIs: http://commented.example/debian
uris: http://other.example/thing
  http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
";
        assert_eq!(in_stanzas(text).as_deref(), Some("http://mirror.example/debian"));
    }

    #[test]
    fn a_list_of_mirrors_is_taken_as_it_is() {
        let text =
            "Types: deb\nURIs: mirror+file:///etc/apt/mirrors/debian.list\nComponents: main\n";
        let expected = Some("mirror+file:///etc/apt/mirrors/debian.list");
        assert_eq!(in_stanzas(text).as_deref(), expected);
    }

    #[test]
    fn a_machine_of_another_distribution_has_no_mirror() {
        assert_eq!(in_list("deb http://archive.example/ubuntu noble main\n"), None);
        assert_eq!(
            in_stanzas("Types: deb\nURIs: http://a.example/ubuntu\nComponents: main\n"),
            None
        );
        assert_eq!(in_stanzas(""), None);
    }
}
