//! Which bounds are taken, which are refused, and what they do to defaults.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::tests::fixture::Everything;
use super::*;
use crate::generate::crd::tidy;
use kube::CustomResourceExt as _;

fn narrowed(texts: &[&str]) -> Result<Value, Error> {
    let bounds: Result<Vec<Bounds>, _> = texts.iter().map(|text| text.parse()).collect();
    let mut definitions = [tidy(Everything::crd())];
    narrow(&mut definitions, &bounds?)?;
    let schema = json!(definitions[0].spec.versions[0].schema);
    Ok(schema["openAPIV3Schema"]["properties"]["spec"]["properties"].clone())
}

fn refused(text: &str) -> String {
    narrowed(&[text]).unwrap_err().to_string()
}

#[test]
fn a_field_is_narrowed_at_one_end_or_both() {
    let spec =
        narrowed(&["spec.ranged=2..5", "spec.int32=..7", "spec.uint32=9..", "spec.int64=-1..1"])
            .unwrap();
    let ends = |field: &str| json!([spec[field]["minimum"], spec[field]["maximum"]]);
    assert_eq!(ends("ranged"), json!([2.0, 5.0]));
    assert_eq!(ends("int32"), json!([f64::from(i32::MIN), 7.0]));
    assert_eq!(ends("uint32"), json!([9.0, f64::from(u32::MAX)]));
    assert_eq!(ends("int64"), json!([-1.0, 1.0]));
}

#[test]
fn a_field_of_a_map_or_deep_in_an_object_is_found() {
    let spec = narrowed(&["spec.gaps{}=1..2", "spec.optional.object.port=1..2"]).unwrap();
    assert_eq!(spec["gaps"]["additionalProperties"]["maximum"], json!(2.0));
    assert_eq!(
        spec["optional"]["properties"]["object"]["properties"]["port"]["minimum"],
        json!(1.0)
    );
}

#[test]
fn a_default_out_of_bounds_becomes_the_lowest_value() {
    for (bounds, expected) in [("5..9", 5), ("1..2", 1), ("1..3", 3), ("..2", i32::MIN)] {
        let spec = narrowed(&[&format!("spec.defaulted={bounds}")]).unwrap();
        assert_eq!(spec["defaulted"]["default"], json!(expected), "{bounds}");
    }
}

#[test]
fn so_does_one_within_the_default_of_what_the_field_is_in() {
    let mut definition = tidy(Everything::crd());
    let default = json!({"ranged": 1, "int32": 1});
    let schema = definition.spec.versions[0].schema.as_mut().unwrap();
    let spec = schema.open_api_v3_schema.as_mut().unwrap().properties.as_mut().unwrap();
    spec.get_mut("spec").unwrap().default = Some(JSON(default));
    let mut definitions = [definition];
    narrow(&mut definitions, &["spec.ranged=2..5".parse().unwrap()]).unwrap();
    let schema = json!(definitions[0].spec.versions[0].schema);
    let default = &schema["openAPIV3Schema"]["properties"]["spec"]["default"];
    assert_eq!(*default, json!({"ranged": 2, "int32": 1}));
}

#[test]
fn bounds_never_widen() {
    assert_eq!(
        refused("spec.ranged=0..5"),
        "`spec.ranged=0..5` is wider than what the operator can do: the field takes 1 to 10"
    );
    assert!(refused("spec.ranged=1..11").contains("takes 1 to 10"));
    assert!(refused("spec.int32=0..2147483648").contains("takes -2147483648 to 2147483647"));
    assert!(refused("spec.uint64=-1..5").contains("takes 0 and more"));
    assert!(narrowed(&["spec.ranged=2..5", "spec.ranged=1..5"]).is_err());
}

#[test]
fn bounds_leave_a_value() {
    assert_eq!(
        refused("spec.ranged=5..2"),
        "`spec.ranged=5..2` leaves no value: the field takes 1 to 10"
    );
    assert!(refused("spec.ranged=11..").contains("leaves no value"));
}

#[test]
fn an_unknown_field_is_answered_with_those_that_there_are() {
    for field in ["spec.sise", "spec.text", "spec.optional", "status.observedGeneration", "size"] {
        let said = refused(&format!("{field}=1..2"));
        assert!(
            said.starts_with(&format!("there is no integer field `{field}`; there is ")),
            "{said}"
        );
        assert!(
            said.contains(" spec.gaps{}, ") && said.contains(" spec.optional.number, "),
            "{said}"
        );
        assert!(!said.contains("status") || field.starts_with("status"), "{said}");
    }
}

#[test]
fn what_is_no_range_of_whole_numbers_is_refused() {
    for text in [
        "",
        "spec.size",
        "spec.size=",
        "spec.size=5",
        "spec.size=..",
        "spec.size=a..b",
        "=1..2",
        "spec..size=1..2",
        "spec.size=1.5..2",
        "spec.size=1..9007199254740993",
    ] {
        let said = text.parse::<Bounds>().unwrap_err().to_string();
        assert!(said.contains("is not of the form FIELD=MIN..MAX"), "{said}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_is_refused_or_printed_as_it_is_read(
        text in prop_oneof![".*", r"[a-z.{}\[\]]{0,20}=-?[0-9]{0,20}\.\.-?[0-9]{0,20}"]
    ) {
        if let Ok(bounds) = text.parse::<Bounds>() {
            prop_assert_eq!(bounds.to_string().parse(), Ok(bounds.clone()));
            let _ = narrow(&mut [tidy(Everything::crd())], &[bounds]);
        }
    }
}
