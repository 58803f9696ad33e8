//! The hook that carries a plan out: counts writes and events since the user acted, notes everything that is
//! sent, and does to one of them what the plan says. Decides nothing about right and wrong.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use http::{Method, Response, StatusCode};
use hyper::body::Bytes;
use kubewright_testenv::proxy::hook::{Asked, Event, EventFault, Hook, RequestFault};
use serde_json::{Value, json};

use crate::enumerate::Recording;
use crate::label;
use crate::plan::{Fault, Plan, Target};
use crate::process::Victim;

/// How late an event comes, and how long there are only bookmarks.
pub const LATE: Duration = Duration::from_secs(5);
/// Longer than the operator waits for an answer.
pub const SILENCE: Duration = Duration::from_secs(12);
/// Longer than a lease lasts and another needs to take it.
pub const TAKEOVER: Duration = Duration::from_secs(20);
/// A killed process takes what it has been handed; the answer has to be out of the proxy by then.
const HANDED: Duration = Duration::from_millis(10);

/// A request that the operator sent.
#[derive(Clone, Debug)]
pub struct Sent {
    /// When.
    pub at: Instant,
    /// What.
    pub asked: Asked,
    /// What the API server answered; none if it was not asked or did not answer yet.
    pub code: Option<u16>,
    /// What the proxy answered in its place.
    pub injected: Option<u16>,
}

/// One plan, or none, and all that was seen.
#[derive(Debug, Default)]
pub struct Script {
    plan: Option<Plan>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    armed: bool,
    recording: Recording,
    counts: HashMap<String, usize>,
    sent: Vec<Sent>,
    watched: Vec<String>,
    fired: Option<Instant>,
    /// What the operator asked for when it listed a kind, by path.
    listed: HashMap<String, String>,
    /// What each list was when the user acted, and the kind that is to get it.
    older: HashMap<String, Bytes>,
    stale: Option<String>,
    /// Dies when the answer to this write has come or was handed on.
    doomed: Option<(Bytes, Fault)>,
}

impl Script {
    /// Carries out `plan`; only records if there is none.
    pub fn new(plan: Option<Plan>) -> Arc<Self> {
        Arc::new(Self { plan, state: Mutex::default() })
    }

    /// What the operator has listed so far: each path, with its query.
    pub fn listed(&self) -> HashMap<String, String> {
        self.state().listed.clone()
    }

    /// From now on writes and events are counted: the user acts. `older` is what the lists are until then.
    pub fn arm(&self, older: HashMap<String, Bytes>) {
        let mut state = self.state();
        state.older = older;
        state.armed = true;
    }

    /// When the fault happened.
    pub fn fired(&self) -> Option<Instant> {
        self.state().fired
    }

    /// What was counted.
    pub fn recording(&self) -> Recording {
        self.state().recording.clone()
    }

    /// Everything that was sent.
    pub fn sent(&self) -> Vec<Sent> {
        self.state().sent.clone()
    }

    /// How many kinds are being watched.
    pub fn watched(&self) -> usize {
        self.state().watched.len()
    }

    /// When the last write was sent.
    pub fn last_write(&self) -> Option<Instant> {
        let state = self.state();
        state.sent.iter().rev().find(|sent| label::is_write(&sent.asked)).map(|sent| sent.at)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_hit(&self, state: &mut State, seen: &Target) -> Option<Fault> {
        let plan = self.plan.as_ref().filter(|plan| plan.target == *seen)?;
        state.fired = Some(Instant::now());
        Some(plan.fault)
    }
}

impl State {
    /// Which of its kind this one is; none while the user has not acted.
    fn count(&mut self, label: &str) -> Option<usize> {
        if !self.armed {
            return None;
        }
        let count = self.counts.entry(label.to_owned()).or_default();
        *count += 1;
        Some(*count)
    }
}

/// The way of one process of the operator through a proxy.
pub struct Way {
    /// What is to be done.
    pub script: Arc<Script>,
    /// Whose way it is.
    pub victim: Arc<Victim>,
}

impl Hook for Way {
    fn request(&self, asked: &Asked) -> RequestFault {
        let mut state = self.script.state();
        let fault = if label::is_write(asked) {
            self.write(&mut state, asked)
        } else {
            read(&mut state, asked)
        };
        let injected = match &fault {
            RequestFault::Answer(answer) | RequestFault::AnswerInstead(answer) => {
                Some(answer.status().as_u16())
            }
            _ => None,
        };
        state.sent.push(Sent { at: Instant::now(), asked: asked.clone(), code: None, injected });
        fault
    }

    fn answered(&self, asked: &Asked, status: StatusCode, _: &Bytes) {
        let mut state = self.script.state();
        let is_this = |sent: &&mut Sent| {
            sent.code.is_none() && sent.asked.path == asked.path && sent.asked.body == asked.body
        };
        if let Some(sent) = state.sent.iter_mut().rev().find(is_this) {
            sent.code = Some(status.as_u16());
        }
        if state
            .doomed
            .take_if(|(doomed, fault)| *fault == Fault::KillAfterSend && *doomed == asked.body)
            .is_some()
        {
            self.victim.kill();
        }
    }

