//! What a kind refuses beyond its schema, and what it warns of.

use kube::core::admission::AdmissionResponse;
use kube::core::response::{StatusCause, StatusDetails};
use kube::core::{Status, admission::Operation};

use super::Request;
use crate::kind::Kind;

/// Refuses objects that the schema and its rules cannot, and warns whoever writes them.
///
/// Declared by [`crate::Wiring::validates`]. What CEL can say belongs into the schema: that needs no server.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no validation",
    note = "`impl kubewright::webhook::Validate for {Self}` with `fn validate(&self, request, verdict)`"
)]
pub trait Validate: Kind {
    /// What is looked at. Objects that are being deleted are never: nothing may hold them up.
    const OPERATIONS: &'static [Operation] = &[Operation::Create, Operation::Update];

    /// Says what is wrong with the object. `request` has the object as it was before (`old_object`), who
    /// writes it, and whether it is a dry run. In a deletion `self` is the object that is to go.
    fn validate(&self, request: &Request<Self>, verdict: &mut Verdict);
}

/// What is found of an object: everything is allowed until something is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    refused: Vec<(String, String)>,
    warnings: Vec<String>,
}

impl Verdict {
    /// Refuses the object: `field`, as in `spec.size`, and what is wrong with it. All refusals are told at once.
    pub fn refuse(&mut self, field: &str, why: impl Into<String>) {
        self.refused.push((field.to_owned(), why.into()));
    }

    /// Warns whoever writes the object; `kubectl` prints it. The API server cuts off more than 4096 characters.
    pub fn warn(&mut self, warning: impl Into<String>) {
        self.warnings.push(warning.into());
    }

    /// True if nothing was refused.
    pub fn is_allowed(&self) -> bool {
        self.refused.is_empty()
    }

    /// What the API server is told about `request`.
    pub(super) fn into_response<K: Kind>(self, request: &Request<K>) -> AdmissionResponse {
        let mut response = AdmissionResponse::from(request);
        if !self.refused.is_empty() {
            response.allowed = false;
            response.result = invalid(request, self.refused);
        }
        response.warnings = Some(self.warnings).filter(|warnings| !warnings.is_empty());
        response
    }
}

/// As the API server itself says it.
fn invalid<K: Kind>(request: &Request<K>, refused: Vec<(String, String)>) -> Status {
    let (kind, group, name) = (&request.kind.kind, &request.kind.group, &request.name);
    let causes: Vec<_> = refused
        .into_iter()
        .map(|(field, message)| StatusCause {
            reason: "FieldValueInvalid".to_owned(),
            message,
            field,
        })
        .collect();
    let told: Vec<_> =
        causes.iter().map(|cause| format!("{}: {}", cause.field, cause.message)).collect();
    let message = format!("{kind}.{group} {name:?} is invalid: {}", told.join("; "));
    let details = StatusDetails {
        name: name.clone(),
        group: group.clone(),
        kind: kind.clone(),
        uid: String::new(),
        causes,
        retry_after_seconds: 0,
    };
    let mut status = Status::failure(&message, "Invalid").with_code(422);
    status.details = Some(details);
    status
}
