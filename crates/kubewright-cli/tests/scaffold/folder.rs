//! A folder in which somebody types: runs the program there and looks at what it left.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::rc::Rc;

use tempfile::TempDir;

/// The folder, and what is around it, until it is dropped.
pub(crate) struct Folder {
    path: PathBuf,
    whole: Rc<TempDir>,
}

/// What came of a line.
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Folder {
    /// An empty one.
    pub(crate) fn new() -> Self {
        let whole = Rc::new(tempfile::tempdir().unwrap());
        Self { path: whole.path().to_owned(), whole }
    }

    /// An empty one with this name.
    pub(crate) fn named(name: &str) -> Self {
        let folder = Self::new().within(name);
        fs::create_dir(&folder.path).unwrap();
        folder
    }

    pub(crate) fn within(&self, name: &str) -> Self {
        Self { path: self.path.join(name), whole: self.whole.clone() }
    }

    pub(crate) fn path(&self, file: &str) -> PathBuf {
        self.path.join(file)
    }

    pub(crate) fn read(&self, file: &str) -> String {
        fs::read_to_string(self.path(file)).unwrap()
    }

    /// Types `kubewright` and these words, read as a shell does.
    pub(crate) fn kubewright(&self, words: &str) -> Said {
        Self::run(&mut self.shell(words))
    }

    /// The same with a variable set.
    pub(crate) fn kubewright_with(&self, words: &str, variable: &str, value: &Path) -> Said {
        Self::run(self.shell(words).env(variable, value))
    }

    /// The same as the user `nobody`; None where this is not root.
    pub(crate) fn as_nobody(&self, words: &str) -> Option<Said> {
        if fs::metadata("/proc/self").unwrap().uid() != 0 {
            return None;
        }
        // Somebody else must be able to see it, and to run the program.
        let program = self.whole.path().join("kubewright");
        fs::copy(env!("CARGO_BIN_EXE_kubewright"), &program).unwrap();
        for path in [self.whole.path(), &self.path, &program] {
            fs::set_permissions(path, Permissions::from_mode(0o755)).unwrap();
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "sh", "-c"]);
        command.arg(format!("{} {words}", program.display())).current_dir(&self.path);
        let said = Self::run(&mut command);
        fs::remove_file(program).unwrap();
        Some(said)
    }

    /// The same with a terminal on which `answers` are typed; None where there is no `script`.
    pub(crate) fn on_a_terminal(&self, words: &str, answers: &str) -> Option<String> {
        let line = format!("{} {words}", env!("CARGO_BIN_EXE_kubewright"));
        let mut command = Command::new("script");
        command
            .args(["--quiet", "--return", "--command", &line, "/dev/null"])
            .current_dir(&self.path);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().ok()?;
        child.stdin.take().unwrap().write_all(answers.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        Some(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// The paths of all files.
    pub(crate) fn files(&self) -> Vec<String> {
        self.contents().into_keys().collect()
    }

    /// All files with what they say.
    pub(crate) fn contents(&self) -> BTreeMap<String, String> {
        let mut files = BTreeMap::new();
        collect(&self.path, &self.path, &mut files);
        files
    }

    fn shell(&self, words: &str) -> Command {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("{} {words}", env!("CARGO_BIN_EXE_kubewright")));
        command.current_dir(&self.path).stdin(Stdio::null());
        command
    }

    fn run(command: &mut Command) -> Said {
        let Output { status, stdout, stderr } = command.output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        Said { code: status.code(), stdout: text(stdout), stderr: text(stderr) }
    }
}

impl Said {
    /// What it answered; it must have succeeded.
    #[track_caller]
    pub(crate) fn well(self) -> String {
        self.all().stdout
    }

    /// All that it said; it must have succeeded.
    #[track_caller]
    pub(crate) fn all(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// What was wrong; it must have failed, and answered nothing.
    #[track_caller]
    pub(crate) fn failed(self) -> String {
        assert_ne!(self.code, Some(0), "{}", self.stdout);
        assert_eq!(self.stdout, "");
        self.stderr
    }
}

fn collect(root: &Path, folder: &Path, files: &mut BTreeMap<String, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else {
            let name = path.strip_prefix(root).unwrap().display().to_string();
            files.insert(name, fs::read_to_string(&path).unwrap());
        }
    }
}
