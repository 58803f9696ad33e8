//! The templates of a chart: the very objects of an installation, with holes where a value decides.
//!
//! Describes no object itself; each comes from the function that builds it for `kubectl`.

use serde_json::json;

use super::Chart;
use super::helpers::helpers;
use super::manager;
use super::open::Open;
use crate::generate::files::{File, snake_case, stem};
use crate::generate::{Installation, install, yaml};

/// All files below `templates/`, with paths from there; without their first line.
pub(super) fn templates(chart: &Chart<'_>) -> Result<Vec<File>, yaml::Error> {
    let mut open = Open::new(chart.installation);
    let mut files = definitions(&open.cluster.clone(), &mut open)?;
    files.extend(access(&mut open)?);
    files.extend(manager::templates(&mut open)?);
    files.push(File { path: "_helpers.tpl".to_owned(), text: helpers(&open.cluster.operator) });
    Ok(files)
}

fn definitions(installation: &Installation, open: &mut Open) -> Result<Vec<File>, yaml::Error> {
    let mut files = Vec::new();
    for definition in &installation.definitions {
        let (group, plural) = (&definition.spec.group, &definition.spec.names.plural);
        let mut object = json!(definition);
        let metadata = &mut object["metadata"];
        let keep = "helm.sh/resource-policy: keep";
        if metadata.get("annotations").is_some() {
            let line = format!("{{{{- if .Values.crds.keep }}}}\n{keep}\n{{{{- end }}}}");
            metadata["annotations"]["keep"] = open.holes.lines(&line);
        } else {
            let lines =
                format!("{{{{- if .Values.crds.keep }}}}\nannotations:\n  {keep}\n{{{{- end }}}}");
            metadata["annotations"] = open.holes.lines(&lines);
        }
        let path = format!("crds/{group}_{plural}.yaml");
        files.push(open.file(path, Some("if .Values.crds.install"), object)?);
    }
    Ok(files)
}

/// The roles for all namespaces or for each that is watched: what differs between the two is there only
/// where it is needed.
fn access(open: &mut Open) -> Result<Vec<File>, yaml::Error> {
    let everywhere = install::access(&open.cluster);
    let watching = install::access(&open.watching);
    let mut files = Vec::new();
    for object in &everywhere {
        let name = stem(&open.cluster.operator, object);
        let is_for_people = object["kind"] == "ClusterRole" && watching.contains(object);
        let condition = if is_for_people {
            Some("if .Values.peopleRoles.install")
        } else if watching.contains(object) {
            None
        } else {
            Some("if not .Values.watchNamespaces")
        };
        let mut object = open.made_unique(object.clone());
        if object["kind"] == "ServiceAccount" {
            let annotations = open.holes.optional_at("annotations", "serviceAccount.annotations");
            object["metadata"]["annotations"] = annotations;
        }
        files.push(open.file(format!("rbac/{name}.yaml"), condition, object)?);
    }
    for object in watching.iter().filter(|object| !everywhere.contains(object)) {
        let kind = snake_case(object["kind"].as_str().unwrap_or_default());
        let is_in_each = object["metadata"]["namespace"] == open.watched.as_str();
        let condition =
            if is_in_each { "range .Values.watchNamespaces" } else { "if .Values.watchNamespaces" };
        let object = open.made_unique(object.clone());
        let mut file = open.file(format!("rbac/watched_{kind}.yaml"), Some(condition), object)?;
        if is_in_each {
            file.text = file.text.replacen(" }}\n", " }}\n---\n", 1);
        }
        files.push(file);
    }
    Ok(files)
}
