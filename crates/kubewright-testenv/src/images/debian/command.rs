//! Runs one program to its end, for a bounded time, and turns its failure into an error that holds
//! the last lines it wrote. Decides nothing about what is run.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::DebianError;

/// How often a running program is looked at: short against the quickest of them.
const POLL: Duration = Duration::from_millis(10);

/// The last lines of standard error are where apt says why.
const TAIL_LINES: usize = 8;

/// Runs the command and gives its standard output. `action` completes "cannot …".
pub(super) fn run(
    action: &str,
    command: &mut Command,
    limit: Duration,
) -> Result<String, DebianError> {
    let action = action.to_owned();
    match run_to_end(command, limit) {
        Err(source) => {
            let program = command.get_program().to_string_lossy().into_owned();
            Err(DebianError::Run { action, program, source })
        }
        Ok(Ended { status: None, stderr, .. }) => {
            Err(DebianError::TimedOut { action, limit, stderr: tail(&stderr) })
        }
        Ok(Ended { status: Some(status), stderr, .. }) if !status.success() => {
            Err(DebianError::Failed { action, status, stderr: tail(&stderr) })
        }
        Ok(Ended { stdout, .. }) => Ok(stdout),
    }
}

struct Ended {
    /// None if the time was up.
    status: Option<ExitStatus>,
    stdout: String,
    stderr: String,
}

fn run_to_end(command: &mut Command, limit: Duration) -> io::Result<Ended> {
    // Files, not pipes: nobody has to empty them while the program runs.
    let (stdout, stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut child = command
        .env("LC_ALL", "C") // the answers are parsed: they must not be translated
        .stdin(Stdio::null())
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .spawn()?;
    let deadline = Instant::now() + limit;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            break None;
        }
        thread::sleep(POLL);
    };
    Ok(Ended { status, stdout: read(stdout)?, stderr: read(stderr)? })
}

fn read(mut file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn tail(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(TAIL_LINES)..].join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration) -> Result<String, DebianError> {
        run("try", Command::new("sh").args(["-c", script]), limit)
    }

    #[test]
    fn a_failure_carries_the_last_lines_of_standard_error() {
        let script = "for n in 1 2 3 4 5 6 7 8 9; do echo line $n >&2; done; exit 3";
        let error = shell(script, Duration::from_secs(10)).unwrap_err();
        let DebianError::Failed { status, stderr, .. } = error else { panic!("{error:?}") };
        assert_eq!(status.code(), Some(3));
        assert!(stderr.starts_with("line 2\n") && stderr.ends_with("line 9"), "{stderr}");
    }

    #[test]
    fn more_output_than_a_pipe_holds_is_read_whole() {
        let output = shell("head -c 300000 /dev/zero | tr '\\0' x", Duration::from_secs(10));
        assert_eq!(output.unwrap().len(), 300_000);
    }

    #[test]
    fn a_program_that_hangs_is_ended() {
        let started = Instant::now();
        let error = shell("echo stuck >&2; exec sleep 60", Duration::from_millis(300)).unwrap_err();
        assert!(
            matches!(&error, DebianError::TimedOut { stderr, .. } if stderr == "stuck"),
            "{error:?}"
        );
        assert!(started.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let error = run("try", &mut Command::new("no-such-program"), POLL).unwrap_err();
        assert_eq!(error.to_string(), "cannot try: no-such-program did not run");
    }
}
