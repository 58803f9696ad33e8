//! {{A}} `{{Kind}}` as {{spoke}} has it, beside {{version}}, which is stored. What one of them cannot say must be kept in an
//! annotation.

use kubewright::webhook::Convert;

use super::*;

{{spec}}

impl Convert for {{Kind}} {
    type Hub = super::{{Kind}};

    fn to_hub(self) -> super::{{Kind}} {
        let {{Kind}}Spec { {{fields}} } = self.spec;
        let spec = super::{{Kind}}Spec { {{fields}} };
        super::{{Kind}} { metadata: self.metadata, spec, status: self.status }
    }

    fn from_hub(hub: super::{{Kind}}) -> Self {
        let super::{{Kind}}Spec { {{fields}} } = hub.spec;
        let spec = {{Kind}}Spec { {{fields}} };
        Self { metadata: hub.metadata, spec, status: hub.status }
    }
}
