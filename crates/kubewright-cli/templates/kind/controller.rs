//! Looks after each `{{Kind}}`: applies what should be, and says what is.

use kubewright::prelude::*;

use super::{{Kind}};

/// What the controller may touch, such as `deployments: Owned<Deployment>`: a field is a permission, and
/// watches, caches and the operator's role follow from it.
pub struct {{Kind}}Controller {}

impl Controller for {{Kind}}Controller {
    type Kind = {{Kind}};
    type Error = Error;

    /// Asks for it, as `Self { deployments: wiring.owns() }`.
    fn wire(_: &mut Wiring<{{Kind}}>) -> Self {
        Self {}
    }

    /// Apply here what should be, as `self.deployments.apply(pass, deployment({{kind}})).await?`, and say
    /// what is, as `pass.status({{Kind}}Status { … })`.
    async fn reconcile(&self, _{{kind}}: &{{Kind}}, _pass: &Pass<{{Kind}}>) -> Result<Outcome, Error> {
        Ok(Outcome::Done)
    }
}
