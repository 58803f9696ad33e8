//! The first fields of an object, read without looking at what follows them.
//!
//! The API server writes `apiVersion`, `kind` and `metadata` before all else, and what follows is the longer
//! part, which would be read only to be left out.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

/// Where an object says what it is.
#[derive(Default)]
pub(super) struct Envelope<'a> {
    pub(super) api_version: Option<&'a RawValue>,
    /// None if it is no object.
    pub(super) metadata: Option<Metadata<'a>>,
}

/// The name of a field, not copied: `Cow` by itself always is.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Every field is looked at on its own, so that a bad one spoils no other.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Metadata<'a> {
    #[serde(borrow)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) namespace: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) uid: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) resource_version: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) generation: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) deletion_timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) labels: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) annotations: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) owner_references: Option<&'a RawValue>,
    #[serde(borrow)]
    pub(super) managed_fields: Option<&'a RawValue>,
}

impl<'a> Envelope<'a> {
    /// What is found in a text that is JSON, in whichever order; nothing if it is no object.
    pub(super) fn of(text: &'a RawValue) -> Self {
        let mut envelope = Self::default();
        let mut deserializer = serde_json::Deserializer::from_str(text.get());
        // It fails because the rest is left out, after everything is found.
        let _ = deserializer.deserialize_map(Fill(&mut envelope));
        envelope
    }
}

struct Fill<'e, 'a>(&'e mut Envelope<'a>);

impl<'a> Visitor<'a> for Fill<'_, 'a> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            match &*name {
                "apiVersion" => self.0.api_version = Some(map.next_value()?),
                "metadata" => self.0.metadata = Some(map.next_value()?),
                _ => drop(map.next_value::<IgnoredAny>()?),
            }
            if self.0.metadata.is_some() && self.0.api_version.is_some() {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// The text under `key` in a map of texts.
pub(super) fn entry(map: Option<&str>, key: &str) -> Option<String> {
    let mut found = None;
    let mut deserializer = serde_json::Deserializer::from_str(map?);
    // It fails because what comes after `key` is left out.
    let _ = deserializer.deserialize_map(Find(key, &mut found));
    serde_json::from_str(found?.get()).ok()
}

struct Find<'e, 'a>(&'e str, &'e mut Option<&'a RawValue>);

impl<'a> Visitor<'a> for Find<'_, 'a> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Name(name)) = map.next_key()? {
            if name == self.0 {
                *self.1 = Some(map.next_value()?);
                return Ok(());
            }
            map.next_value::<IgnoredAny>()?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> [Option<String>; 2] {
        let raw = RawValue::from_string(text.to_owned()).unwrap();
        let Envelope { api_version, metadata } = Envelope::of(&raw);
        let name = metadata.and_then(|metadata| metadata.name);
        [api_version, name].map(|value| value.map(|value| value.get().to_owned()))
    }

    #[test]
    fn both_are_found_in_any_order() {
        let both = [Some("\"v1\"".to_owned()), Some("\"a\"".to_owned())];
        for text in [
            r#"{"kind":"A","apiVersion":"v1","metadata":{"name":"a"},"spec":{}}"#,
            r#"{"spec":{"metadata":1},"metadata":{"name":"a"},"status":{},"apiVersion":"v1"}"#,
            r#"{"metadata":{"name":"a"},"apiVersion":"v1"}"#,
        ] {
            assert_eq!(texts(text), both, "{text}");
        }
    }

    #[test]
    fn a_text_is_found_by_its_key() {
        let map = Some(r#"{"a": 1, "b\u0021": "two", "c": "three"}"#);
        assert_eq!(entry(map, "b!").as_deref(), Some("two"));
        assert_eq!(entry(map, "c").as_deref(), Some("three"));
        assert_eq!([entry(map, "a"), entry(map, "d"), entry(None, "a")], [None, None, None]);
        assert_eq!(entry(Some("[]"), "a"), None);
    }

    #[test]
    fn one_that_is_not_there_is_not_found() {
        let name = Some("\"a\"".to_owned());
        let text = r#"{"metadata":{"name":"a"},"spec":{"apiVersion":"v1","name":"b"}}"#;
        assert_eq!(texts(text), [None, name]);
        assert_eq!(texts(r#"{"apiVersion":null,"kind":"A"}"#), [Some("null".to_owned()), None]);
        for text in ["{}", "[]", "5", "\"metadata\""] {
            assert_eq!(texts(text), [None, None], "{text}");
        }
    }
}
