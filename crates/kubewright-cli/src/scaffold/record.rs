//! `kubewright.toml`, where a project records what was asked for. Edits keep what people wrote there. Pure.

use anyhow::Context as _;
use kubewright::project::{Api, Project};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

pub(crate) use crate::project::FILE;

/// What the file says.
pub(crate) fn read(text: &str) -> anyhow::Result<Project> {
    Ok(Project::parse(text)?)
}

/// `text` with the domain, if it had none.
pub(crate) fn with_domain(text: &str, domain: &str) -> anyhow::Result<String> {
    let mut document = document(text)?;
    if !document.contains_key("domain") {
        document.insert("domain", value(domain));
    }
    Ok(document.to_string())
}

/// `text` with `api`, in the place of the one that is there or at the end.
pub(crate) fn with_api(text: &str, api: &Api) -> anyhow::Result<String> {
    let mut document = document(text)?;
    let apis = document.entry("api").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
    let apis = apis
        .as_array_of_tables_mut()
        .with_context(|| format!("`api` of {FILE} is no list of tables"))?;
    let is_same = |table: &Table| {
        let says = |key: &str, expected: &str| {
            table.get(key).and_then(Item::as_str).is_some_and(|found| found == expected)
        };
        says("group", &api.group) && says("kind", &api.kind)
    };
    let place = apis.iter().position(is_same);
    if let Some(table) = place.and_then(|place| apis.get_mut(place)) {
        fill(table, api);
    } else {
        let mut table = Table::new();
        fill(&mut table, api);
        apis.push(table);
    }
    Ok(document.to_string())
}

fn document(text: &str) -> anyhow::Result<DocumentMut> {
    text.parse().with_context(|| format!("cannot edit {FILE}"))
}

/// What is as usual is left out.
fn fill(table: &mut Table, api: &Api) {
    let Api {
        group,
        version,
        kind,
        plural,
        cluster,
        controller,
        image,
        command,
        port,
        run_as_user,
        webhooks,
        spokes,
    } = api;
    table.insert("group", value(group));
    table.insert("version", value(version));
    table.insert("kind", value(kind));
    if let Some(plural) = plural {
        table.insert("plural", value(plural));
    }
    if *cluster {
        table.insert("cluster", value(true));
    }
    if *controller {
        table.insert("controller", value(true));
    }
    if let Some(image) = image {
        table.insert("image", value(image));
    }
    if !command.is_empty() {
        table.insert("command", value(command.iter().collect::<toml_edit::Array>()));
    }
    if let Some(port) = port {
        table.insert("port", value(i64::from(*port)));
    }
    if let Some(user) = run_as_user {
        table.insert("run-as-user", value(*user));
    }
    for (key, list) in [("webhooks", webhooks), ("spokes", spokes)] {
        if !list.is_empty() {
            table.insert(key, value(list.iter().collect::<toml_edit::Array>()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn api() -> Api {
        Api {
            group: "cache.example.com".to_owned(),
            version: "v1".to_owned(),
            kind: "Memcached".to_owned(),
            ..Api::default()
        }
    }

    #[test]
    fn what_people_wrote_stays() {
        let text = "# Ours.\nname = \"a\" # the name\n\n[bundle]\nkeywords = [\"x\"]\n";
        let after = with_api(&with_domain(text, "example.com").unwrap(), &api()).unwrap();
        assert!(after.starts_with("# Ours.\nname = \"a\" # the name\n"), "{after}");
        let project = read(&after).unwrap();
        assert_eq!(project.domain.as_deref(), Some("example.com"));
        assert_eq!((project.api, project.bundle.keywords), (vec![api()], vec!["x".to_owned()]));
    }

    #[test]
    fn a_kind_is_recorded_once_and_gains_its_controller() {
        let text = with_api("name = \"a\"\n", &api()).unwrap();
        let with_controller = Api { controller: true, ..api() };
        let text = with_api(&text, &with_controller).unwrap();
        assert_eq!(read(&text).unwrap().api, [with_controller]);
    }
}
