//! What is about to change in a folder: worked out first, then done as a whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use similar::TextDiff;

/// New contents of files below a folder.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    root: PathBuf,
    files: BTreeMap<PathBuf, File>,
    /// What was there already and stays as it is.
    pub(crate) kept: Vec<PathBuf>,
}

#[derive(Debug)]
struct File {
    before: Option<String>,
    after: String,
}

impl Plan {
    pub(crate) fn new(root: &Path) -> Self {
        Self { root: root.to_owned(), ..Self::default() }
    }

    /// A new file. One that is there already and says something else is in the way.
    pub(crate) fn create(&mut self, path: &str, text: String) -> anyhow::Result<()> {
        match self.read(path)? {
            Some(before) if before != text => anyhow::bail!(
                "{path} is there already and is not touched: move it away, or choose another name"
            ),
            Some(_) => self.kept.push(path.into()),
            None => {
                self.files.insert(path.into(), File { before: None, after: text });
            }
        }
        Ok(())
    }

    /// A new file, unless there is one of that name, which is then as good.
    pub(crate) fn provide(&mut self, path: &str, text: String) -> anyhow::Result<()> {
        if self.read(path)?.is_some() {
            self.kept.push(path.into());
            return Ok(());
        }
        self.create(path, text)
    }

    /// Other contents of a file that is there.
    pub(crate) fn replace(&mut self, path: &str, after: String) -> anyhow::Result<()> {
        let now = self.read(path)?;
        if now.as_ref() != Some(&after) {
            // Of a file that is planned already, what was there before the plan.
            let before = self.files.remove(Path::new(path)).map_or(now, |planned| planned.before);
            self.files.insert(path.into(), File { before, after });
        }
        Ok(())
    }

    /// What a file says now; None if there is none.
    pub(crate) fn read(&self, path: &str) -> anyhow::Result<Option<String>> {
        if let Some(File { after, .. }) = self.files.get(Path::new(path)) {
            return Ok(Some(after.clone()));
        }
        match fs::read_to_string(self.root.join(path)) {
            Ok(text) => Ok(Some(text)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("cannot read {path}")),
        }
    }

    /// The contents of all files whose name ends in `.rs`, to be changed in their form only.
    pub(crate) fn sources(
        &mut self,
    ) -> impl Iterator<Item = (&Path, &Option<String>, &mut String)> {
        let files = self
            .files
            .iter_mut()
            .map(|(path, file)| (path.as_path(), &file.before, &mut file.after));
        files.filter(|(path, ..)| path.extension().is_some_and(|extension| extension == "rs"))
    }

    /// The paths that are new, and those that change.
    pub(crate) fn paths(&self) -> (Vec<&Path>, Vec<&Path>) {
        let all = self.files.iter().map(|(path, file)| (path.as_path(), file.before.is_some()));
        let (changed, created): (Vec<_>, Vec<_>) = all.partition(|(_, is_change)| *is_change);
        let paths = |files: Vec<(_, bool)>| files.into_iter().map(|(path, _)| path).collect();
        (paths(created), paths(changed))
    }

    /// All of it as a unified diff.
    pub(crate) fn diff(&self) -> String {
        let mut text = String::new();
        for (path, File { before, after }) in &self.files {
            let path = path.display();
            let old = before.as_ref().map_or("/dev/null".to_owned(), |_| format!("a/{path}"));
            let diff = TextDiff::from_lines(before.as_deref().unwrap_or_default(), after);
            text += &diff.unified_diff().header(&old, &format!("b/{path}")).to_string();
        }
        text
    }

    /// Does it. If a step fails, those before it are undone.
    pub(crate) fn apply(&self) -> anyhow::Result<()> {
        let mut undo = Undo::default();
        for (path, File { before, after }) in &self.files {
            let whole = self.root.join(path);
            undo.write(&whole, before.as_deref(), after).with_context(|| {
                format!("cannot write {}, so nothing was changed", whole.display())
            })?;
        }
        undo.forget();
        Ok(())
    }
}

