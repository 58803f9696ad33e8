//! Randomness of the election: a name that no other process has, and pauses that differ between
//! candidates. Not for secrets.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// As client-go's: the pause is one to 2.2 times as long.
const JITTER_PER_MILLE: u64 = 1_200;

/// A name for this process: its host (in a cluster the pod), and something that no other process of
/// that name has.
pub(crate) fn identity() -> String {
    format!("{}_{:016x}", host(), random())
}

fn host() -> String {
    let file = || std::fs::read_to_string("/etc/hostname").ok();
    let named = |name: &String| !name.trim().is_empty();
    let host = std::env::var("HOSTNAME").ok().filter(named).or_else(file).filter(named);
    host.map_or_else(|| "unnamed".to_owned(), |host| host.trim().to_owned())
}

/// A pause that is at least `pause`.
pub(super) fn jittered(pause: Duration) -> Duration {
    let per_mille = u32::try_from(random() % (JITTER_PER_MILLE + 1)).unwrap_or_default();
    pause + pause / 1_000 * per_mille
}

/// The standard library keys its hash maps from the system's randomness; no crate is needed for that.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_identities_of_one_host_differ_in_their_suffix() {
        let (one, other) = (identity(), identity());
        assert_ne!(one, other);
        let (host, suffix) = one.rsplit_once('_').unwrap();
        assert_eq!(other.rsplit_once('_').unwrap().0, host);
        assert!(!host.is_empty() && !host.contains(char::is_whitespace), "{host:?}");
        assert_eq!(suffix.len(), 16);
    }

    #[test]
    fn a_pause_is_stretched_but_never_shortened() {
        let pauses: Vec<_> = (0..1_000).map(|_| jittered(Duration::from_secs(2))).collect();
        let (shortest, longest) = (pauses.iter().min().unwrap(), pauses.iter().max().unwrap());
        assert!(*shortest >= Duration::from_secs(2), "{shortest:?}");
        assert!(*longest <= Duration::from_millis(4_400), "{longest:?}");
        assert!(*longest > *shortest + Duration::from_secs(2), "{shortest:?} to {longest:?}");
    }
}
