//! What a kind fills in that its schema cannot.

use super::Request;
use crate::kind::Kind;

/// Fills in what depends on other fields or on who writes the object.
///
/// Declared by [`crate::Wiring::defaults`]. A default that is always the same belongs into the schema: that
/// needs no server. Not in the prelude, so that it never stands in the way of Rust's own `Default`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no defaults of its own",
    note = "`impl kubewright::webhook::Default for {Self}` with `fn set_defaults(&mut self, request)`"
)]
pub trait Default: Kind {
    /// Sets what is missing. Doing it twice must be the same as once: the API server may ask again. Fields
    /// that the type does not know are kept, but for those of the items of a list that is changed.
    fn set_defaults(&mut self, request: &Request<Self>);
}
