//! The trait that an operator's author writes, and how the library knows whether `finalize` was written.

use std::any::{Any, TypeId};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task;

use crate::kind::Primary;
use crate::outcome::{Failure, Outcome};
use crate::pass::Pass;
use crate::wiring::Wiring;

/// Brings the world in line with one kind of object.
///
/// See the [crate's documentation](crate) for a whole one.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a controller",
    note = "`impl Controller for {Self}` with `type Kind`, `type Error`, `fn wire` and `async fn reconcile`"
)]
pub trait Controller: Sized + Send + Sync + 'static {
    /// The kind that is reconciled.
    type Kind: Primary;
    /// [`crate::Error`], or a type of your own with [`Failure`].
    type Error: Failure;

    /// Asks for everything the controller may touch. Watches, caches, RBAC rules and pruning follow
    /// from it. It runs without a cluster too, to print the rules: no IO here.
    fn wire(wiring: &mut Wiring<Self::Kind>) -> Self;

    /// Makes the world as `object` says. Any pass may start from any state, may be cut short at any
    /// await, and runs alone for its object.
    fn reconcile(
        &self,
        object: &Self::Kind,
        pass: &Pass<Self::Kind>,
    ) -> impl Future<Output = Result<Outcome, Self::Error>> + Send;

    /// Clears up what an owner reference does not, before `object` goes. Write it and the finalizer is
    /// managed for you: on the object before its first pass, off when this returns [`Outcome::Done`].
    /// Leave it out and there is none.
    fn finalize(
        &self,
        _object: &Self::Kind,
        _pass: &Pass<Self::Kind>,
    ) -> impl Future<Output = Result<Outcome, Self::Error>> + Send {
        NoFinalizer(PhantomData)
    }
}

/// What `finalize` returns where it is not written; [`finalizes`] recognises it by its type.
#[doc(hidden)]
#[derive(Debug)]
pub struct NoFinalizer<E>(PhantomData<fn() -> E>);

impl<E> Future for NoFinalizer<E> {
    type Output = Result<Outcome, E>;

    fn poll(self: Pin<&mut Self>, _: &mut task::Context<'_>) -> task::Poll<Self::Output> {
        task::Poll::Ready(Ok(Outcome::Done))
    }
}

/// True if `C` has a `finalize` of its own.
pub(crate) fn finalizes<C: Controller>() -> bool {
    fn returns<C: Controller, F: Any>(
        _: fn(&'static C, &'static C::Kind, &'static Pass<C::Kind>) -> F,
    ) -> bool {
        TypeId::of::<F>() != TypeId::of::<NoFinalizer<C::Error>>()
    }
    returns::<C, _>(C::finalize)
}