/// What was done so far; undone when dropped.
#[derive(Default)]
struct Undo {
    written: Vec<(PathBuf, Option<String>)>,
    folders: Vec<PathBuf>,
}

impl Undo {
    fn write(&mut self, path: &Path, before: Option<&str>, after: &str) -> io::Result<()> {
        let folder = path.parent().unwrap_or(Path::new("."));
        let missing: Vec<_> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(folder)?;
            self.folders.push(folder.to_owned());
        }
        let link = fs::canonicalize(path);
        let path = link.as_deref().unwrap_or(path); // a link stays a link
        // Beside it first, so that a full disk costs nothing: a file is the old one or the new one.
        let partial = path.with_extension("kubewright-partial");
        let written = fs::write(&partial, after).and_then(|()| permissions(path, &partial));
        if let Err(error) = written.and_then(|()| fs::rename(&partial, path)) {
            let _ = fs::remove_file(&partial); // it may not even be there
            return Err(error);
        }
        self.written.push((path.to_owned(), before.map(str::to_owned)));
        Ok(())
    }

    fn forget(mut self) {
        self.written.clear();
        self.folders.clear();
    }
}

/// A file keeps its mode.
fn permissions(of: &Path, to: &Path) -> io::Result<()> {
    match fs::metadata(of) {
        Ok(metadata) => fs::set_permissions(to, metadata.permissions()),
        Err(_) => Ok(()), // a new file
    }
}

impl Drop for Undo {
    /// As far as possible: the error that led here is the one to be told.
    fn drop(&mut self) {
        for (path, before) in self.written.iter().rev() {
            let _ = match before {
                Some(text) => fs::write(path, text),
                None => fs::remove_file(path),
            };
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn a_step_that_fails_leaves_the_folder_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rs"), "old").unwrap();
        fs::write(folder.path().join("z"), "a file where a folder should be").unwrap();
        let mut plan = Plan::new(folder.path());
        plan.replace("a.rs", "new".to_owned()).unwrap();
        plan.create("b/c.rs", "new".to_owned()).unwrap();
        plan.files.insert("z/d.rs".into(), File { before: None, after: String::new() });
        let error = plan.apply().unwrap_err().to_string();
        assert!(error.contains("nothing was changed"), "{error}");
        assert_eq!(fs::read_to_string(folder.path().join("a.rs")).unwrap(), "old");
        let mut left = names(folder.path());
        left.sort();
        assert_eq!(left, ["a.rs", "z"]);
    }

    #[test]
    fn what_is_there_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rs"), "the user's").unwrap();
        let mut plan = Plan::new(folder.path());
        assert!(plan.create("a.rs", "ours".to_owned()).is_err());
        plan.create("a.rs", "the user's".to_owned()).unwrap();
        plan.provide("a.rs", "ours".to_owned()).unwrap();
        plan.apply().unwrap();
        assert_eq!(fs::read_to_string(folder.path().join("a.rs")).unwrap(), "the user's");
    }

    #[test]
    fn a_new_file_that_the_plan_changes_again_is_still_new() {
        let folder = tempfile::tempdir().unwrap();
        let mut plan = Plan::new(folder.path());
        plan.create("a.rs", "one".to_owned()).unwrap();
        plan.replace("a.rs", "two".to_owned()).unwrap();
        assert_eq!(plan.paths(), (vec![Path::new("a.rs")], Vec::new()));
    }

    #[test]
    fn a_diff_shows_new_and_changed_files() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.rs"), "one\ntwo\n").unwrap();
        let mut plan = Plan::new(folder.path());
        plan.replace("a.rs", "one\nthree\n".to_owned()).unwrap();
        plan.create("b.rs", "new\n".to_owned()).unwrap();
        let expected = "--- a/a.rs\n+++ b/a.rs\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n\
                        --- /dev/null\n+++ b/b.rs\n@@ -0,0 +1 @@\n+new\n";
        assert_eq!(plan.diff(), expected);
    }
}
