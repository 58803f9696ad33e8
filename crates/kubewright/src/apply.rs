//! Makes a child as it should be, in one guarded request, or in none if it is so already.
//!
//! Guarantees: an object that is not ours is never written to (creating carries a resourceVersion that
//! only an absent object accepts, changing carries the uid); a write that was sent is never lost to the
//! cancellation of its pass, because it runs in a task of its own and its answer goes into the cache.

mod owner;

use std::sync::Arc;

use kube::Api;
use kube::api::{Patch, PatchParams};
use serde_json::Value;
use tokio::time::Instant;
use tracing::info;

use crate::drift::{self, Drift};
use crate::error::Error;
use crate::fight::Verdict;
use crate::held::Held;
use crate::intent::{Guarded, Intent};
use crate::key::Key;
use crate::raw::Raw;
use crate::rename;
use crate::store::{Arrival, Store};
use crate::write::{Request, Writer, json_patch};

/// How often an object that changes under our hands is looked at again within one apply.
const LOOKS: usize = 3;

/// What is to be made, where, and for whom.
pub(crate) struct Apply {
    pub(crate) writer: Writer,
    pub(crate) store: Arc<Store>,
    /// Where the owner is.
    pub(crate) primary: Arc<Store>,
    pub(crate) key: Key,
    /// The uid of the owner.
    pub(crate) owner: String,
    pub(crate) intent: Intent,
    /// Held while something is created, where one at a time is to be.
    pub(crate) one_at_a_time: Option<OneAtATime>,
}

/// See [`crate::pass::Pass::one_at_a_time`].
pub(crate) type OneAtATime = Arc<tokio::sync::Mutex<()>>;

