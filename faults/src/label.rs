//! Names for requests and events that are the same in every run. Pure.

use http::Method;
use kubewright_testenv::proxy::hook::{Asked, Event};

/// Where a request goes: resource, name and subresource, without group and namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    /// The plural name of the resource.
    pub resource: String,
    /// The object; empty for lists and creations.
    pub name: String,
    /// `status`, for one; else empty.
    pub subresource: String,
    /// The namespace; empty for cluster-wide ones.
    pub namespace: String,
}

/// Takes a path of the API apart.
pub fn place(path: &str) -> Place {
    let mut parts = path.trim_start_matches('/').split('/');
    let skipped = if parts.next() == Some("api") { 1 } else { 2 };
    let parts: Vec<_> = parts.skip(skipped).collect();
    let (namespace, rest) = match parts.as_slice() {
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (*namespace, rest),
        rest => ("", rest),
    };
    let part = |index: usize| rest.get(index).copied().unwrap_or_default().to_owned();
    let namespace = namespace.to_owned();
    Place { resource: part(0), name: part(1), subresource: part(2), namespace }
}

/// True if the request changes something that counts: the lease is renewed all the time.
pub fn is_write(asked: &Asked) -> bool {
    asked.method != Method::GET && place(&asked.path).resource != "leases"
}

/// The label of a write: `PATCH memcacheds/cache/status`. Events of Kubernetes have names of chance.
pub fn write(asked: &Asked) -> String {
    let Place { resource, name, subresource, .. } = place(&asked.path);
    let name = if resource == "events" { String::new() } else { name };
    let parts: Vec<_> =
        [resource, name, subresource].into_iter().filter(|part| !part.is_empty()).collect();
    format!("{} {}", asked.method, parts.join("/"))
}

/// The label of an event: `pods MODIFIED`. None for bookmarks and errors, which are nobody's.
pub fn event(watch: &Asked, event: &Event) -> Option<String> {
    let resource = place(&watch.path).resource;
    let counts = matches!(event.type_.as_str(), "ADDED" | "MODIFIED" | "DELETED");
    (counts && resource != "leases").then(|| format!("{resource} {}", event.type_))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart() {
        let status = place("/apis/cache.example.com/v1alpha1/namespaces/a/memcacheds/b/status");
        assert_eq!((status.resource.as_str(), status.name.as_str()), ("memcacheds", "b"));
        assert_eq!((status.subresource.as_str(), status.namespace.as_str()), ("status", "a"));
        assert_eq!(place("/api/v1/namespaces/a/services/b").resource, "services");
        assert_eq!(place("/api/v1/namespaces/a").resource, "namespaces");
        assert_eq!(place("/api/v1/pods").resource, "pods");
    }
}
