//! Which tiers of tests this machine can run, and for the others what is missing. Looks, changes
//! nothing; what is done about it is the verbs'.

use std::fmt::Write as _;

use anyhow::Context as _;
use kubewright_testenv::KubernetesVersion;
use kubewright_testenv::binaries::Binaries;
use kubewright_testenv::cache::Cache;
use kubewright_testenv::preflight::{Tier, missing};
use kubewright_testenv::progress::Progress;

use crate::style::Paint;

/// A tier, and one sentence for each thing that keeps it from running.
#[derive(Debug)]
pub(crate) struct Verdict {
    /// Which.
    pub(crate) tier: Tier,
    obstacles: Vec<String>,
}

impl Verdict {
    /// True if nothing is missing.
    pub(crate) fn can_run(&self) -> bool {
        self.obstacles.is_empty()
    }
}

/// The programs of the Kubernetes that tests run on.
pub(crate) fn binaries(progress: Progress) -> anyhow::Result<Binaries> {
    let version = KubernetesVersion::from_environment()
        .context("KUBEWRIGHT_KUBERNETES_VERSION cannot be used")?;
    Ok(Binaries::new(Cache::from_environment()?, version, progress)?)
}

/// Looks at the machine, for each tier.
pub(crate) fn verdicts() -> [Verdict; 2] {
    Tier::ALL.map(|tier| Verdict { tier, obstacles: obstacles(tier) })
}

/// What keeps `tier` from running. Not even knowing that is an obstacle, not an error.
fn obstacles(tier: Tier) -> Vec<String> {
    match binaries(Progress::Silent) {
        Err(error) => vec![format!("{error:#}")],
        Ok(binaries) => {
            let missing = missing(tier, &binaries, &std::env::temp_dir());
            missing.iter().map(ToString::to_string).collect()
        }
    }
}

/// A line for each tier, and the sentences below it.
pub(crate) fn lines(verdicts: &[Verdict], paint: Paint) -> String {
    let mut text = String::new();
    for Verdict { tier, obstacles } in verdicts {
        let mark = if obstacles.is_empty() { paint.good("✓") } else { paint.wrong("✗") };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{mark} {tier}");
        for obstacle in obstacles {
            let _ = writeln!(text, "    {obstacle}");
        }
    }
    text
}

/// Where `KUBEWRIGHT_ALL_TIERS` is set, nothing may be left out.
pub(crate) fn demand_all_if_asked(verdicts: &[Verdict]) -> anyhow::Result<()> {
    let asked = std::env::var("KUBEWRIGHT_ALL_TIERS").unwrap_or_default();
    if is_set(&asked) { demand_all(verdicts) } else { Ok(()) }
}

fn demand_all(verdicts: &[Verdict]) -> anyhow::Result<()> {
    let left_out = verdicts.iter().filter(|verdict| !verdict.can_run());
    let names: Vec<_> = left_out.map(|verdict| verdict.tier.to_string()).collect();
    anyhow::ensure!(
        names.is_empty(),
        "KUBEWRIGHT_ALL_TIERS is set, and this machine CANNOT RUN: {}",
        names.join(", ")
    );
    Ok(())
}

/// The way switches in the environment are read: empty and 0 are off.
fn is_set(value: &str) -> bool {
    !value.is_empty() && value != "0"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdicts() -> [Verdict; 2] {
        let missing = ["not root: why; what to do", "no cgroups: why; what to do"];
        [
            Verdict { tier: Tier::ControlPlane, obstacles: Vec::new() },
            Verdict { tier: Tier::Node, obstacles: missing.map(str::to_owned).to_vec() },
        ]
    }

    #[test]
    fn each_tier_has_a_line_and_each_missing_thing_a_sentence_below_it() {
        assert_eq!(
            lines(&verdicts(), Paint::PLAIN),
            "✓ control plane\n✗ nodes and pods\n    not root: why; what to do\n    \
             no cgroups: why; what to do\n"
        );
    }

    #[test]
    fn a_tier_that_is_left_out_is_an_error_only_where_all_are_demanded() {
        let error = demand_all(&verdicts()).unwrap_err().to_string();
        assert!(error.ends_with("CANNOT RUN: nodes and pods"), "{error}");
        demand_all(&verdicts()[..1]).unwrap();
        assert!(is_set("1"));
        assert!(!is_set("0"));
        assert!(!is_set(""));
    }
}
