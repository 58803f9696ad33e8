//! Whether OLM reads a catalogue. Pure: the `CatalogSource` and the pods that serve it.
//!
//! | connection | pods | look |
//! |---|---|---|
//! | `READY` | any | done |
//! | other, or none yet | in trouble | troubled, in the pod's words |
//! | `TRANSIENT_FAILURE` | fine | troubled |
//! | other, or none yet | fine | waiting |

use k8s_openapi::api::core::v1::Pod;
use serde_json::Value;

use super::{Look, Sentence, pods};
use crate::olm::objects::{name, text};

/// How far `source` is, which is expected at `address`.
pub(crate) fn look(source: &Value, address: &str, served: &[Pod]) -> Look<()> {
    let object = format!("catalogsource/{}", name(source));
    let state = text(source, "/status/connectionState/lastObservedState");
    // Until OLM has seen a new address, what it says is of the old one.
    let is_current = text(source, "/status/connectionState/address") == address;
    if state == "READY" && is_current {
        return Look::Done(());
    }
    if let Some(trouble) = pods::trouble(served) {
        return Look::Troubled(trouble);
    }
    let message = text(source, "/status/message");
    match state {
        _ if !message.is_empty() => Look::Troubled(unreadable(object, message)),
        "TRANSIENT_FAILURE" if is_current => {
            Look::Troubled(unreadable(object, &format!("OLM gets no answer from {address}")))
        }
        "" => Look::Waiting(silent(object)),
        _ => Look::Waiting(Sentence::new(object, "OLM connects to the catalogue")),
    }
}

/// OLM has not said a word.
fn silent(object: String) -> Sentence {
    Sentence::new(object, "OLM has not looked at the catalogue yet").remedy(
        "OLM does not seem to run: `kubewright olm status` tells, `kubewright olm install` repairs",
    )
}

fn unreadable(object: String, why: &str) -> Sentence {
    Sentence::new(object, why).remedy(
        "does the cluster's DNS work, and does a NetworkPolicy stand between? \
         `kubectl logs deployment/catalog-operator --namespace olm` tells what OLM sees",
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn look_at(status: &Value) -> Look<()> {
        let source = json!({ "metadata": { "name": "a-catalog" }, "status": status });
        look(&source, "a.n.svc:50051", &[])
    }

    fn connection(state: &str, address: &str) -> Value {
        json!({ "connectionState": { "lastObservedState": state, "address": address } })
    }

    #[test]
    fn a_catalogue_is_read_once_olm_is_connected_to_its_present_address() {
        assert_eq!(look_at(&connection("READY", "a.n.svc:50051")), Look::Done(()));
        assert!(matches!(look_at(&connection("READY", "old.n.svc:50051")), Look::Waiting(_)));
    }

    #[test]
    fn an_olm_that_says_nothing_is_waited_for_and_suspected() {
        let Look::Waiting(sentence) = look_at(&json!({})) else { panic!("not waiting") };
        assert!(sentence.remedy.unwrap().contains("kubewright olm status"));
    }

    #[test]
    fn a_failing_connection_is_trouble() {
        let look = look_at(&connection("TRANSIENT_FAILURE", "a.n.svc:50051"));
        let Look::Troubled(sentence) = look else { panic!("{look:?}") };
        assert_eq!(sentence.why, "OLM gets no answer from a.n.svc:50051");
    }
}
