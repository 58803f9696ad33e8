//! The properties of a release in a catalogue, by which OLM resolves: what it provides and what it requires. Pure,
//! and the same as `opm render` makes them of the bundle's image.

use serde_json::{Value, json};

use super::super::csv::{Service, Spec};
use super::super::{Bundle, METADATA, Owned, parse};

/// All but what is shown of the release.
pub(super) fn properties(bundle: &Bundle, spec: &Spec, package: &str) -> Vec<Value> {
    let own = own(bundle);
    let (kinds, own): (Vec<_>, Vec<_>) = own.into_iter().partition(|one| one["type"] == "olm.gvk");
    let (packages, own): (Vec<_>, Vec<_>) =
        own.into_iter().partition(|one| one["type"] == "olm.package");
    let version = spec.version.as_deref().unwrap_or_default();
    let package = || property("olm.package", &json!({"packageName": package, "version": version}));
    let (definitions, services) = (&spec.customresourcedefinitions, &spec.apiservicedefinitions);
    let mut all = apis("olm.gvk", &definitions.owned, &services.owned);
    all.extend(kinds);
    all.extend(apis("olm.gvk.required", &definitions.required, &services.required));
    let dependencies = listed(bundle, "dependencies");
    all.extend(dependencies.iter().map(required));
    all.push(packages.into_iter().next_back().unwrap_or_else(package));
    all.extend(own);
    // Each once, in the order in which they come.
    let mut once: Vec<Value> = Vec::new();
    for one in all {
        if !once.contains(&one) {
            once.push(one);
        }
    }
    once
}

/// What the bundle says itself: in its own file, or in an annotation of its release.
fn own(bundle: &Bundle) -> Vec<Value> {
    let mut own = listed(bundle, "properties");
    let release = bundle.release.as_ref().map(|(_, csv)| csv);
    let annotation = release.and_then(|csv| csv.annotation("olm.properties"));
    let annotation = annotation.and_then(|text| serde_json::from_str::<Vec<Value>>(text).ok());
    own.extend(annotation.into_iter().flatten());
    own
}

/// The list called `key` in a file of `metadata`, whatever the file is called.
fn listed(bundle: &Bundle, key: &str) -> Vec<Value> {
    let files = bundle.files.iter().filter(|(file, _)| file.starts_with(METADATA));
    let documents = files.filter_map(|(_, content)| parse::documents(content).ok());
    let lists = documents.filter_map(|all| all.first()?.get(key)?.as_array().cloned());
    lists.into_iter().find(|list| !list.is_empty()).unwrap_or_default()
}

/// What another release has to provide. What has no form of its own for that is taken as it is.
fn required(dependency: &Value) -> Value {
    let value = &dependency["value"];
    match dependency["type"].as_str() {
        Some("olm.gvk") => {
            gvk("olm.gvk.required", &value["group"], &value["kind"], &value["version"])
        }
        Some("olm.package") => {
            let range =
                json!({"packageName": value["packageName"], "versionRange": value["version"]});
            property("olm.package.required", &range)
        }
        _ => dependency.clone(),
    }
}

fn apis(name: &str, definitions: &[Owned], services: &[Service]) -> Vec<Value> {
    let definitions = definitions
        .iter()
        .map(|one| gvk(name, &json!(one.group()), &json!(one.kind), &json!(one.version)));
    let services = services
        .iter()
        .map(|one| gvk(name, &json!(one.group), &json!(one.kind), &json!(one.version)));
    definitions.chain(services).collect()
}

fn gvk(name: &str, group: &Value, kind: &Value, version: &Value) -> Value {
    property(name, &json!({"group": group, "kind": kind, "version": version}))
}

fn property(name: &str, value: &Value) -> Value {
    json!({"type": name, "value": value})
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn of(files: &[(&str, &Value)]) -> Vec<Value> {
        let csv = json!({
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "metadata": { "name": "pots.v1.0.0" },
            "spec": {
                "version": "1.0.0",
                "customresourcedefinitions": {
                    "owned": [{ "name": "pots.example.com", "kind": "Pot", "version": "v1" }],
                    "required": [{ "name": "lids.example.com", "kind": "Lid", "version": "v1" }],
                },
                "apiservicedefinitions": {
                    "required": [{ "group": "a.example.com", "kind": "A", "version": "v1" }],
                },
            },
        });
        let mut all = files.to_vec();
        all.push(("manifests/csv.yaml", &csv));
        let file = |(path, value): &(&str, &Value)| ((*path).to_owned(), value.to_string().into());
        let bundle = Bundle::of(all.iter().map(file).collect::<BTreeMap<_, _>>());
        let spec = bundle.release.as_ref().unwrap().1.spec.clone().unwrap();
        properties(&bundle, &spec, "pots")
    }

    fn kind(name: &str, group: &str, kind: &str) -> Value {
        json!({ "type": name, "value": { "group": group, "kind": kind, "version": "v1" } })
    }

    #[test]
    fn what_a_bundle_depends_on_is_required_in_the_catalogue() {
        let constraint = json!({ "type": "olm.constraint", "value": { "failureMessage": "no" } });
        let dependencies = json!({ "dependencies": [
            { "type": "olm.package", "value": { "packageName": "pans", "version": ">1.0.0" } },
            kind("olm.gvk", "pans.example.com", "Pan"),
            kind("olm.gvk", "example.com", "Lid"),
            constraint,
        ]});
        let range = json!({ "packageName": "pans", "versionRange": ">1.0.0" });
        let expected = [
            kind("olm.gvk", "example.com", "Pot"),
            kind("olm.gvk.required", "example.com", "Lid"),
            kind("olm.gvk.required", "a.example.com", "A"),
            json!({ "type": "olm.package.required", "value": range }),
            kind("olm.gvk.required", "pans.example.com", "Pan"),
            constraint,
            json!({ "type": "olm.package", "value": { "packageName": "pots", "version": "1.0.0" } }),
        ];
        assert_eq!(of(&[("metadata/dependencies.yaml", &dependencies)]), expected);
    }

    #[test]
    fn what_a_bundle_says_of_itself_is_in_the_catalogue() {
        let newest = json!({ "type": "olm.maxOpenShiftVersion", "value": "4.20" });
        let own = json!({ "properties": [kind("olm.gvk", "example.com", "Pot"), newest] });
        let found = of(&[("metadata/properties.yaml", &own)]);
        assert_eq!(found.last(), Some(&newest));
        assert_eq!(found.iter().filter(|one| one["type"] == "olm.gvk").count(), 1);
    }
}
