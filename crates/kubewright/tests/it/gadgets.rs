//! A kind that a cluster may or may not serve, and a controller that makes one per book where it does.

use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::prelude::*;
use serde::{Deserialize, Serialize};

use crate::books::{Book, BookStatus, map};

#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(group = "gadgets.kubewright.dev", version = "v1", kind = "Gadget", namespaced)]
pub struct GadgetSpec {
    #[serde(default)]
    pub text: String,
}

pub fn gadget(book: &Book) -> Gadget {
    Gadget::new(&book.name_any(), GadgetSpec { text: book.spec.text.clone() })
}

pub struct GadgetBooks {
    maps: Owned<ConfigMap>,
    gadgets: Optional<Owned<Gadget>>,
}

impl Controller for GadgetBooks {
    type Kind = Book;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self { maps: wiring.owns(), gadgets: wiring.optional(Wiring::owns) }
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, Error> {
        self.maps.apply(pass, map(book, 0)).await?;
        if let Some(gadgets) = self.gadgets.served() {
            gadgets.apply(pass, gadget(book)).await?;
        }
        pass.status(BookStatus::default());
        Ok(Outcome::Done)
    }
}
