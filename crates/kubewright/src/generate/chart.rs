//! A Helm chart: the same installation, with values for what whoever installs it decides.
//!
//! Every object in it is built by the functions that build `install.yaml`; nothing is described twice.

mod helpers;
mod holes;
mod manager;
mod open;
mod settings;
mod templates;
#[cfg(test)]
mod tests;
mod values;

use serde_json::{Value, json};

use super::files::{File, header, json_file};
use super::{Installation, OLDEST_KUBERNETES, own_namespace, yaml};
use crate::project;
use settings::Setting;

/// What a chart is made from.
#[derive(Clone, Debug)]
pub struct Chart<'a> {
    /// What is installed; its namespace and scope are Helm's to say.
    pub installation: &'a Installation,
    /// What people read about it.
    pub about: &'a project::Bundle,
    /// The image: without a tag, that of the chart's version is meant.
    pub image: String,
    /// The version of the operator, and of the chart.
    pub version: String,
}

/// Why there can be no chart.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Helm takes no other.
    #[error("a chart needs a version such as 0.0.1, and `{0}` is none: see Operator::version")]
    Version(String),
    /// A file cannot be written as YAML.
    #[error(transparent)]
    Yaml(#[from] yaml::Error),
}

/// The files of the chart, below `charts/`; `command` is what their first lines name.
pub fn chart(chart: &Chart<'_>, command: &str) -> Result<Vec<File>, Error> {
    if !super::is_version(&chart.version) {
        return Err(Error::Version(chart.version.clone()));
    }
    let header = header(command);
    let folder = format!("charts/{}", chart.installation.operator);
    let settings = settings::settings(chart);
    let file = |path: &str, text: String| File { path: format!("{folder}/{path}"), text };
    let mut files = vec![
        file("Chart.yaml", format!("# {header}\n{}", yaml::yaml(&about(chart))?)),
        file("values.yaml", format!("# {header}\n{}", values::values(&settings)?)),
        file("values.schema.json", json_file("$comment", &header, &values::schema(&settings))),
        file("README.md", format!("<!-- {header} -->\n\n{}", readme(chart, &settings))),
    ];
    for File { path, text } in templates::templates(chart)? {
        let text = format!("{{{{- /* {header} */ -}}}}\n{text}");
        files.push(file(&format!("templates/{path}"), text));
    }
    Ok(files)
}

/// `Chart.yaml`.
fn about(chart: &Chart<'_>) -> Value {
    let more = chart.about;
    let description = first_line(chart);
    let mut about = json!({
        "apiVersion": "v2",
        "type": "application",
        "name": chart.installation.operator,
        "description": description,
        "version": chart.version,
        "appVersion": chart.version,
        // A `-0` at the end lets in what providers append to versions.
        "kubeVersion": format!(">={OLDEST_KUBERNETES}-0"),
    });
    let maintainers: Vec<_> =
        more.maintainers.iter().map(|one| json!({"name": one.name, "email": one.email})).collect();
    let optional = [
        ("home", json!(more.provider.as_ref().and_then(|provider| provider.url.as_ref()))),
        ("sources", json!(more.repository.as_ref().map(|repository| [repository]))),
        ("keywords", json!(more.keywords)),
        ("maintainers", json!(maintainers)),
    ];
    for (key, value) in optional {
        if !value.is_null() && value != json!([]) {
            about[key] = value;
        }
    }
    about
}

/// What the operator does, where there is little room.
fn first_line(chart: &Chart<'_>) -> String {
    let told = chart.about.description.as_deref().and_then(|text| text.trim().lines().next());
    told.map_or_else(|| format!("The operator {}.", chart.installation.operator), str::to_owned)
}

/// Said of operators whose objects wait for them.
const LEAVING: &str = "Before that, a Job with the operator's image takes the operator's finalizers off all objects; where that image cannot be had,
`helm uninstall --no-hooks` goes without, and the finalizers stay until an operator runs again.
";

fn readme(chart: &Chart<'_>, settings: &[Setting]) -> String {
    let operator = &chart.installation.operator;
    let (description, own, table) =
        (first_line(chart), own_namespace(operator), values::table(settings));
    let leaving = if chart.installation.finalizes { LEAVING } else { "" };
    format!(
        "# The chart of {operator}

{description}

```console
$ helm install {operator} charts/{operator} --namespace {own} --create-namespace
```

What is installed is what `{operator} generate install` prints. It can be installed once in each namespace; of several in one cluster,
one has the definitions (`crds.install`), and each has namespaces of its own (`watchNamespaces`).

`helm upgrade` brings the definitions up to date. `helm uninstall` leaves them, and all objects with them, unless `crds.keep` is false.
{leaving}
## Values

A value that is not in this table is refused by its name.

{table}"
    )
}
