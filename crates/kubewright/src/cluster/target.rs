//! Where a document goes: the kind as the cluster serves it, and the name. Asks the cluster once per kind.

use std::collections::HashMap;
use std::time::Duration;

use kube::api::DynamicObject;
use kube::core::GroupVersionKind;
use kube::discovery::{ApiResource, Scope, pinned_kind};
use kube::{Api, Client};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::{Change, ClusterError, POLL, Step};

/// A kind is served a moment after its definition says so.
const SERVED_WITHIN: Duration = Duration::from_secs(15);

/// The kinds that were asked for.
pub(super) struct Kinds<'a> {
    client: &'a Client,
    known: HashMap<GroupVersionKind, (ApiResource, Scope)>,
    /// A definition was applied: a kind that is not served may be soon.
    expects_new: bool,
}

/// One object on the cluster.
pub(super) struct Target {
    pub(super) api: Api<DynamicObject>,
    pub(super) name: String,
    namespace: Option<String>,
    kind: ApiResource,
}

impl<'a> Kinds<'a> {
    pub(super) fn new(client: &'a Client) -> Self {
        Self { client, known: HashMap::new(), expects_new: false }
    }

    pub(super) fn expect_new(&mut self) {
        self.expects_new = true;
    }

    /// The object that a document is about.
    pub(super) async fn target(&mut self, document: &Value) -> Result<Target, ClusterError> {
        let text = |value: &Value, field| {
            let text = value.as_str().filter(|text| !text.is_empty()).map(str::to_owned);
            text.ok_or(ClusterError::Incomplete { field })
        };
        let api_version = text(&document["apiVersion"], "apiVersion")?;
        let kind = text(&document["kind"], "kind")?;
        let name = text(&document["metadata"]["name"], "metadata.name")?;
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", &api_version));
        let (kind, scope) = self.find(&GroupVersionKind::gvk(group, version, &kind)).await?;
        let namespace = (scope == Scope::Namespaced).then(|| {
            let named = document["metadata"]["namespace"].as_str();
            named.unwrap_or_else(|| self.client.default_namespace()).to_owned()
        });
        let client = self.client.clone();
        let api = match &namespace {
            Some(namespace) => Api::namespaced_with(client, namespace, &kind),
            None => Api::all_with(client, &kind),
        };
        Ok(Target { api, name, namespace, kind })
    }

    async fn find(
        &mut self,
        wanted: &GroupVersionKind,
    ) -> Result<(ApiResource, Scope), ClusterError> {
        if let Some(known) = self.known.get(wanted) {
            return Ok(known.clone());
        }
        let begun = Instant::now();
        let found = loop {
            match pinned_kind(self.client, wanted).await {
                Ok((kind, capabilities)) => break (kind, capabilities.scope),
                Err(source) if !is_missing(&source) => {
                    let action = format!("ask what {} is", wanted.kind);
                    return Err(ClusterError::Api { action, source: Box::new(source) });
                }
                Err(_) if self.expects_new && begun.elapsed() < SERVED_WITHIN => sleep(POLL).await,
                Err(_) => {
                    let (api_version, kind) = (wanted.api_version(), wanted.kind.clone());
                    return Err(ClusterError::NotServed { api_version, kind });
                }
            }
        };
        self.known.insert(wanted.clone(), found.clone());
        Ok(found)
    }
}

impl Target {
    pub(super) fn step(&self, change: Change) -> Step {
        Step { resource: resource(&self.kind), name: self.name.clone(), change }
    }

    pub(super) fn is_definition(&self) -> bool {
        self.kind.kind == "CustomResourceDefinition"
    }

    /// True for what runs pods that may still need all the other objects while they end.
    pub(super) fn runs_pods(&self) -> bool {
        self.kind.group == "apps"
    }

    pub(super) fn failed(&self, doing: &str, source: kube::Error) -> ClusterError {
        ClusterError::Api { action: format!("{doing} {self}"), source: Box::new(source) }
    }
}

impl std::fmt::Display for Target {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}/{}", resource(&self.kind), self.name)?;
        self.namespace.iter().try_for_each(|name| write!(formatter, " in namespace {name}"))
    }
}

/// The kind in small letters with its group, as `kubectl` prints it.
pub(super) fn resource(kind: &ApiResource) -> String {
    let dot = if kind.group.is_empty() { "" } else { "." };
    format!("{}{dot}{}", kind.kind.to_lowercase(), kind.group)
}

fn is_missing(error: &kube::Error) -> bool {
    match error {
        kube::Error::Api(status) => status.code == 404,
        kube::Error::Discovery(_) => true,
        _ => false,
    }
}
