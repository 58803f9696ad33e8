//! Templates inside of objects: an object is built by the functions that build it for `kubectl`, with words
//! where something is decided at installation, and the words become what Helm is told when it is written.
//!
//! Knows text only; what is left open, and where, is decided by [`super::templates`].

use serde::Serialize;
use serde_json::Value;

use crate::generate::yaml;

/// What stands for the words, by their numbers.
#[derive(Default)]
pub(super) struct Holes {
    templates: Vec<Template>,
}

enum Template {
    /// Stands where the word stood, in quotes if that was a whole string.
    Text(String),
    /// Stands instead of the line that the word was in.
    Lines(String),
}

impl Holes {
    /// A word for the text that `expression` yields, as a string or a part of one.
    pub(super) fn text(&mut self, expression: &str) -> String {
        self.word(Template::Text(expression.to_owned()))
    }

    /// A word for `template`, which takes the place of a whole field or item, however many lines it has.
    /// `nindent +2` is two columns to the right of that field or item.
    pub(super) fn lines(&mut self, template: &str) -> Value {
        Value::String(self.word(Template::Lines(template.to_owned())))
    }

    /// The field `name`, there only if the value of the same name is not empty.
    pub(super) fn optional(&mut self, name: &str) -> Value {
        self.optional_at(name, name)
    }

    /// The field `name`, there only if the value at `path` is not empty.
    pub(super) fn optional_at(&mut self, name: &str, path: &str) -> Value {
        self.lines(&format!(
            "{{{{- with .Values.{path} }}}}\n{name}:\n  {{{{- toYaml . | nindent +2 }}}}\n{{{{- end }}}}"
        ))
    }

    /// The fields or items of the value at `path`, in addition to those that are there.
    pub(super) fn more(&mut self, path: &str) -> Value {
        self.lines(&format!(
            "{{{{- with .Values.{path} }}}}\n{{{{- toYaml . | nindent +0 }}}}\n{{{{- end }}}}"
        ))
    }

    /// These items, there only if `condition` holds.
    pub(super) fn only_if(&mut self, condition: &str, items: Vec<Value>) -> Vec<Value> {
        let mut all = vec![self.lines(&format!("{{{{- if {condition} }}}}"))];
        all.extend(items);
        all.push(self.lines("{{- end }}"));
        all
    }

    /// The object as a template.
    pub(super) fn write(&self, object: &impl Serialize) -> Result<String, yaml::Error> {
        let text = yaml::yaml(object)?;
        Ok(text.lines().map(|line| self.line(&escaped(line))).collect())
    }

    fn word(&mut self, template: Template) -> String {
        self.templates.push(template);
        word(self.templates.len() - 1)
    }

    fn line(&self, line: &str) -> String {
        let mut line = line.to_owned();
        for (number, template) in self.templates.iter().enumerate() {
            match template {
                Template::Text(expression) => line = filled(&line, &word(number), expression),
                Template::Lines(lines) if line.contains(&word(number)) => {
                    let indent = line.len() - line.trim_start().len();
                    return lines.lines().map(|line| indented(line, indent)).collect();
                }
                Template::Lines(_) => {}
            }
        }
        line + "\n"
    }
}

/// A string that is nothing else is quoted: the text may look like a number.
fn filled(line: &str, word: &str, expression: &str) -> String {
    let whole = format!(" {word}");
    match line.strip_suffix(&whole) {
        Some(before) => format!("{before} {{{{ {expression} | quote }}}}"),
        None => line.replace(word, &format!("{{{{ {expression} }}}}")),
    }
}

/// One that no object has, and that YAML writes without quotes.
fn word(number: usize) -> String {
    format!("__kubewright_{number}__")
}

/// What an object's own text has of Helm's braces stays text.
fn escaped(line: &str) -> String {
    line.replace("{{", "{{ \"{{\" }}")
}

/// A line of a template, with the columns of `nindent +N` counted from where it is.
fn indented(line: &str, indent: usize) -> String {
    let mut text = line.to_owned();
    if let Some((before, after)) = line.split_once("nindent +") {
        let digits = after.len() - after.trim_start_matches(|one: char| one.is_ascii_digit()).len();
        let (more, rest) = after.split_at(digits);
        let columns = indent + more.parse::<usize>().unwrap_or_default();
        text = format!("{before}nindent {columns}{rest}");
    }
    format!("{}{text}\n", " ".repeat(indent))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_word_becomes_its_template_and_a_line_becomes_lines_at_its_place() {
        let mut holes = Holes::default();
        let mut args = vec![json!("run")];
        args.extend(holes.only_if(".Values.b", vec![json!("b")]));
        args.push(holes.more("c"));
        let object = json!({
            "name": format!("a-{}", holes.text(".Release.Namespace")),
            "namespace": holes.text(".Release.Namespace"),
            "spec": {
                "args": args,
                "nodeSelector": holes.optional("nodeSelector"),
            },
        });
        let expected = "\
spec:
  args:
  - run
  {{- if .Values.b }}
  - b
  {{- end }}
  {{- with .Values.c }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- with .Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
name: a-{{ .Release.Namespace }}
namespace: {{ .Release.Namespace | quote }}
";
        assert_eq!(holes.write(&object).unwrap(), expected);
    }

    #[test]
    fn braces_of_an_objects_own_stay_text() {
        let written = Holes::default().write(&json!({"a": "x {{ .y }}"})).unwrap();
        assert_eq!(written, "a: x {{ \"{{\" }} .y }}\n");
    }
}
