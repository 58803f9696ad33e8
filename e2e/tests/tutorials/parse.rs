//! A page of a tutorial as what its reader does, step by step. Pure.
//!
//! | block | what it is |
//! |---|---|
//! | `console` | commands after `$ `, each followed by what it prints; `^C` ends what runs in the background |
//! | `console background` | one command that runs on, in a terminal of its own |
//! | `console fails` | commands that are refused |
//! | any language with `file=PATH` | a file that the reader writes |
//! | any language with `end=PATH` | what the reader writes at the end of that file |
//!
//! All other blocks are to be read only.

use std::fmt;

/// What a reader does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Types a command, and sees what is shown.
    Command { typed: String, shown: String, ends: End },
    /// Presses Ctrl-C in the terminal of the command that runs on.
    Interrupt,
    /// Writes a file.
    File { path: String, content: String },
    /// Writes more into a file.
    More { path: String, content: String },
}

/// How a command ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Well,
    Refused,
    /// Not by itself.
    Interrupted,
}

impl fmt::Display for Step {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { typed, .. } => write!(formatter, "$ {typed}"),
            Self::Interrupt => formatter.write_str("^C"),
            Self::File { path, .. } | Self::More { path, .. } => {
                write!(formatter, "writes {path}")
            }
        }
    }
}

/// The steps of a page, or what is wrong with it.
pub(crate) fn steps(page: &str) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
        steps.extend(of_block(info, &block)?);
    }
    Ok(steps)
}

fn of_block(info: &str, block: &[&str]) -> Result<Vec<Step>, String> {
    match info.split_whitespace().collect::<Vec<_>>()[..] {
        ["console"] => console(block, End::Well),
        ["console", "fails"] => console(block, End::Refused),
        ["console", "background"] => console(block, End::Interrupted),
        ["console", ..] => Err(format!("nothing is known of a block `{info}`")),
        [_, place] => Ok(written(place, format!("{}\n", block.join("\n"))).into_iter().collect()),
        _ => Ok(Vec::new()),
    }
}

fn written(place: &str, content: String) -> Option<Step> {
    let (how, path) = place.split_once('=')?;
    let path = path.to_owned();
    match how {
        "file" => Some(Step::File { path, content }),
        "end" => Some(Step::More { path, content }),
        _ => None,
    }
}

/// A command whose line ends in a backslash goes on in the next line.
fn console(block: &[&str], ends: End) -> Result<Vec<Step>, String> {
    let mut steps = Vec::new();
    for line in block {
        match (line.strip_prefix("$ "), steps.last_mut()) {
            (Some(typed), _) => {
                let (typed, shown) = (typed.to_owned(), String::new());
                steps.push(Step::Command { typed, shown, ends });
            }
            (None, _) if *line == "^C" => steps.push(Step::Interrupt),
            (None, Some(Step::Command { typed, .. })) if typed.ends_with('\\') => {
                *typed = format!("{typed}\n{line}");
            }
            (None, Some(Step::Command { shown, .. })) => shown.extend([line, "\n"]),
            _ => return Err(format!("`{line}` follows no command")),
        }
    }
    Ok(steps)
}

/// How many commands there are from each `kubewright new` to pods that are shown to be running: the last
/// line of the first, and the number.
pub(crate) fn commands_until_running(steps: &[Step]) -> Vec<(String, usize)> {
    let mut counts = Vec::new();
    let mut count = 0;
    for step in steps {
        let Step::Command { typed, shown, .. } = step else { continue };
        if typed.starts_with("kubewright new") {
            counts.push((typed.clone(), 0));
            count = 1;
        } else if count > 0 {
            count += 1;
        }
        if let Some((_, until @ 0)) = counts.last_mut().filter(|_| shown.contains("Running")) {
            *until = count;
        }
    }
    counts.retain(|(_, count)| *count > 0);
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(typed: &str, shown: &str, ends: End) -> Step {
        Step::Command { typed: typed.to_owned(), shown: shown.to_owned(), ends }
    }

    #[test]
    fn commands_come_with_what_they_print() {
        let page =
            "Type\n\n```console\n$ cd a\n$ ls \\\n    -l\nb\nc\n```\n\n```rust\nfn a() {}\n```\n";
        let expected =
            [command("cd a", "", End::Well), command("ls \\\n    -l", "b\nc\n", End::Well)];
        assert_eq!(steps(page).unwrap(), expected);
    }

    #[test]
    fn what_runs_on_is_ended_by_ctrl_c() {
        let page = "```console background\n$ run\nup\n```\n```console\n^C\n```\n";
        let expected = [command("run", "up\n", End::Interrupted), Step::Interrupt];
        assert_eq!(steps(page).unwrap(), expected);
    }

    #[test]
    fn a_block_with_a_file_name_is_that_file() {
        let page = "```rust file=src/a.rs\nfn a() {}\n\nfn b() {}\n```\n";
        let content = "fn a() {}\n\nfn b() {}\n".to_owned();
        assert_eq!(steps(page).unwrap(), [Step::File { path: "src/a.rs".to_owned(), content }]);
        let more = Step::More { path: "a.toml".to_owned(), content: "a = 1\n".to_owned() };
        assert_eq!(steps("```toml end=a.toml\na = 1\n```\n").unwrap(), [more]);
    }

    #[test]
    fn a_page_that_is_not_understood_is_refused() {
        assert!(steps("```console quickly\n$ a\n```\n").is_err());
        assert!(steps("```console\nno command\n```\n").is_err());
    }

    #[test]
    fn commands_are_counted_from_each_new_project_to_its_pods() {
        let page = "```console\n$ ls\n$ kubewright new a\n$ kubewright test\n$ kubectl get pods\na Running\n\
                    $ kubectl get pods\na Running\n$ kubewright new b\n$ cd b\n```\n";
        let counts = commands_until_running(&steps(page).unwrap());
        assert_eq!(counts, [("kubewright new a".to_owned(), 3)]);
    }
}
