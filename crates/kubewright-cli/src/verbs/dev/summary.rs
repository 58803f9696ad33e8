//! The last words of `kubewright dev up`: what runs and how to go on. Pure.

use std::path::Path;
use std::time::Duration;

use super::record::Record;

/// Whether `kubectl` is in PATH decides what is said about it.
pub(super) fn summary(record: &Record, opening: &str, has_kubectl: bool) -> String {
    let kubeconfig = quoted(&record.kubeconfig);
    let own = quoted(&record.kubectl);
    let mut lines = vec![
        format!("Kubernetes {} {opening}", record.version),
        String::new(),
        format!("  export KUBECONFIG={kubeconfig}"),
    ];
    if !has_kubectl {
        lines.push(format!("  alias kubectl={own}"));
    }
    let next = if record.nodes == 0 { "kubectl get namespaces" } else { "kubectl get pods -A" };
    lines.extend([
        String::new(),
        format!("  next    {next}"),
        "  logs    kubewright dev logs kube-apiserver".to_owned(),
        "  stop    kubewright dev down".to_owned(),
    ]);
    format!("{}\n", lines.join("\n"))
}

/// `1 node`
pub(super) fn nodes(count: u8) -> String {
    match count {
        0 => "control plane, no nodes".to_owned(),
        1 => "1 node".to_owned(),
        _ => format!("{count} nodes"),
    }
}

/// How long something has been up, in the two largest units.
pub(super) fn age(age: Duration) -> String {
    let minutes = age.as_secs() / 60;
    let (days, hours) = (minutes / (24 * 60), minutes / 60 % 24);
    match (days, hours, minutes % 60) {
        (0, 0, 0) => format!("{} s", age.as_secs()),
        (0, 0, minutes) => format!("{minutes} min"),
        (0, hours, minutes) => format!("{hours} h {minutes} min"),
        (days, hours, _) => format!("{days} d {hours} h"),
    }
}

/// As a shell reads it: in quotes only where it must be.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |one: char| one.is_alphanumeric() || "/._-+=:,@%".contains(one);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Whether a shell would find `kubectl` in these directories.
pub(super) fn has_kubectl(path: &std::ffi::OsStr) -> bool {
    std::env::split_paths(path).any(|directory| directory.join("kubectl").is_file())
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    #[test]
    fn the_summary_says_what_runs_and_how_to_go_on() {
        assert_eq!(
            summary(&record(), "is up: 1 node, in 11.2 s", true),
            "Kubernetes 1.36.3 is up: 1 node, in 11.2 s

  export KUBECONFIG=/state/dev/kubeconfig

  next    kubectl get pods -A
  logs    kubewright dev logs kube-apiserver
  stop    kubewright dev down
"
        );
    }

    #[test]
    fn without_kubectl_in_path_the_one_of_the_environment_is_offered() {
        let text = summary(&record(), "is up", false);
        assert!(text.contains("  alias kubectl=/cache/kubectl\n"), "{text}");
        assert!(!has_kubectl("/nonexistent:/proc".as_ref()));
    }

    #[test]
    fn a_path_is_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted("/a-b/c.d".as_ref()), "/a-b/c.d");
        assert_eq!(quoted("/a b/it's".as_ref()), r"'/a b/it'\''s'");
    }

    #[test]
    fn an_age_reads_like_a_person_says_it() {
        let of = |seconds| age(Duration::from_secs(seconds));
        assert_eq!([of(0), of(59), of(60)], ["0 s", "59 s", "1 min"]);
        assert_eq!([of(7_500), of(180_000)], ["2 h 5 min", "2 d 2 h"]);
    }

    #[test]
    fn nodes_are_counted_in_words() {
        assert_eq!(nodes(0), "control plane, no nodes");
        assert_eq!([nodes(1), nodes(2)], ["1 node", "2 nodes"]);
    }
}
