//! A reader's terminal: does the steps of a page one after the other, in an empty folder, with a local
//! Kubernetes of its own. Owns the processes that it starts, and ends them all.

use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use memcached_e2e::programs::without_cargos_own;
use tempfile::TempDir;

use crate::compare::is_as_shown;
use crate::parse::{End, Step};

/// No command takes longer, not even the first build on two cores; what does hangs.
const DEADLINE: Duration = Duration::from_mins(30);
/// How long what runs on may take until it has printed what is shown: it is compiled first.
const START: Duration = Duration::from_mins(10);
/// How long it may take to stop.
const STOP: Duration = Duration::from_mins(1);
/// How often something is looked at again.
const PAUSE: Duration = Duration::from_millis(20);

/// Does what follows where the last command was, and remembers where that is.
const REMEMBER: &str = r#"trap 'status=$?; { export -p; printf "cd %q\n" "$PWD"; } > "$SHELL_STATE"; exit $status' EXIT"#;

/// A terminal with a folder.
pub(crate) struct Terminal {
    place: TempDir,
    settings: Vec<(&'static str, PathBuf)>,
    background: Option<Background>,
}

/// A command that runs on.
struct Background {
    process: Child,
    printed: PathBuf,
}

impl Terminal {
    /// Has `programs` in its path and builds in `target`, with `variables` set.
    pub(crate) fn open(
        programs: &[PathBuf],
        target: PathBuf,
        variables: &[(&'static str, &str)],
    ) -> anyhow::Result<Self> {
        let place = tempfile::tempdir()?;
        let (bin, state) = (place.path().join("bin"), place.path().join("state"));
        fs::create_dir(&bin)?;
        for program in programs {
            let name = program.file_name().unwrap_or_default();
            std::os::unix::fs::symlink(program, bin.join(name))?;
        }
        let folder = place.path().join("folder");
        fs::create_dir(&folder)?;
        let shell = place.path().join("shell");
        fs::write(&shell, format!("cd {}\n", folder.display()))?;
        let mut settings = vec![
            ("BIN", bin),
            ("KUBEWRIGHT_STATE", state),
            ("SHELL_STATE", shell),
            ("CARGO_TARGET_DIR", target),
        ];
        settings.extend(variables.iter().map(|(name, value)| (*name, value.into())));
        Ok(Self { place, settings, background: None })
    }

    /// The folder that was empty at the beginning.
    pub(crate) fn folder(&self) -> PathBuf {
        self.place.path().join("folder")
    }

    /// Does one step; an error says what a reader would see instead of what the page shows.
    pub(crate) fn step(&mut self, step: &Step) -> anyhow::Result<()> {
        match step {
            Step::File { path, content } => Ok(fs::write(self.file(path)?, content)?),
            Step::More { path, content } => {
                let mut file = OpenOptions::new().append(true).open(self.file(path)?)?;
                Ok(file.write_all(content.as_bytes())?)
            }
            Step::Interrupt => self.interrupt(),
            Step::Command { typed, shown, ends: End::Interrupted } => self.start(typed, shown),
            Step::Command { typed, shown, ends } => {
                let printed = self.place.path().join("printed");
                let mut process = self.spawn(&format!("{REMEMBER}\n{typed}"), &printed)?;
                let status = wait(&mut process, DEADLINE)?;
                let printed = text(&printed)?;
                anyhow::ensure!(
                    status.success() == (*ends == End::Well),
                    "it ended with {status}:\n{printed}"
                );
                compare(shown, &printed)
            }
        }
    }

    /// A file in the folder where the last command was.
    fn file(&self, path: &str) -> anyhow::Result<PathBuf> {
        let printed = self.place.path().join("printed");
        let status = wait(&mut self.spawn("pwd", &printed)?, DEADLINE)?;
        anyhow::ensure!(status.success(), "there is no folder for {path}");
        let path = Path::new(text(&printed)?.trim()).join(path);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        Ok(path)
    }

    fn start(&mut self, typed: &str, shown: &str) -> anyhow::Result<()> {
        anyhow::ensure!(self.background.is_none(), "what was started before still runs");
        let printed = self.place.path().join("background");
        let process = self.spawn(&format!("exec {typed}"), &printed)?;
        let background = self.background.insert(Background { process, printed });
        let deadline = Instant::now() + START;
        while !is_as_shown(shown, &text(&background.printed)?) {
            let ended = background.process.try_wait()?;
            if ended.is_some() || Instant::now() > deadline {
                return compare(shown, &text(&background.printed)?);
            }
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }

    fn interrupt(&mut self) -> anyhow::Result<()> {
        let Some(mut background) = self.background.take() else {
            anyhow::bail!("nothing runs in the background");
        };
        signal("INT", &background.process);
        wait(&mut background.process, STOP)?; // with whatever status: `make` calls it a failure
        Ok(())
    }

    /// A shell that goes on where the last one was, and what it prints on either output, in a file.
    fn spawn(&self, script: &str, printed: &Path) -> anyhow::Result<Child> {
        let out = File::create(printed)?;
        let script = format!(". \"$SHELL_STATE\"\nexport PATH=\"$BIN:${{PATH#$BIN:}}\"\n{script}");
        let mut command = Command::new("bash");
        command.arg("-c").arg(script).envs(self.settings.iter().map(|(name, value)| (name, value)));
        without_cargos_own(command.env_remove("KUBECONFIG"));
        // A reader's make is not called by another, and says nothing of the folders that it works in.
        for of_make in ["MAKELEVEL", "MAKEFLAGS", "MFLAGS"] {
            command.env_remove(of_make);
        }
        command.stdin(Stdio::null()).stdout(out.try_clone()?).stderr(out);
        Ok(command.process_group(0).spawn()?)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        if let Some(mut background) = self.background.take() {
            signal("KILL", &background.process);
            let _ = background.process.wait();
        }
        let ended = self.spawn("kubewright dev down", &self.place.path().join("printed"));
        let _ = ended.map(|mut process| process.wait());
    }
}

fn compare(shown: &str, printed: &str) -> anyhow::Result<()> {
    anyhow::ensure!(
        is_as_shown(shown, printed),
        "the page shows\n{shown}\nand what is printed is\n{printed}"
    );
    Ok(())
}

fn text(path: &Path) -> anyhow::Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

fn wait(process: &mut Child, time: Duration) -> anyhow::Result<ExitStatus> {
    let deadline = Instant::now() + time;
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > deadline {
            signal("KILL", process);
            process.wait()?;
            anyhow::bail!("it did not end within {} s", time.as_secs());
        }
        std::thread::sleep(PAUSE);
    }
}

/// To the process and all that it has started.
fn signal(name: &str, process: &Child) {
    let group = format!("-{}", process.id());
    let _ = Command::new("kill").args(["-s", name, "--", &group]).status();
}
