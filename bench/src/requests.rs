//! What an operator asked of the API server, from the audit log.

use std::collections::BTreeMap;

use kubewright_testenv::Environment;
use kubewright_testenv::audit::AuditRecord;

/// A place in the log.
#[derive(Clone, Copy)]
pub struct Mark(usize);

impl Mark {
    /// The end of the log as it is now.
    pub fn now(environment: &Environment) -> anyhow::Result<Self> {
        Ok(Self(environment.audit()?.len()))
    }
}

/// The operator's requests since a mark.
pub struct Requests(Vec<AuditRecord>);

impl Requests {
    /// What `user` has asked since `mark`.
    pub fn since(environment: &Environment, mark: Mark, user: &str) -> anyhow::Result<Self> {
        let records = environment.audit()?.into_iter().skip(mark.0);
        // A watch is recorded when it begins and when it ends, everything else once.
        let once = records.filter(|record| record.is_complete != (record.verb == "watch"));
        Ok(Self(once.filter(|record| record.user == user).collect()))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Requests but for watches and the lease.
    pub fn single(&self) -> usize {
        let is_single =
            |record: &&AuditRecord| record.verb != "watch" && record.resource != "leases";
        self.0.iter().filter(is_single).count()
    }

    /// Those that the API server refused for lack of a permission.
    pub fn forbidden(&self) -> Vec<&AuditRecord> {
        self.0.iter().filter(|record| record.code == 403).collect()
    }

    /// Writes to a resource, such as `services`, or to its subresource, such as `services/status`.
    pub fn writes_to(&self, resource: &str) -> Vec<&AuditRecord> {
        let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
        let is = |record: &&AuditRecord| {
            is_write(record) && record.resource == resource && record.subresource == subresource
        };
        self.0.iter().filter(is).collect()
    }

    /// Writes, those of the lease left out.
    pub fn writes(&self) -> usize {
        self.0.iter().filter(|record| is_write(record)).count()
    }

    /// Reads of single objects, those of the lease left out.
    pub fn gets(&self) -> usize {
        self.of_verb("get").filter(|record| record.resource != "leases").count()
    }

    /// How often a resource was listed, and in how many pages. A watch that begins with everything there is
    /// (`sendInitialEvents`, what client-go does) is a list in one page.
    pub fn lists(&self, resource: &str) -> (usize, usize) {
        let is_list = |record: &&AuditRecord| {
            record.verb == "list"
                || (record.verb == "watch" && record.uri.contains("sendInitialEvents=true"))
        };
        let pages = || self.0.iter().filter(is_list).filter(|record| record.resource == resource);
        let is_first = |record: &&AuditRecord| !record.uri.contains("continue=");
        (pages().filter(is_first).count(), pages().count())
    }

    /// Requests by what `key` says of them, those of the lease left out.
    pub fn counted<K: Ord>(&self, key: impl Fn(&AuditRecord) -> K) -> BTreeMap<K, usize> {
        let mut counts = BTreeMap::new();
        for record in self.0.iter().filter(|record| record.resource != "leases") {
            *counts.entry(key(record)).or_default() += 1;
        }
        counts
    }

    /// Verbs and how often each was used.
    pub fn by_verb(&self) -> String {
        let mut verbs = BTreeMap::<_, usize>::new();
        for record in &self.0 {
            let lease = if record.resource == "leases" { " lease" } else { "" };
            *verbs.entry(format!("{}{lease}", record.verb)).or_default() += 1;
        }
        let words = verbs.iter().map(|(verb, count)| format!("{count} {verb}"));
        words.collect::<Vec<_>>().join(", ")
    }

    fn of_verb(&self, verb: &str) -> impl Iterator<Item = &AuditRecord> {
        self.0.iter().filter(move |record| record.verb == verb)
    }
}

fn is_write(record: &AuditRecord) -> bool {
    !matches!(record.verb.as_str(), "get" | "list" | "watch") && record.resource != "leases"
}
