//! The general statistics of a server at one moment: typed what an operator decides by, text the rest.
//! Pure: a list of names and values in, a [`Stats`] out.

use std::collections::BTreeMap;
use std::str::FromStr;
use std::time::Duration;

use thiserror::Error;

use crate::version::Version;

/// The answer to `stats`. The fields have memcached's own names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stats {
    /// The process, as the server itself sees its number.
    pub pid: u32,
    /// How long the server has been running, in whole seconds: a smaller one than before is a restart.
    pub uptime: Duration,
    /// The version of the server.
    pub version: Version,
    /// Threads that serve requests.
    pub threads: u32,
    /// Connections that are open now, this one included.
    pub curr_connections: u64,
    /// Connections that may be open at once.
    pub max_connections: u64,
    /// Connections that were ever opened.
    pub total_connections: u64,
    /// Items that are kept now.
    pub curr_items: u64,
    /// Bytes that they take.
    pub bytes: u64,
    /// Bytes that items may take.
    pub limit_maxbytes: u64,
    /// Keys that were asked for.
    pub cmd_get: u64,
    /// Values that were set.
    pub cmd_set: u64,
    /// Keys that were asked for and there.
    pub get_hits: u64,
    /// Keys that were asked for and not there.
    pub get_misses: u64,
    /// Items that had to go before their time, for lack of room.
    pub evictions: u64,
    /// All other statistics, by name.
    pub other: BTreeMap<String, String>,
}

/// What statistics lack.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StatsError {
    /// The server did not tell it.
    #[error("the server does not tell {name}")]
    Missing {
        /// Which statistic.
        name: &'static str,
    },
    /// The server told something that it cannot be.
    #[error("the server tells {value:?} for {name}")]
    Malformed {
        /// Which statistic.
        name: &'static str,
        /// What it told.
        value: String,
    },
}

impl TryFrom<Vec<(String, String)>> for Stats {
    type Error = StatsError;

    fn try_from(report: Vec<(String, String)>) -> Result<Self, StatsError> {
        let mut other: BTreeMap<_, _> = report.into_iter().collect();
        let from = &mut other;
        Ok(Self {
            pid: take(from, "pid")?,
            uptime: Duration::from_secs(take(from, "uptime")?),
            version: take(from, "version")?,
            threads: take(from, "threads")?,
            curr_connections: take(from, "curr_connections")?,
            max_connections: take(from, "max_connections")?,
            total_connections: take(from, "total_connections")?,
            curr_items: take(from, "curr_items")?,
            bytes: take(from, "bytes")?,
            limit_maxbytes: take(from, "limit_maxbytes")?,
            cmd_get: take(from, "cmd_get")?,
            cmd_set: take(from, "cmd_set")?,
            get_hits: take(from, "get_hits")?,
            get_misses: take(from, "get_misses")?,
            evictions: take(from, "evictions")?,
            other,
        })
    }
}

fn take<T: FromStr>(
    from: &mut BTreeMap<String, String>,
    name: &'static str,
) -> Result<T, StatsError> {
    let value = from.remove(name).ok_or(StatsError::Missing { name })?;
    value.parse().map_err(|_| StatsError::Malformed { name, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "pid 1\nuptime 90\ntime 1794000000\nversion 1.6.45\nmax_connections 1024\n\
        curr_connections 2\ntotal_connections 7\ncmd_get 10\ncmd_set 4\nget_hits 8\nget_misses 2\n\
        limit_maxbytes 67108864\nthreads 4\nbytes 280\ncurr_items 4\nevictions 0\nlibevent 2.1.12-stable";

    fn read(report: &str) -> Result<Stats, StatsError> {
        let pairs = report.lines().filter_map(|line| line.split_once(' '));
        Stats::try_from(pairs.map(|(name, value)| (name.into(), value.into())).collect::<Vec<_>>())
    }

    #[test]
    fn what_is_decided_by_is_typed_and_the_rest_is_kept() {
        let stats = read(REPORT).unwrap();
        assert_eq!((stats.pid, stats.threads, stats.uptime), (1, 4, Duration::from_secs(90)));
        assert_eq!(stats.version.numbers(), (1, 6, 45));
        assert_eq!(
            (stats.curr_connections, stats.max_connections, stats.total_connections),
            (2, 1024, 7)
        );
        assert_eq!((stats.curr_items, stats.bytes, stats.limit_maxbytes), (4, 280, 64 << 20));
        assert_eq!((stats.cmd_get, stats.get_hits, stats.get_misses), (10, 8, 2));
        assert_eq!((stats.cmd_set, stats.evictions), (4, 0));
        let other: Vec<_> = stats.other.iter().map(|(name, value)| (&**name, &**value)).collect();
        assert_eq!(other, [("libevent", "2.1.12-stable"), ("time", "1794000000")]);
    }

    #[test]
    fn what_lacks_or_cannot_be_is_named() {
        let without = REPORT.replace("evictions 0\n", "");
        assert_eq!(read(&without), Err(StatsError::Missing { name: "evictions" }));
        let wrong = REPORT.replace("pid 1\n", "pid -1\n");
        let value = "-1".to_owned();
        assert_eq!(read(&wrong), Err(StatsError::Malformed { name: "pid", value }));
    }
}
