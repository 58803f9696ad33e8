//! The name under which an object is queued, cached and logged.
//!
//! Owns the pair of namespace and name and how it is printed. It does not say of which kind the
//! object is (every cache and every queue serves one kind) and does not check that the names are
//! legal: they come from the API server.

use std::fmt;
use std::sync::Arc;

/// Namespace and name of an object; a cluster-scoped object has the empty namespace.
///
/// A clone shares the text. Keys are ordered as they are printed.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// `namespace/name`, or `name` alone.
    text: Arc<str>,
    /// Where the slash is; 0 if there is none.
    slash: usize,
}

impl Key {
    /// The key of the object `name` in `namespace`, which is empty for a cluster-scoped object.
    pub fn new(namespace: &str, name: &str) -> Self {
        if namespace.is_empty() {
            return Self { text: name.into(), slash: 0 };
        }
        Self { text: format!("{namespace}/{name}").into(), slash: namespace.len() }
    }

    /// The namespace, empty for a cluster-scoped object.
    pub fn namespace(&self) -> &str {
        &self.text[..self.slash]
    }

    /// The name within the namespace.
    pub fn name(&self) -> &str {
        if self.slash == 0 { &self.text } else { &self.text[self.slash + 1..] }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.text)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Key({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::Key;

    #[test]
    fn a_namespaced_key_has_both_parts_and_prints_them_with_a_slash() {
        let key = Key::new("shop", "cart");
        assert_eq!((key.namespace(), key.name()), ("shop", "cart"));
        assert_eq!(key.to_string(), "shop/cart");
        assert_eq!(format!("{key:?}"), "Key(shop/cart)");
    }

    #[test]
    fn a_cluster_scoped_key_prints_its_name_alone() {
        let key = Key::new("", "node-1");
        assert_eq!((key.namespace(), key.name()), ("", "node-1"));
        assert_eq!(key.to_string(), "node-1");
    }

    #[test]
    fn keys_are_equal_only_if_both_parts_are() {
        assert_eq!(Key::new("a", "b"), Key::new("a", "b"));
        assert_ne!(Key::new("a", "b"), Key::new("b", "a"));
        assert_ne!(Key::new("a", "b"), Key::new("", "b"));
        assert_ne!(Key::new("a", "b"), Key::new("", "a/b"));
    }
}
