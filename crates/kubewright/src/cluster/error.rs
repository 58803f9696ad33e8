//! Why something was not put on a cluster, or not taken off.

use std::time::Duration;

/// Why something was not put on a cluster, or not taken off.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClusterError {
    /// The text is not YAML.
    #[error("the manifests cannot be read as YAML")]
    NotYaml(#[source] Box<serde_saphyr::Error>),
    /// A document is not an object of Kubernetes.
    #[error("a document has no {field}: every object has apiVersion, kind and metadata.name")]
    Incomplete {
        /// What it lacks.
        field: &'static str,
    },
    /// The cluster does not know the kind.
    #[error("this cluster does not serve {kind} of {api_version}")]
    NotServed {
        /// The version with its group.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The API server refused, or could not be reached.
    #[error("cannot {action}")]
    Api {
        /// What was attempted, on which object.
        action: String,
        /// What the API server or the connection said.
        #[source]
        source: Box<kube::Error>,
    },
    /// A definition was accepted and did not come into effect.
    #[error("the definition {name} did not come into effect; it says {message}")]
    NotEstablished {
        /// The definition.
        name: String,
        /// Its conditions.
        message: String,
    },
    /// An object is still there.
    #[error("{what} is still there after {after:?}; it has the finalizers {finalizers:?}")]
    StillThere {
        /// The object.
        what: String,
        /// How long was waited.
        after: Duration,
        /// What may hold it.
        finalizers: Vec<String>,
    },
    /// Objects wait for others than the operator.
    #[error(
        "{} waits for finalizers that are not the operator's:\n  {}\n\
         Let those who put them there do their work, or take them off, one by one:\n  \
         kubectl patch {resource} NAME --namespace NAMESPACE --type=merge --patch='{{\"metadata\":{{\"finalizers\":null}}}}'\n\
         Then try again.",
        definition, objects.join("\n  ")
    )]
    Held {
        /// The definition that cannot go before they are gone.
        definition: String,
        /// `plural.group`.
        resource: String,
        /// Each object with its finalizers.
        objects: Vec<String>,
    },
}
