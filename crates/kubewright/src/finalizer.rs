//! Puts our finalizer on an object and takes it off, guarded so that nobody else's is ever touched. None
//! is put on an object that is already being deleted: the API server would refuse it.

use std::sync::Arc;

use kube::api::PatchParams;
use kube::{Api, ResourceExt as _};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::held::Held;
use crate::key::Key;
use crate::raw::Raw;
use crate::store::{Arrival, Store};
use crate::write::{Request, Writer, json_patch};

/// How often a list of finalizers that changes under our hands is read again.
const LOOKS: usize = 3;

/// The finalizers of one kind that this operator manages.
pub(crate) struct Finalizer {
    name: String,
    store: Arc<Store>,
}

#[derive(Deserialize, Default)]
struct Peek {
    #[serde(default)]
    metadata: PeekMeta,
}

#[derive(Deserialize, Default)]
struct PeekMeta {
    #[serde(default)]
    finalizers: Option<Vec<String>>,
}

/// The finalizer that `operator` puts on objects of a kind of `group`: two operators that share a group do
/// not take each other's.
///
/// ```
/// assert_eq!(kubewright::finalizer("demo.dev", "note-operator"), "demo.dev/note-operator");
/// ```
pub fn finalizer(group: &str, operator: &str) -> String {
    format!("{group}/{operator}")
}

impl Finalizer {
    pub(crate) fn new(store: Arc<Store>, manager: &str) -> Self {
        Self { name: finalizer(&store.kind.group, manager), store }
    }

    /// Where in the object's list ours is.
    pub(crate) fn position(&self, held: &Held) -> Option<usize> {
        finalizers(held).iter().position(|name| *name == self.name)
    }

    /// Puts it on, and answers with the object as it then is. None if that is gone or going.
    pub(crate) async fn add(
        &self,
        writer: &Writer,
        held: &Held,
    ) -> Result<Option<Arc<Held>>, Error> {
        let mut current = None;
        for look in 1..=LOOKS {
            let held = current.as_deref().unwrap_or(held);
            match self.send(writer, held, "put the finalizer on", self.addition(held)).await {
                Err(error) if code(&error) == Some(404) => return Ok(None),
                Err(error) if is_outdated(&error) && look < LOOKS => {
                    current = self.look(writer, held).await?;
                    let Some(now) = current.as_ref().filter(|now| !now.deleting()) else {
                        return Ok(None);
                    };
                    if self.position(now).is_some() {
                        return Ok(current);
                    }
                }
                answer => return answer.map(Some),
            }
        }
        Ok(current)
    }

    /// Only to the list as we know it: absent, the addition would replace what somebody has put there.
    fn addition(&self, held: &Held) -> Vec<Value> {
        let known = finalizers(held);
        let path = "/metadata/finalizers";
        let (known, operation) = if known.is_empty() {
            (Value::Null, json!({"op": "add", "path": path, "value": [self.name]}))
        } else {
            let end = format!("{path}/-");
            (json!(known), json!({"op": "add", "path": end, "value": self.name}))
        };
        vec![
            json!({"op": "test", "path": "/metadata/uid", "value": held.uid()}),
            json!({"op": "test", "path": path, "value": known}),
            operation,
        ]
    }

    /// Takes it off. An object that is gone meanwhile is fine.
    pub(crate) async fn remove(&self, writer: &Writer, held: &Held) -> Result<(), Error> {
        let mut current = None;
        for look in 1..=LOOKS {
            let held = current.as_deref().unwrap_or(held);
            let Some(position) = self.position(held) else { return Ok(()) };
            let path = format!("/metadata/finalizers/{position}");
            let operations = vec![
                json!({"op": "test", "path": "/metadata/uid", "value": held.uid()}),
                json!({"op": "test", "path": path, "value": self.name}),
                json!({"op": "remove", "path": path}),
            ];
            match self.send(writer, held, "take the finalizer off", operations).await {
                Err(error) if code(&error) == Some(404) => return Ok(()),
                Err(error) if is_outdated(&error) && look < LOOKS => {
                    current = self.look(writer, held).await?;
                    if current.is_none() {
                        return Ok(());
                    }
                }
                Err(error) => return Err(error),
                Ok(_) => {
                    if held.deleting() && finalizers(held).len() == 1 {
                        // It is gone with that, and the answer has no version of its own to tell.
                        let key = Key::new(held.namespace(), held.name());
                        self.store.deleted(&key, held.uid());
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// The same object as the server has it.
    async fn look(&self, writer: &Writer, held: &Held) -> Result<Option<Arc<Held>>, Error> {
        let key = Key::new(held.namespace(), held.name());
        let api: Api<Raw> = writer.api(&self.store, &key);
        let what = self.request("get", "look at", &key);
        let _mute = self.store.mute(&key);
        let Some(raw) = writer.send(what, api.get_opt(key.name())).await? else { return Ok(None) };
        // Another of the same name is news that the watch has to bring.
        let same = Some(raw).filter(|raw| raw.uid().as_deref() == Some(held.uid()));
        Ok(same.map(|raw| self.store.put(raw, Arrival::Own)))
    }

    async fn send(
        &self,
        writer: &Writer,
        held: &Held,
        doing: &'static str,
        operations: Vec<Value>,
    ) -> Result<Arc<Held>, Error> {
        let key = Key::new(held.namespace(), held.name());
        let api: Api<Raw> = writer.api(&self.store, &key);
        let patch = json_patch(&key, operations)?;
        let parameters = PatchParams {
            field_manager: Some(writer.manager.to_string()),
            ..PatchParams::default()
        };
        let request = api.patch(key.name(), &parameters, &patch);
        let mut mute = self.store.mute(&key);
        let answer = writer.send(self.request("patch", doing, &key), request).await?;
        mute.answered(answer.version());
        Ok(self.store.put(answer, Arrival::Own))
    }

    fn request<'a>(&'a self, verb: &'static str, doing: &'static str, key: &'a Key) -> Request<'a> {
        Request { verb, doing, kind: &self.store.kind, key }
    }
}

fn finalizers(held: &Held) -> Vec<String> {
    held.decode::<Peek>().unwrap_or_default().metadata.finalizers.unwrap_or_default()
}

/// The object has changed: a `test` of the patch failed, or somebody was faster.
fn is_outdated(error: &Error) -> bool {
    matches!(code(error), Some(409 | 422))
}

fn code(error: &Error) -> Option<u16> {
    error.status().map(|status| status.code)
}
