//! What a status says of the children, held against what these were: from the version on that asked for what it is
//! about, until it was written. Older states are about another spec, and count only where news come late; later ones
//! nobody could know.

use serde_json::Value;

use super::{News, conditions, is_cache};
use crate::history::Seen;
use crate::state::{includes, wanted};

/// The children of a cache as they were together.
#[derive(Clone, Copy, Default)]
struct Moment<'a> {
    deployment: Option<&'a Value>,
    service: Option<&'a Value>,
}

/// What one version of a cache says that was never so.
pub(super) fn judge(life: &[&Seen], status: &Seen, news: News) -> Vec<String> {
    let (cache, version) = (&*status.object, status.version);
    let mut wrong = Vec::new();
    let is_going = !cache["metadata"]["deletionTimestamp"].is_null();
    if let Some(told) = holding(cache, "Reconciled").filter(|_| !is_going) {
        let was =
            since(life, status, told, news).map(|(asked, moments)| was_served(asked, &moments));
        let never = was.unwrap_or(Err("nobody asked for that".to_owned())).err();
        wrong.extend(
            never.map(|why| format!("version {version} is Reconciled and was never: {why}")),
        );
    }
    if let Some(told) = holding(cache, "Available") {
        let was = since(life, status, told, news).is_some_and(|(asked, moments)| {
            is_of_none(asked, told) || moments.iter().any(Moment::is_available)
        });
        if !was {
            wrong.push(format!("version {version} is Available and its Deployment was not"));
        }
    }
    wrong
}

fn holding<'a>(cache: &'a Value, type_: &str) -> Option<&'a Value> {
    conditions(cache).iter().find(|it| it["type"] == type_ && it["status"] == "True")
}

/// The cache as it asked for what a condition is about, and all moments from then until `status` was written.
fn since<'a>(
    life: &[&'a Seen],
    status: &Seen,
    told: &Value,
    news: News,
) -> Option<(&'a Value, Vec<Moment<'a>>)> {
    let is_it = |seen: &&&Seen| {
        is_cache(seen) && seen.object["metadata"]["generation"] == told["observedGeneration"]
    };
    let asked = *life.iter().find(is_it)?;
    let (mut now, mut moments) = (Moment::default(), Vec::new());
    for seen in life.iter().take_while(|seen| seen.version < status.version) {
        now.follow(seen);
        if news == News::Late || seen.version >= asked.version {
            moments.push(now);
        }
    }
    Some((&*asked.object, moments))
}

/// Whether both children were what the cache asks for, at the same time.
///
/// # Errors
/// What was not so in the end.
fn was_served(cache: &Value, moments: &[Moment<'_>]) -> Result<(), String> {
    let wanted = wanted(cache)?;
    let mut outcome = Err("there was nothing yet".to_owned());
    for moment in moments {
        outcome = moment.has(&wanted);
        if outcome.is_ok() {
            break;
        }
    }
    outcome
}

/// Where no instance is wanted there is none to wait for, and the status says that it is so because of that.
fn is_of_none(cache: &Value, told: &Value) -> bool {
    told["reason"] == "NoneWanted" && cache["spec"]["size"] == 0
}

impl<'a> Moment<'a> {
    fn follow(&mut self, seen: &'a Seen) {
        let child = match seen.resource {
            "deployments" => &mut self.deployment,
            "services" => &mut self.service,
            _ => return,
        };
        *child = (seen.type_ != "DELETED").then_some(&*seen.object);
    }

    fn has(&self, [deployment, service]: &[Value; 2]) -> Result<(), String> {
        for (what, is, wanted) in
            [("Deployment", self.deployment, deployment), ("Service", self.service, service)]
        {
            let is = is.ok_or_else(|| format!("there was no {what}"))?;
            includes(is, wanted, &mut String::new())?;
        }
        Ok(())
    }

    fn is_available(&self) -> bool {
        let conditions = self.deployment.and_then(|it| it["status"]["conditions"].as_array());
        let holds = |it: &Value| it["type"] == "Available" && it["status"] == "True";
        conditions.is_some_and(|conditions| conditions.iter().any(holds))
    }
}
