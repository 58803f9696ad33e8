//! What comes out of a command line.

use clap::builder::Resettable;
use clap::error::ErrorKind;
use clap::{Args as _, Command, FromArgMatches as _};

use super::*;

fn command() -> Command {
    Flags::augment_args(Command::new("example"))
}

/// Without the environment of whoever runs the tests.
fn parse(arguments: &[&str]) -> Result<Flags, clap::Error> {
    let command = command().mut_args(|argument| argument.env(Resettable::Reset));
    let matches = command.try_get_matches_from([&["example"], arguments].concat())?;
    Flags::from_arg_matches(&matches)
}

#[test]
fn the_definition_is_sound() {
    command().debug_assert();
}

#[test]
fn the_default_is_what_no_arguments_give() {
    assert_eq!(parse(&[]).unwrap(), Flags::default());
}

#[test]
fn booleans_are_written_as_in_go_or_bare() {
    assert!(parse(&["--leader-elect"]).unwrap().leader_elect);
    assert!(parse(&["--leader-elect=true"]).unwrap().leader_elect);
    assert!(!parse(&["--leader-elect=false"]).unwrap().leader_elect);
    assert!(!parse(&["--finalizer=false"]).unwrap().finalizer);
    assert!(parse(&["--finalizer"]).unwrap().finalizer);
    assert!(parse(&["--leader-elect=maybe"]).is_err());
    let both = parse(&["--leader-elect", "--finalizer=false"]).unwrap();
    assert!(both.leader_elect && !both.finalizer);
}

#[test]
fn namespaces_come_with_commas_and_by_repetition_each_once() {
    let flags = parse(&["--namespace=b,a", "--namespace", "c", "--namespace=a,"]).unwrap();
    assert_eq!(*flags.namespaces, ["a", "b", "c"]);
    assert!(parse(&["--namespace="]).unwrap().namespaces.is_empty(), "nothing means all");
    assert!(parse(&["--namespace=a,B"]).is_err());
}

#[test]
fn values_out_of_bounds_are_refused_with_the_bounds() {
    for (argument, bounds) in [
        ("--max-concurrent-reconciles=0", "1 to 1024"),
        ("--max-concurrent-reconciles=1025", "1 to 1024"),
        ("--max-concurrent-reconciles=many", "whole number"),
        ("--max-backoff=1h", "1s to 1000s"),
        ("--reconcile-timeout=0", "1s to 1h"),
        ("--resync=1s", "0 or at least 1m"),
        ("--leader-election-id=Example", "small letters"),
        ("--own-deployment=Example", "small letters"),
        ("--leader-election-namespace=a.b", "small letters"),
        ("--log-level=loud", "error, warn, info"),
        ("--log-format=xml", "text, json"),
    ] {
        let error = parse(&[argument]).unwrap_err();
        assert!(error.to_string().contains(bounds), "{argument}: {error}");
    }
}

#[test]
fn the_description_of_a_program_stays_its_own() {
    /// Paints pods.
    #[derive(clap::Parser)]
    struct Painter {
        #[command(flatten)]
        _operator: Flags,
    }
    let about = <Painter as clap::CommandFactory>::command().get_about().map(ToString::to_string);
    assert_eq!(about.as_deref(), Some("Paints pods"));
    assert!(command().get_about().is_none() && command().get_long_about().is_none());
}

#[test]
fn every_flag_is_read() {
    let flags = parse(&[
        "--metrics-bind-address=:8080",
        "--health-probe-bind-address=0",
        "--leader-election-id=guestbook.example.com",
        "--leader-election-namespace=system",
        "--kubeconfig=/k",
        "--max-concurrent-reconciles=9",
        "--max-backoff=1m30s",
        "--reconcile-timeout=2m",
        "--resync=0",
        "--own-deployment=guestbook-controller-manager",
        "--log-level=debug",
        "--log-format=json",
    ]);
    let expected = Flags {
        metrics_bind_address: ":8080".to_owned(),
        health_probe_bind_address: "0".to_owned(),
        leader_election_id: Some("guestbook.example.com".to_owned()),
        leader_election_namespace: Some("system".to_owned()),
        kubeconfig: Some("/k".into()),
        max_concurrent_reconciles: 9,
        max_backoff: Duration::from_secs(90),
        reconcile_timeout: Duration::from_mins(2),
        resync: Duration::ZERO,
        own_deployment: Some("guestbook-controller-manager".to_owned()),
        log_level: "debug".parse().unwrap(),
        log_format: LogFormat::Json,
        ..Flags::default()
    };
    assert_eq!(flags.unwrap(), expected);
}

#[test]
fn every_flag_has_help_and_all_but_kubeconfig_a_variable() {
    for argument in command().get_arguments() {
        let name = argument.get_id().as_str();
        assert!(argument.get_help().is_some(), "{name}");
        assert_eq!(argument.get_env().is_none(), name == "kubeconfig", "{name}");
    }
    let help = parse(&["--help"]).unwrap_err();
    assert_eq!(help.kind(), ErrorKind::DisplayHelp);
    assert!(help.to_string().contains("--namespace <NAMESPACE>"), "{help}");
}

/// Does nothing but in the process that the next test starts.
#[test]
fn print_what_the_environment_gives() {
    if std::env::var_os("KUBEWRIGHT_TEST_FLAGS").is_some() {
        let matches = command().get_matches_from(["example", "--max-backoff=2s"]);
        println!("<{:?}>", Flags::from_arg_matches(&matches).unwrap());
    }
}

fn with_environment(variables: &[(&str, &str)]) -> String {
    let name = "flags::tests::print_what_the_environment_gives";
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env_clear()
        .env("KUBEWRIGHT_TEST_FLAGS", "1")
        .envs(variables.iter().copied())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    printed.split(['<', '>']).nth(1).unwrap().to_owned()
}

#[test]
fn a_variable_counts_where_there_is_no_flag() {
    let printed = with_environment(&[
        ("WATCH_NAMESPACE", "b,a"),
        ("LEADER_ELECT", "true"),
        ("FINALIZER", "false"),
        ("MAX_BACKOFF", "9s"),
    ]);
    let expected = Flags {
        namespaces: ["a".to_owned(), "b".to_owned()].into_iter().collect(),
        leader_elect: true,
        finalizer: false,
        max_backoff: Duration::from_secs(2),
        ..Flags::default()
    };
    assert_eq!(printed, format!("{expected:?}"));
}

#[test]
fn an_empty_variable_means_all_namespaces() {
    let printed = with_environment(&[("WATCH_NAMESPACE", "")]);
    let expected = Flags { max_backoff: Duration::from_secs(2), ..Flags::default() };
    assert_eq!(printed, format!("{expected:?}"));
}

#[test]
fn the_text_of_an_answer_is_logged_only_for_who_asks() {
    use tracing_subscriber::filter::LevelFilter;
    let client = |text: &str| {
        let level: LogLevel = text.parse().unwrap();
        let warns = level.targets().would_enable("kube_client::client", &tracing::Level::WARN);
        (warns, level.targets().default_level())
    };
    assert_eq!(client("debug"), (false, Some(LevelFilter::DEBUG)));
    assert!(client("info,kube=debug").0);
    let level = LogLevel::default();
    assert!(!level.targets().would_enable("kube_client::client", &tracing::Level::WARN));
}
