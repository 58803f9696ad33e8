//! V3: nothing is overwritten or deleted unseen. A deletion names uid and version, a replacement the version,
//! an apply is under our own manager and names what it builds on, a JSON patch begins with a test.

use http::Method;
use serde_json::Value;

use crate::label;
use crate::run::Observed;
use crate::script::Sent;

pub(super) fn judge(run: &Observed) -> Vec<String> {
    let writes = run.sent.iter().filter(|sent| label::is_write(&sent.asked));
    let unguarded = writes.filter(|sent| !is_guarded(sent));
    unguarded.map(|sent| format!("{} is not guarded", label::write(&sent.asked))).collect()
}

fn is_guarded(sent: &Sent) -> bool {
    let asked = &sent.asked;
    if label::place(&asked.path).resource == "events" {
        return true; // a new name each time, and nobody's state
    }
    let body: Value = serde_json::from_slice(&asked.body).unwrap_or_default();
    let metadata = &body["metadata"];
    match asked.method {
        Method::DELETE => {
            let guard = &body["preconditions"];
            guard["uid"].is_string() && guard["resourceVersion"].is_string()
        }
        Method::PUT => metadata["resourceVersion"].is_string(),
        Method::PATCH => match body.as_array().and_then(|operations| operations.first()) {
            Some(first) => first["op"] == "test",
            None => {
                asked.query.contains("fieldManager=memcached-operator")
                    && (metadata["uid"].is_string() || metadata["resourceVersion"].is_string())
            }
        },
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use kubewright_testenv::proxy::hook::Asked;

    use super::*;

    fn sent(method: Method, query: &str, body: &'static str) -> Sent {
        let asked = Asked {
            method,
            path: "/apis/apps/v1/namespaces/a/deployments/b".to_owned(),
            query: query.to_owned(),
            body: body.into(),
        };
        Sent { at: std::time::Instant::now(), asked, code: None, injected: None }
    }

    #[test]
    fn a_write_that_builds_on_nothing_is_not_guarded() {
        let own = "fieldManager=memcached-operator&force=true";
        let uid = r#"{"metadata": {"uid": "1"}}"#;
        assert!(is_guarded(&sent(Method::PATCH, own, uid)));
        assert!(!is_guarded(&sent(Method::PATCH, own, "{}")));
        assert!(!is_guarded(&sent(Method::PATCH, "fieldManager=other", uid)));
        assert!(is_guarded(&sent(Method::PATCH, "", r#"[{"op": "test"}]"#)));
        assert!(!is_guarded(&sent(Method::PATCH, "", r#"[{"op": "remove"}]"#)));
        assert!(!is_guarded(&sent(Method::DELETE, "", r#"{"preconditions": {"uid": "1"}}"#)));
        assert!(!is_guarded(&sent(Method::POST, "", "{}")));
    }
}
