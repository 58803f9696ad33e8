//! What `new`, `init` and `add` write: the files of a project and of a kind, from templates, and the few
//! edits that connect a kind with what is there.
//!
//! Everything is worked out first, as a [`plan::Plan`]; only then is the folder touched, all of it or
//! nothing. What the user changed is never overwritten.

pub(crate) mod edit;
pub(crate) mod format;
pub(crate) mod kind;
pub(crate) mod library;
pub(crate) mod names;
pub(crate) mod plan;
pub(crate) mod project;
pub(crate) mod record;
pub(crate) mod warnings;
pub(crate) mod webhook;

/// `template` with each `{{key}}` replaced.
fn render(template: &str, values: &[(&str, &str)]) -> String {
    let mut text = template.to_owned();
    for (key, value) in values {
        text = text.replace(&format!("{{{{{key}}}}}"), value);
    }
    text
}