impl Apply {
    /// Sends what is necessary. Answers with the object as it then is.
    pub(crate) async fn run(self) -> Result<Arc<Held>, Error> {
        let held = self.store.get(&self.key);
        if let Some(held) = &held {
            self.check_owner(self.store.owner_of(&self.key).as_deref(), || {
                held.intent_hash() == Some(self.intent.hash()) && held.own_fields().is_some()
            })?;
            // One that is on its way out is made anew when it is gone.
            if held.deleting() || held.is_quiet(&self.intent) {
                return Ok(held.clone());
            }
        }
        let runtime = self.writer.runtime.clone();
        let task = runtime.spawn(async move { self.write(held).await });
        task.await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(Error::NotRunning), // the operator has ended meanwhile
        })
    }

    async fn write(self, mut held: Option<Arc<Held>>) -> Result<Arc<Held>, Error> {
        let api = self.writer.api(&self.store, &self.key);
        let mut mute = self.store.mute(&self.key);
        let mut looks = 1;
        loop {
            let answer = match &held {
                Some(held) => self.change(&api, held).await,
                None => self.create(&api).await,
            };
            match answer {
                Ok(answer) => {
                    mute.answered(answer.version());
                    return Ok(self.store.put_applied(answer, &self.intent));
                }
                Err(error) if is_outdated(&error) && looks < LOOKS => looks += 1,
                Err(error) => return Err(error),
            }
            held = self.look(&api).await?;
            if let Some(held) = held.as_ref().filter(|held| held.deleting()) {
                return Ok(held.clone());
            }
        }
    }

    async fn create(&self, api: &Api<Raw>) -> Result<Raw, Error> {
        let body = self.intent.body_create();
        self.check_namespace()?;
        if self.store.departed.wait(&self.key).is_some() {
            self.ask_for_owner().await?;
        }
        let alone = match &self.one_at_a_time {
            Some(one) => Some(one.lock().await),
            None => None,
        };
        self.check_namespace()?; // another child may have been refused meanwhile
        let created = self.send(api, "create", "create", body).await;
        if let Err(Error::Terminating { .. }) = &created {
            self.writer.doomed.add(&self.owner, self.key.namespace());
        }
        drop(alone);
        let created = created?;
        info!(
            kind = self.kind(),
            namespace = self.key.namespace(),
            name = self.key.name(),
            "created"
        );
        Ok(created)
    }

    fn check_namespace(&self) -> Result<(), Error> {
        if self.writer.doomed.contains(&self.owner) {
            return Err(Error::Terminating {
                action: self.request("create", "create").to_string(),
            });
        }
        Ok(())
    }

    async fn change(&self, api: &Api<Raw>, held: &Held) -> Result<Raw, Error> {
        if self.store.owner_of(&self.key).is_none() {
            self.ask_for_owner().await?;
        }
        let mut drifts = Vec::new();
        let mut renamed = None;
        // What others made of our fields; nothing if the intent itself is new.
        if held.intent_hash() == Some(self.intent.hash()) {
            let (now, own) = held.value_and_own_fields();
            drifts = drift::drifted(self.intent.body(), &now, &own);
            if !drifts.is_empty() {
                self.judge(api, &drifts).await?;
                renamed = rename::repair(self.intent.body(), &now, &own);
            }
        }
        let body = self.intent.body_update(held.uid());
        self.writer.pace.changed(&self.owner);
        let Some(repair) = renamed else {
            let changed = self.send(api, "patch", "change", body).await?;
            self.log(&drifts);
            return Ok(changed);
        };
        self.patch(api, repair).await?;
        let mut changed = self.send(api, "patch", "change", body).await?;
        if let Some(disown) = rename::disown(&changed, &self.writer.manager) {
            changed = self.patch(api, disown).await?;
        }
        self.log(&drifts);
        Ok(changed)
    }

    async fn send(
        &self,
        api: &Api<Raw>,
        verb: &'static str,
        doing: &'static str,
        body: Guarded<'_>,
    ) -> Result<Raw, Error> {
        let parameters = PatchParams::apply(&self.writer.manager).force();
        let patch = Patch::Apply(body);
        let request = api.patch(self.key.name(), &parameters, &patch);
        self.writer.send(self.request(verb, doing), request).await
    }

    /// What an apply cannot do: giving renamed list items their keys back.
    async fn patch(&self, api: &Api<Raw>, operations: Vec<Value>) -> Result<Raw, Error> {
        let patch = json_patch(&self.key, operations)?;
        let parameters = PatchParams {
            field_manager: Some(self.writer.manager.to_string()),
            ..PatchParams::default()
        };
        let request = api.patch(self.key.name(), &parameters, &patch);
        self.writer.send(self.request("patch", "change"), request).await
    }

    /// Counts the putting back of each field, and gives in for a while where that is a fight.
    async fn judge(&self, api: &Api<Raw>, drifts: &[Drift<'_>]) -> Result<(), Error> {
        let (now, fights) = (Instant::now(), &self.writer.fights);
        let mut contested = None;
        for drift in drifts {
            if let Verdict::Hold(hold, known) =
                fights.judge(self.kind(), &self.key, &drift.field, now)
            {
                contested = contested.or(Some((drift, hold, known)));
            }
        }
        let Some((drift, hold, known)) = contested else { return Ok(()) };
        let manager = match known {
            Some(manager) => manager,
            None => self.opponent(api, drift).await?,
        };
        fights.name(self.kind(), &self.key, &drift.field, &manager);
        let (kind, name, field) = (self.kind().into(), self.key.to_string(), drift.field.clone());
        Err(Error::Contested { kind, name, field, manager, hold })
    }

    /// Who owns a field that was ours: only the object in full says it.
    async fn opponent(&self, api: &Api<Raw>, drift: &Drift<'_>) -> Result<String, Error> {
        let request = api.get(self.key.name());
        let raw = self.writer.send(self.request("get", "look at"), request).await?;
        let manager = drift::manager_of(&raw, drift, &self.writer.manager);
        Ok(manager.unwrap_or_else(|| "somebody".to_owned()))
    }

    /// The object as the server has it, if it is ours.
    async fn look(&self, api: &Api<Raw>) -> Result<Option<Arc<Held>>, Error> {
        let request = api.get_opt(self.key.name());
        let Some(raw) = self.writer.send(self.request("get", "look at"), request).await? else {
            if let Some(held) = self.store.get(&self.key) {
                self.store.deleted(&self.key, held.uid());
            }
            return Ok(None);
        };
        let owner = self.store.owner_in(&raw);
        let is_applied = || {
            let [own, _] = raw.own_field_sets(&self.writer.manager);
            raw.intent_hash() == Some(self.intent.hash()) && own.is_some()
        };
        if let Err(taken) = self.check_owner(owner.as_deref(), is_applied) {
            // A stranger under our name may have taken the place of what we held.
            if let Some(held) = self.store.get(&self.key) {
                self.store.deleted(&self.key, held.uid());
            }
            return Err(taken);
        }
        Ok(Some(self.store.put(raw, Arrival::Own)))
    }

    fn log(&self, drifts: &[Drift<'_>]) {
        let (kind, namespace, name) = (self.kind(), self.key.namespace(), self.key.name());
        if drifts.is_empty() {
            info!(kind, namespace, name, "changed");
        }
        for drift in drifts {
            let (field, expected, actual) = (
                &drift.field,
                shown(kind, Some(drift.expected)),
                shown(kind, drift.actual.as_ref()),
            );
            info!(kind, namespace, name, field, expected, actual, "repaired");
        }
    }

    fn kind(&self) -> &str {
        &self.store.kind.kind
    }

    fn request(&self, verb: &'static str, doing: &'static str) -> Request<'_> {
        Request { verb, doing, kind: &self.store.kind, key: &self.key }
    }
}

/// A value for the log: short, on one line, and nothing that is secret.
fn shown(kind: &str, value: Option<&Value>) -> String {
    match value {
        _ if kind == "Secret" => "(hidden)".to_owned(),
        None => "(absent)".to_owned(),
        Some(value) => value.to_string().chars().take(200).collect(),
    }
}

/// The object is not the one we took it for, or there is one where there was none.
fn is_outdated(error: &Error) -> bool {
    let Some(status) = error.status() else { return false };
    status.code == 409 || (status.code == 422 && status.message.contains("metadata.uid"))
}
