//! Files -> [`Bundle`]: which objects there are. What cannot be read becomes a finding, and the rest is read
//! all the same. Pure.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Annotations, Bundle, Findings, MANIFESTS, METADATA, Manifest, typed};

const DEFINITION: &str = "apiextensions.k8s.io/v1";

/// The bundle whose files these are.
pub(super) fn parse(files: BTreeMap<String, Vec<u8>>) -> Bundle {
    let mut bundle = Bundle::default();
    for (file, content) in &files {
        if let Some(name) = file.strip_prefix(MANIFESTS) {
            bundle.manifest(file, name, content);
        } else if file.strip_prefix(METADATA).is_some_and(|name| name.starts_with("annotations.")) {
            bundle.annotations(file, content);
        }
    }
    Bundle { files, ..bundle }
}

/// A file in YAML as one value for each of its documents, without what is null: absent and null are the same
/// to Kubernetes.
pub(super) fn documents(content: &[u8]) -> Result<Vec<Value>, String> {
    let text = std::str::from_utf8(content).map_err(|error| error.to_string())?;
    let documents = serde_saphyr::from_multiple::<Value>(text);
    let documents = documents.map_err(|error| first_line(&error.to_string()))?;
    let documents = documents.into_iter().filter(|document| !document.is_null());
    Ok(documents.map(without_nulls).collect())
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        Value::Array(list) => Value::Array(list.into_iter().map(without_nulls).collect()),
        value => value,
    }
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

impl Bundle {
    fn manifest(&mut self, file: &str, name: &str, content: &[u8]) {
        let unread = &mut self.unread;
        if name.contains('/') || name.starts_with('.') {
            let wrong = format!("{file} is hidden, or in a folder of its own");
            let remedy = "Put every object into a file of its own, right in manifests/.";
            return unread.error("format/file", file, wrong, remedy);
        }
        let mut documents = match documents(content) {
            Ok(documents) => documents,
            Err(reason) => return undecodable(unread, file, &reason),
        };
        if documents.len() > 1 {
            let wrong =
                format!("{} objects in one file, and only the first is read", documents.len());
            unread.warning("content/documents", file, wrong, "Give every object its own file.");
        }
        if documents.is_empty() {
            return undecodable(unread, file, "there is nothing in it");
        }
        let object = documents.swap_remove(0);
        if object["kind"].as_str().unwrap_or_default().is_empty() {
            return undecodable(unread, file, "an object needs a `kind`");
        }
        match object["kind"].as_str() {
            Some("ClusterServiceVersion") => self.release(file, &object),
            Some("CustomResourceDefinition") => self.definition(file, &object),
            _ => {
                if let Some(reason) = typed::object(&object) {
                    mistyped(&mut self.unread, file, &reason);
                }
            }
        }
        self.manifests.push(Manifest { file: file.to_owned(), object });
    }

    fn release(&mut self, file: &str, object: &Value) {
        if let Some((first, _)) = &self.release {
            let wrong = format!("a second ClusterServiceVersion beside {first}");
            let remedy = "A bundle is one release: keep one of the two.";
            return self.unread.error("content/one-csv", file, wrong, remedy);
        }
        if let Some(release) = decoded(&mut self.unread, file, object) {
            if let Some(reason) = typed::release(object) {
                mistyped(&mut self.unread, file, &reason);
            }
            self.release = Some((file.to_owned(), release));
        }
    }

    fn definition(&mut self, file: &str, object: &Value) {
        let version = object["apiVersion"].as_str().unwrap_or_default();
        if version == "apiextensions.k8s.io/v1beta1" {
            return; // a rule of its own speaks of it
        }
        if version != DEFINITION {
            let wrong = format!("a definition of the unknown version `{version}`");
            let remedy = "Write it as apiextensions.k8s.io/v1.";
            return self.unread.error("content/definition", file, wrong, remedy);
        }
        if let Some(definition) = decoded(&mut self.unread, file, object) {
            self.definitions.push((file.to_owned(), definition));
        }
    }

    fn annotations(&mut self, file: &str, content: &[u8]) {
        #[derive(Deserialize)]
        struct Content {
            #[serde(default)]
            annotations: BTreeMap<String, String>,
        }
        let value = documents(content).map(|mut documents| documents.pop().unwrap_or_default());
        let read = value.and_then(|value| {
            serde_json::from_value::<Content>(value).map_err(|error| error.to_string())
        });
        match read {
            Ok(Content { annotations }) => {
                self.annotations = Some(Annotations { file: file.to_owned(), values: annotations });
            }
            Err(reason) => {
                let wrong = format!("cannot be read: {reason}");
                let remedy = "Write the key `annotations` with a text for each key below it.";
                self.unread.error("format/annotations", file, wrong, remedy);
            }
        }
    }
}

fn undecodable(findings: &mut Findings, file: &str, reason: &str) {
    let wrong = format!("no object of Kubernetes: {reason}");
    let remedy = "Only objects in YAML belong into manifests/; `kubectl create -f` must take each.";
    findings.error("content/object", file, wrong, remedy);
}

fn mistyped(findings: &mut Findings, file: &str, reason: &str) {
    let wrong = format!("a field is of the wrong type: {reason}");
    let remedy = "Give the field the type that its definition says.";
    findings.error("content/type", file, wrong, remedy);
}

/// The object as its type, or a finding.
fn decoded<T: DeserializeOwned>(findings: &mut Findings, file: &str, object: &Value) -> Option<T> {
    match serde_json::from_value(object.clone()) {
        Ok(typed) => Some(typed),
        Err(error) => {
            mistyped(findings, file, &error.to_string());
            None
        }
    }
}
