//! Looks after each `{{Kind}}`: applies what should be, and says what is.

use kubewright::conditions;
use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::prelude::*;
use kubewright::rollout::Rollout;

use super::deployment::deployment;
use super::{{{Kind}}, {{Kind}}Status};

/// The image, unless the operator's variable `{{IMAGE}}` names another.
pub const IMAGE: &str = "{{image}}";

/// What the controller may touch: watches, caches and the operator's role follow from it.
pub struct {{Kind}}Controller {
    deployments: Owned<Deployment>,
    image: String,
}

impl Controller for {{Kind}}Controller {
    type Kind = {{Kind}};
    type Error = Error;

    fn wire(wiring: &mut Wiring<{{Kind}}>) -> Self {
        let image = std::env::var("{{IMAGE}}").unwrap_or_else(|_| IMAGE.to_owned());
        let deployments = wiring.keeps();
        Self { deployments, image }
    }

    async fn reconcile(&self, {{kind}}: &{{Kind}}, pass: &Pass<{{Kind}}>) -> Result<Outcome, Error> {
        let wanted = deployment({{kind}}, &self.image);
        let deployment = self.deployments.apply(pass, wanted).await?;
        let conditions = Rollout::of(&deployment).conditions().into();
        pass.status({{Kind}}Status { conditions });
        Ok(Outcome::Done)
    }

    /// Before the object goes. Its Deployment needs no help: that goes with its owner.
    async fn finalize(&self, {{kind}}: &{{Kind}}, pass: &Pass<{{Kind}}>) -> Result<Outcome, Error> {
        let namespace = {{kind}}.namespace().unwrap_or_default();
        let message = format!("{} is being deleted from {namespace}", {{kind}}.name_any());
        pass.warn("Finalizing", &message);
        let conditions = vec![conditions::new("Degraded", true, "Finalizing", message)];
        pass.status({{Kind}}Status { conditions });
        Ok(Outcome::Done)
    }
}
