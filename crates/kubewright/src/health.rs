//! Whether the operator lives and whether it is ready, as named checks that the parts of it register.
//!
//! Owns the checks and the text of the answer; the HTTP side is `server`'s. A check answers from
//! memory: it must neither block nor send a request, because the kubelet gives a probe one second.

use std::fmt::Write as _;
use std::sync::{Arc, PoisonError, RwLock};

/// The checks of one process. A clone is the same set.
#[derive(Clone, Default)]
pub(crate) struct Health {
    live: Checks,
    ready: Checks,
}

type Check = Arc<dyn Fn() -> Result<(), String> + Send + Sync>;
type Checks = Arc<RwLock<Vec<(String, Check)>>>;

/// Which of the two questions is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    /// Would a restart help? `/healthz`
    Live,
    /// Does it do its work? `/readyz`
    Ready,
}

impl Which {
    /// The name of the endpoint.
    pub(crate) fn endpoint(self) -> &'static str {
        match self {
            Self::Live => "healthz",
            Self::Ready => "readyz",
        }
    }
}

/// The answer of all checks together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    pub(crate) ok: bool,
    /// One line per check and one for the whole, as Kubernetes' own components print it.
    pub(crate) text: String,
}

impl Health {
    /// Not ready before [`Self::started`]: until then checks are missing, and none would fail.
    pub(crate) fn starting() -> Self {
        let health = Self::default();
        health.ready("start", || Err("not everything has begun yet".to_owned()));
        health
    }

    /// All checks are there.
    pub(crate) fn started(&self) {
        self.ready("start", || Ok(()));
    }

    /// Adds a check whose failure means that the process should be restarted. A check of the same
    /// name is replaced.
    pub(crate) fn live(
        &self,
        name: &str,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        add(&self.live, name, Arc::new(check));
    }

    /// Adds a check whose failure means that the process does not do its work yet, or at the moment.
    pub(crate) fn ready(
        &self,
        name: &str,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) {
        add(&self.ready, name, Arc::new(check));
    }

    /// Runs all checks.
    pub(crate) fn report(&self, which: Which) -> Report {
        let mut ok = true;
        let mut text = String::new();
        for (name, check) in self.checks(which) {
            // Writing to a String does not fail.
            let _ = match check() {
                Ok(()) => writeln!(text, "[+]{name} ok"),
                Err(reason) => {
                    ok = false;
                    writeln!(text, "[-]{name} failed: {}", one_line(&reason))
                }
            };
        }
        let outcome = if ok { "passed" } else { "failed" };
        let _ = writeln!(text, "{} check {outcome}", which.endpoint());
        Report { ok, text }
    }

    /// Runs one check; `None` if there is none of that name.
    pub(crate) fn check(&self, which: Which, name: &str) -> Option<Result<(), String>> {
        let (_, check) = self.checks(which).into_iter().find(|(known, _)| known == name)?;
        Some(check().map_err(|reason| one_line(&reason)))
    }

    /// A copy, so that no check runs while the list is locked.
    fn checks(&self, which: Which) -> Vec<(String, Check)> {
        let checks = match which {
            Which::Live => &self.live,
            Which::Ready => &self.ready,
        };
        checks.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn add(checks: &Checks, name: &str, check: Check) {
    let mut checks = checks.write().unwrap_or_else(PoisonError::into_inner);
    checks.retain(|(known, _)| known != name);
    checks.push((name.to_owned(), check));
}

/// A reason may quote a server; it must not look like the line of another check.
fn one_line(reason: &str) -> String {
    reason.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    #[test]
    fn without_a_check_it_is_healthy() {
        let report = Health::default().report(Which::Live);
        assert_eq!(report, Report { ok: true, text: "healthz check passed\n".to_owned() });
    }

    #[test]
    fn every_check_has_a_line_and_one_failure_fails_the_whole() {
        let health = Health::default();
        health.ready("caches", || Ok(()));
        health.ready("lease", || Err("not renewed for 20s".to_owned()));
        let report = health.report(Which::Ready);
        assert!(!report.ok);
        assert_eq!(
            report.text,
            "[+]caches ok\n[-]lease failed: not renewed for 20s\nreadyz check failed\n"
        );
        assert!(health.report(Which::Live).ok, "the two questions are independent");
    }

    #[test]
    fn a_check_is_asked_every_time() {
        let health = Health::default();
        let synced = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&synced);
        health.ready("caches", move || {
            if asked.load(Ordering::Relaxed) { Ok(()) } else { Err("not yet".to_owned()) }
        });
        assert!(!health.clone().report(Which::Ready).ok);
        synced.store(true, Ordering::Relaxed);
        assert!(health.report(Which::Ready).ok);
    }

    #[test]
    fn a_reason_cannot_add_a_line() {
        let health = Health::default();
        health.live("queue", || Err("stuck\n[+]queue ok".to_owned()));
        let report = health.report(Which::Live);
        assert_eq!(report.text, "[-]queue failed: stuck [+]queue ok\nhealthz check failed\n");
    }

    #[test]
    fn a_check_of_the_same_name_replaces_the_first() {
        let health = Health::default();
        health.live("queue", || Err("stuck".to_owned()));
        health.live("queue", || Ok(()));
        assert_eq!(health.report(Which::Live).text, "[+]queue ok\nhealthz check passed\n");
        assert_eq!(health.check(Which::Live, "queue"), Some(Ok(())));
        assert_eq!(health.check(Which::Ready, "queue"), None);
    }
}
