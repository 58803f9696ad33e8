//! The API server's audit log as typed records: who asked for what, and what came of it. Reads only.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use jiff::Timestamp;
use serde::Deserialize;

use crate::error::Error;

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditRecord {
    /// Who asked; for an impersonated request, whom it was made as.
    pub user: String,
    /// Their groups.
    pub groups: Vec<String>,
    /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// The API group; empty for the core group and for what is no resource.
    pub group: String,
    /// The plural name of the resource; empty for a path such as `/readyz`.
    pub resource: String,
    /// `status`, `scale`, …; empty for the object itself.
    pub subresource: String,
    /// The namespace; empty for cluster-wide ones.
    pub namespace: String,
    /// The object; empty for lists and watches of all.
    pub name: String,
    /// The HTTP status of the answer.
    pub code: u16,
    /// What the client calls itself.
    pub user_agent: String,
    /// The path and query of the request.
    pub uri: String,
    /// When the request arrived.
    pub received: Timestamp,
    /// False for the record of a watch that has only begun; its end gives a second one.
    pub is_complete: bool,
}

/// All records so far, in the order of the log. The last line may still be in the making; it is left
/// out until it is whole.
pub(crate) fn read(path: &Path) -> Result<Vec<AuditRecord>, Error> {
    let file = File::open(path).map_err(Error::io("read", path))?;
    let mut records = Vec::new();
    for line in BufReader::new(file).lines() {
        let line = line.map_err(Error::io("read", path))?;
        records.extend(parse(&line));
    }
    Ok(records)
}

fn parse(line: &str) -> Option<AuditRecord> {
    let event: Event = serde_json::from_str(line).ok()?;
    let object = event.object_ref.unwrap_or_default();
    let user = event.impersonated_user.unwrap_or(event.user);
    Some(AuditRecord {
        user: user.username,
        groups: user.groups,
        verb: event.verb,
        group: object.api_group,
        resource: object.resource,
        subresource: object.subresource,
        namespace: object.namespace,
        name: object.name,
        code: event.response_status.map_or(0, |status| status.code),
        user_agent: event.user_agent,
        uri: event.request_uri,
        received: event.request_received_timestamp,
        is_complete: event.stage == "ResponseComplete" || event.stage == "Panic",
    })
}

/// The parts of `audit.k8s.io/v1` `Event` that are used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Event {
    stage: String,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user: User,
    impersonated_user: Option<User>,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
    request_received_timestamp: Timestamp,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
    #[serde(default)]
    groups: Vec<String>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    resource: String,
    namespace: String,
    name: String,
    api_group: String,
    subresource: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"Metadata","auditID":"x","stage":"ResponseComplete","requestURI":"/apis/apps/v1/namespaces/a/deployments/d/scale","verb":"patch","user":{"username":"admin","groups":["system:masters"]},"impersonatedUser":{"username":"jane","groups":["devs"]},"sourceIPs":["127.0.0.1"],"userAgent":"kubectl","objectRef":{"resource":"deployments","namespace":"a","name":"d","apiGroup":"apps","apiVersion":"v1","subresource":"scale"},"responseStatus":{"metadata":{},"code":403},"requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z","stageTimestamp":"2026-01-02T03:04:05.100000Z"}"#;

    #[test]
    fn a_record_tells_who_did_what_to_which_object() {
        let record = parse(LINE).unwrap();
        assert_eq!((record.user.as_str(), record.groups), ("jane", vec!["devs".to_owned()]));
        assert_eq!((record.verb.as_str(), record.code), ("patch", 403));
        let object = (record.group.as_str(), record.resource.as_str(), record.subresource.as_str());
        assert_eq!(object, ("apps", "deployments", "scale"));
        assert_eq!((record.namespace.as_str(), record.name.as_str()), ("a", "d"));
        assert!(record.is_complete);
    }

    #[test]
    fn half_a_line_is_left_out() {
        assert_eq!(parse(&LINE[..LINE.len() / 2]), None);
    }
}
