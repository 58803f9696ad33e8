//! An object of the test: what we do with it, and what a stranger does.

use std::fmt::Debug;

use kube::api::{DeleteParams, Patch, PatchParams};
use kube::discovery::ApiResource;
use kube::{Api, Client, ResourceExt as _};
use serde::Serialize;
use serde_json::{Value, json};

use crate::held::{Held, Vocabulary};
use crate::intent::Intent;
use crate::raw::Raw;
use crate::rename;

pub(super) const MANAGER: &str = "operator";
pub(super) const STRANGER: &str = "stranger";

pub(super) struct Subject {
    pub(super) api: Api<Raw>,
    pub(super) name: String,
    pub(super) intent: Intent,
}

impl Subject {
    pub(super) fn new(client: Client, namespace: &str, kind: &str, mut desired: Value) -> Self {
        let [api_version, kind, plural] = *kind.split(' ').collect::<Vec<_>>() else {
            panic!("not a kind: {kind}")
        };
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let resource = ApiResource {
            group: group.to_owned(),
            version: version.to_owned(),
            api_version: api_version.to_owned(),
            kind: kind.to_owned(),
            plural: plural.to_owned(),
        };
        desired["apiVersion"] = api_version.into();
        desired["kind"] = kind.into();
        desired["metadata"]["name"] = "subject".into();
        let api = Api::namespaced_with(client, namespace, &resource);
        Self { api, name: "subject".to_owned(), intent: Intent::new(desired) }
    }

    /// As after a restart: nothing is remembered.
    pub(super) fn held(raw: &Raw) -> Held {
        raw.clone().hold(MANAGER, &mut Vocabulary::default())
    }

    pub(super) fn is_quiet(&self, raw: &Raw) -> bool {
        Self::held(raw).is_quiet(&self.intent)
    }

    pub(super) async fn create(&self) -> Raw {
        self.apply(self.intent.body_create()).await.unwrap()
    }

    pub(super) async fn recreate(&self) -> Raw {
        let unhindered = json!({"metadata": {"finalizers": null}});
        let _ =
            self.api.patch(&self.name, &PatchParams::default(), &Patch::Merge(unhindered)).await;
        let at_once = DeleteParams { grace_period_seconds: Some(0), ..DeleteParams::background() };
        let _ = self.api.delete(&self.name, &at_once).await;
        self.create().await
    }

    pub(super) async fn apply(&self, body: impl Serialize + Debug) -> kube::Result<Raw> {
        let ours = PatchParams::apply(MANAGER).force();
        self.api.patch(&self.name, &ours, &Patch::Apply(body)).await
    }

    /// A JSON patch by `manager`.
    pub(super) async fn patch(&self, manager: &str, operations: Value) -> kube::Result<Raw> {
        let by = PatchParams { field_manager: Some(manager.to_owned()), ..PatchParams::default() };
        let patch = Patch::Json::<()>(serde_json::from_value(operations).unwrap());
        self.api.patch(&self.name, &by, &patch).await
    }

    /// Puts the object back as the library does it; returns what came of it and the number of requests.
    pub(super) async fn put_back(&self, raw: &Raw) -> kube::Result<(Raw, usize)> {
        let held = Self::held(raw);
        let own = held.own_fields().unwrap_or_default();
        let repair = rename::repair(self.intent.body(), &held.value(), &own);
        let renamed = repair.is_some();
        if let Some(operations) = repair {
            self.patch(MANAGER, operations.into()).await?;
        }
        let back = self.apply(self.intent.body_update(&raw.uid().unwrap())).await?;
        match rename::disown(&back, MANAGER) {
            Some(operations) => Ok((self.patch(MANAGER, operations.into()).await?, 3)),
            None => Ok((back, 1 + usize::from(renamed))),
        }
    }
}

/// The object without what counts its changes.
pub(super) fn values(raw: &Raw) -> Value {
    let mut value = raw.value();
    for field in ["resourceVersion", "generation", "managedFields"] {
        value["metadata"][field] = Value::Null;
    }
    value
}