    fn handed(&self, asked: &Asked) {
        let doomed = self.script.state().doomed.take_if(|(doomed, _)| *doomed == asked.body);
        if doomed.is_some() {
            let victim = self.victim.clone();
            tokio::spawn(async move {
                tokio::time::sleep(HANDED).await;
                victim.kill();
            });
        }
    }

    fn event(&self, watch: &Asked, event: &Event) -> EventFault {
        let Some(what) = label::event(watch, event) else { return EventFault::Pass };
        let mut state = self.script.state();
        let Some(nth) = state.count(&what) else { return EventFault::Pass };
        state.recording.events.push(what.clone());
        let fault = self.script.is_hit(&mut state, &Target::Event { what, nth });
        if fault == Some(Fault::Stale) {
            state.stale = Some(watch.path.clone());
        }
        fault.map_or(EventFault::Pass, of_event)
    }
}

impl Way {
    fn write(&self, state: &mut State, asked: &Asked) -> RequestFault {
        let what = label::write(asked);
        let Some(nth) = state.count(&what) else { return RequestFault::Pass };
        state.recording.writes.push(what.clone());
        match self.script.is_hit(state, &Target::Write { what, nth }) {
            Some(Fault::KillBefore) => {
                self.victim.kill();
                RequestFault::Close
            }
            Some(fault @ Fault::KillAfterSend) => {
                state.doomed = Some((asked.body.clone(), fault));
                RequestFault::LoseAnswer
            }
            Some(fault @ Fault::KillAfterAnswer) => {
                state.doomed = Some((asked.body.clone(), fault));
                RequestFault::Pass
            }
            Some(Fault::LeaderChange) => {
                self.victim.kill();
                RequestFault::Late(TAKEOVER)
            }
            fault => fault.map_or(RequestFault::Pass, of_request),
        }
    }
}

/// What the proxy has to do to a request for a fault that kills nobody.
pub fn of_request(fault: Fault) -> RequestFault {
    match fault {
        Fault::Conflict => RequestFault::Answer(status(409, "Conflict")),
        Fault::TooMany => RequestFault::Answer(status(429, "TooManyRequests")),
        Fault::Internal => RequestFault::Answer(status(500, "InternalError")),
        Fault::Unavailable => RequestFault::Answer(status(503, "ServiceUnavailable")),
        Fault::Forbidden => RequestFault::Answer(status(403, "Forbidden")),
        Fault::TimedOutButDone => RequestFault::AnswerInstead(status(504, "Timeout")),
        Fault::Unsent => RequestFault::Close,
        Fault::AnswerLost => RequestFault::LoseAnswer,
        Fault::Silence => RequestFault::Delay(SILENCE),
        Fault::Truncated => RequestFault::Truncate,
        Fault::Slow => RequestFault::Slow(Duration::from_secs(1)),
        _ => RequestFault::Pass,
    }
}

/// What the proxy has to do to an event.
pub fn of_event(fault: Fault) -> EventFault {
    match fault {
        Fault::Hide => EventFault::Hide(LATE),
        Fault::Delay => EventFault::Delay(LATE),
        Fault::Duplicate => EventFault::Duplicate,
        Fault::Reorder => EventFault::Reorder,
        Fault::Bookmarks => EventFault::Bookmarks(LATE),
        Fault::Disconnect => EventFault::Disconnect,
        Fault::Expire | Fault::Stale => EventFault::Expire,
        _ => EventFault::Pass,
    }
}

fn read(state: &mut State, asked: &Asked) -> RequestFault {
    let resource = label::place(&asked.path).resource;
    if asked.query.contains("watch=") && resource != "leases" && !state.watched.contains(&resource)
    {
        state.watched.push(resource);
    }
    if !is_list(asked) {
        return RequestFault::Pass;
    }
    state.listed.entry(asked.path.clone()).or_insert_with(|| asked.query.clone());
    if state.stale.as_ref() != Some(&asked.path) {
        return RequestFault::Pass;
    }
    state.stale = None;
    let list = state.older.get(&asked.path).cloned();
    list.map_or(RequestFault::Pass, |list| {
        let mut answer = Response::new(list);
        answer
            .headers_mut()
            .insert("content-type", http::HeaderValue::from_static("application/json"));
        RequestFault::Answer(answer)
    })
}

fn is_list(asked: &Asked) -> bool {
    let place = label::place(&asked.path);
    let is_all = !place.resource.is_empty() && place.name.is_empty();
    asked.method == Method::GET && is_all && !asked.query.contains("watch=")
}

/// A refusal in the words of Kubernetes.
pub fn status(code: u16, reason: &str) -> Response<Bytes> {
    let mut body: Value = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": format!("{reason} (injected)"), "reason": reason, "code": code,
    });
    if code == 429 {
        body["details"] = json!({"retryAfterSeconds": 1});
    }
    let mut answer = Response::new(Bytes::from(body.to_string()));
    *answer.status_mut() = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = answer.headers_mut();
    headers.insert("content-type", http::HeaderValue::from_static("application/json"));
    if code == 429 {
        headers.insert("retry-after", http::HeaderValue::from_static("1"));
    }
    answer
}
