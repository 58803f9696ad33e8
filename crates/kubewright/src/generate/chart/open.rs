//! An installation with everything left open that Helm is to say, and how an object of it becomes a template.

use serde_json::{Value, json};

use super::holes::Holes;
use crate::generate::files::File;
use crate::generate::rbac::Scope;
use crate::generate::{Installation, NAME_LABEL, yaml};

/// What is left open, and the installation with the holes in it.
pub(super) struct Open {
    pub(super) holes: Holes,
    /// For all namespaces.
    pub(super) cluster: Installation,
    /// For those of `watchNamespaces`.
    pub(super) watching: Installation,
    /// Where a name that the cluster has only once gets its namespace.
    suffix: String,
    /// One of the watched namespaces.
    pub(super) watched: String,
}

impl Open {
    /// `installation` with everything left open that Helm is to say.
    pub(super) fn new(installation: &Installation) -> Self {
        let operator = &installation.operator;
        let mut holes = Holes::default();
        // `$` and not `.`, which is another inside of `range`.
        let namespace = holes.text("$.Release.Namespace");
        let image = holes.text(&format!("include \"{operator}.image\" ."));
        let environment = installation
            .environment
            .iter()
            .map(|(name, _)| (name.clone(), holes.text(&variable(name))));
        let environment = environment.collect();
        #[cfg_attr(not(feature = "webhook"), expect(unused_mut, reason = "nothing is converted"))]
        let mut cluster = Installation {
            namespace,
            image,
            environment,
            scope: Scope::Cluster,
            ..installation.clone()
        };
        #[cfg(feature = "webhook")]
        cluster.converts_at_home();
        let watched = holes.text(".");
        let scope = Scope::Namespaces(vec![watched.clone()]);
        let watching = Installation { scope, ..cluster.clone() };
        let suffix = holes.text(&format!("include \"{operator}.suffix\" $"));
        Self { holes, cluster, watching, suffix, watched }
    }

    /// The file of an object, there only if `condition` holds.
    pub(super) fn file(
        &mut self,
        path: String,
        condition: Option<&str>,
        mut object: Value,
    ) -> Result<File, yaml::Error> {
        let operator = &self.cluster.operator;
        let labels = format!("{{{{- include \"{operator}.labels\" $ | nindent +0 }}}}");
        object["metadata"]["labels"][NAME_LABEL] = self.holes.lines(&labels);
        let text = self.holes.write(&object)?;
        let text = match condition {
            Some(condition) => format!("{{{{- {condition} }}}}\n{text}{{{{- end }}}}\n"),
            None => text,
        };
        Ok(File { path, text })
    }

    /// Gives what is not in a namespace a name of its own in each namespace that Helm installs into.
    pub(super) fn made_unique(&self, mut object: Value) -> Value {
        let lengthen = |name: &mut Value| {
            let text = name.as_str().unwrap_or_default();
            if !text.contains(&self.cluster.namespace) {
                *name = json!(format!("{text}{}", self.suffix));
            }
        };
        if object["metadata"].get("namespace").is_none() {
            lengthen(&mut object["metadata"]["name"]);
            if object.get("roleRef").is_some() {
                lengthen(&mut object["roleRef"]["name"]);
            }
        }
        object
    }
}

/// The value of a variable; not every name of one can follow a dot.
fn variable(name: &str) -> String {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    if name.chars().all(is_word) {
        format!(".Values.environment.{name}")
    } else {
        format!("index .Values.environment {name:?}")
    }
}
