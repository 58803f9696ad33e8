//! How far a step is, from the objects as they are: done, waiting, troubled or failed, each with the object, why,
//! and what to do. Pure; one file per kind that is waited for.

pub(crate) mod catalogue;
pub(crate) mod deployment;
pub(crate) mod plan;
pub(crate) mod pods;
pub(crate) mod release;
pub(crate) mod subscription;

use serde_json::Value;

/// What a look tells of a step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Look<T> {
    /// It is so.
    Done(T),
    /// Not yet, as expected.
    Waiting(Sentence),
    /// Not yet, and it may not come; it may be that somebody helps, or that it passes.
    Troubled(Sentence),
    /// It will not come.
    Failed(Sentence),
}

/// What is waited for, why, and what to do if it does not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// As `kubectl` is told it: `subscription/a`.
    pub(crate) object: String,
    pub(crate) why: String,
    pub(crate) remedy: Option<String>,
}

impl Sentence {
    pub(crate) fn new(object: impl Into<String>, why: impl Into<String>) -> Self {
        Self { object: object.into(), why: why.into(), remedy: None }
    }

    pub(crate) fn remedy(mut self, remedy: impl Into<String>) -> Self {
        self.remedy = Some(remedy.into());
        self
    }

    /// What ends the wait: one sentence with the way out.
    pub(crate) fn complaint(&self) -> String {
        let Self { object, why, remedy } = self;
        let remedy = remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
        format!("{object}: {why}{remedy}")
    }
}

/// What the condition `kind` says if it holds: its reason and message, whichever there is.
fn holds(object: &Value, kind: &str) -> Option<String> {
    let conditions = object["status"]["conditions"].as_array()?;
    let found = conditions.iter().find(|one| one["type"] == kind && one["status"] == "True")?;
    let text = |field: &str| found[field].as_str().filter(|text| !text.is_empty());
    let words = [text("reason"), text("message")].into_iter().flatten();
    Some(words.collect::<Vec<_>>().join(", "))
}
