//! The leaves of a schema, and what could be put into each. Pure: which of it is taken, the API server says.

use serde_json::{Map, Value, json};

/// Texts that some field takes: names, images, amounts, times, and what none should take.
const TEXTS: [&str; 12] = [
    "a",
    "docker.io/library/memcached:1.6.44",
    "memcached@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
    "64Mi",
    "250m",
    "10s",
    "",
    " ",
    "UPPER CASE",
    "a\r\n\u{1b}[31mb\"}",
    "-1",
    "9223372036854775808",
];

/// Names that keys of a map could be.
const KEYS: [&str; 3] = ["memory", "cpu", "example.com/thing"];

/// One field of the spec.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The names that lead to it.
    pub path: Vec<String>,
    schema: Value,
}

/// All fields of a definition's spec that have no fields of their own.
pub fn leaves(definition: &Value) -> Vec<Leaf> {
    let schema = &definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    let mut leaves = Vec::new();
    collect(&schema["properties"]["spec"], &mut Vec::new(), &mut leaves);
    leaves
}

fn collect(schema: &Value, path: &mut Vec<String>, leaves: &mut Vec<Leaf>) {
    let Some(properties) = schema["properties"].as_object() else {
        return leaves.push(Leaf { path: path.clone(), schema: schema.clone() });
    };
    for (name, schema) in properties {
        path.push(name.clone());
        collect(schema, path, leaves);
        path.pop();
    }
}

impl Leaf {
    /// `spec.resources.limits`.
    pub fn name(&self) -> String {
        format!("spec.{}", self.path.join("."))
    }

    /// `spec` with the leaf as given; without it for `None`.
    pub fn with(&self, spec: &Value, value: Option<&Value>) -> Value {
        let mut spec = spec.clone();
        let mut place = &mut spec;
        for name in &self.path[..self.path.len() - 1] {
            if !place[name].is_object() {
                place[name] = json!({});
            }
            place = &mut place[name];
        }
        if let (Some(last), Value::Object(object)) = (self.path.last(), place) {
            match value {
                Some(value) => drop(object.insert(last.clone(), value.clone())),
                None => drop(object.remove(last)),
            }
        }
        spec
    }

    /// What could be put into it: values inside and outside of its bounds, its default, and wrong ones.
    pub fn values(&self) -> Vec<Value> {
        let mut values = values(&self.schema);
        values.extend([
            Value::Null,
            json!({"unknown": 1}),
            json!([1, null]),
            json!(true),
            json!(1.5),
        ]);
        values.extend(self.schema.get("default").cloned());
        let mut unique: Vec<Value> = Vec::new();
        values.retain(|value| {
            let new = !unique.contains(value);
            unique.extend(new.then(|| value.clone()));
            new
        });
        values
    }
}

fn values(schema: &Value) -> Vec<Value> {
    if let Some(choices) = schema["enum"].as_array() {
        return choices.iter().cloned().chain([json!("none of them")]).collect();
    }
    if schema["x-kubernetes-int-or-string"] == true {
        return [json!(1), json!(-1)].into_iter().chain(TEXTS.map(|text| json!(text))).collect();
    }
    match schema["type"].as_str() {
        Some("integer" | "number") => numbers(schema),
        Some("boolean") => vec![json!(false), json!(true), json!("true")],
        Some("string") => texts(schema),
        Some("array") => lists(schema),
        Some("object") => maps(schema),
        _ => vec![json!(1), json!("a")],
    }
}

fn numbers(schema: &Value) -> Vec<Value> {
    let bound = |name: &str| schema[name].as_f64();
    #[expect(clippy::cast_possible_truncation, reason = "the bounds of an integer are integers")]
    let whole = |bound: f64| bound as i64;
    let (least, most) = (bound("minimum").map(whole), bound("maximum").map(whole));
    let mut values = vec![2, 7];
    values.extend(least.into_iter().flat_map(|least| [least, least + 1, least - 1]));
    values.extend(most.into_iter().flat_map(|most| [most, most - 1, most + 1]));
    values.extend([i64::from(i32::MAX) + 1, i64::MIN]);
    values.into_iter().map(|value| json!(value)).chain([json!("3")]).collect()
}

fn texts(schema: &Value) -> Vec<Value> {
    let mut values = TEXTS.map(|text| json!(text)).to_vec();
    let length = |name: &str| schema[name].as_u64().and_then(|length| usize::try_from(length).ok());
    let longest = length("maxLength").into_iter().flat_map(|length| [length, length + 1]);
    values.extend(longest.map(|length| json!("a".repeat(length))));
    values
}

fn lists(schema: &Value) -> Vec<Value> {
    let items = values(&schema["items"]);
    let mut lists: Vec<_> = items.iter().take(4).map(|item| json!([item])).collect();
    lists.push(json!([]));
    if let (Some(most), Some(item)) = (schema["maxItems"].as_u64(), items.first()) {
        let most = usize::try_from(most).unwrap_or(0).min(2000);
        lists.push(Value::Array(vec![item.clone(); most + 1]));
    }
    lists
}

fn maps(schema: &Value) -> Vec<Value> {
    let items = values(&schema["additionalProperties"]);
    let mut maps = vec![json!({})];
    let [first, others @ ..] = KEYS;
    maps.extend(items.iter().map(|item| json!({first: item})));
    maps.extend(others.iter().zip(&items).map(|(key, item)| json!({*key: item})));
    let most = schema["maxProperties"].as_u64().unwrap_or(16);
    let many: Map<_, _> = (0..=most).map(|number| (format!("k{number}"), json!(1))).collect();
    maps.push(Value::Object(many));
    maps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_leaf_of_the_kind_has_values_on_both_sides_of_its_bounds() {
        let definitions = memcached_operator::operator().definitions();
        let leaves = leaves(&serde_json::to_value(&definitions[0]).unwrap());
        let names: Vec<_> = leaves.iter().map(Leaf::name).collect();
        assert!(names.contains(&"spec.size".to_owned()), "{names:?}");
        assert!(names.contains(&"spec.resources.limits".to_owned()), "{names:?}");
        let size = leaves.iter().find(|leaf| leaf.name() == "spec.size").unwrap();
        for value in [json!(0), json!(-1), json!(1000), json!(1001), json!(null), json!("3")] {
            assert!(size.values().contains(&value), "{value}");
        }
    }

    #[test]
    fn a_leaf_is_put_where_its_path_leads() {
        let leaf = Leaf { path: vec!["a".to_owned(), "b".to_owned()], schema: json!({}) };
        let spec = leaf.with(&json!({"c": 1}), Some(&json!(2)));
        assert_eq!(spec, json!({"a": {"b": 2}, "c": 1}));
        assert_eq!(leaf.with(&spec, None), json!({"a": {}, "c": 1}));
    }
}
