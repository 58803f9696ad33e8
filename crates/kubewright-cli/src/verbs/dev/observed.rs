//! How the environment is at the moment, from its files and processes; the API server is not asked.
//! Looks, changes nothing, and works without the lock.

use anyhow::Context as _;

use super::place::Place;
use super::process::{Component, State};
use super::record::Record;

/// What is found at the place of the environment.
#[derive(Debug)]
pub(super) enum Observed {
    /// Nothing.
    Absent,
    /// The library starts or ends an environment there.
    Busy,
    /// Files, and no recorded process that lives: the machine was restarted, or a start was killed.
    Remains,
    /// An environment of which at least one process lives.
    Present(Present),
}

/// An environment of which at least one process lives.
#[derive(Debug)]
pub(super) struct Present {
    pub(super) record: Record,
    pub(super) components: Vec<Component>,
}

impl Observed {
    /// Looks.
    pub(super) fn at(place: &Place) -> anyhow::Result<Self> {
        let directory = place.directory();
        if !directory.exists() {
            return Ok(if place.has_processes() { Self::Remains } else { Self::Absent });
        }
        if place.is_busy() {
            return Ok(Self::Busy);
        }
        let Some(record) = Record::read(directory)? else {
            return Ok(Self::Remains);
        };
        let processes = record.processes.iter();
        let components: Vec<_> =
            processes.map(|(name, pid)| Component::look(name, *pid, directory)).collect();
        if components.iter().all(|one| one.state == State::Gone) {
            return Ok(Self::Remains);
        }
        Ok(Self::Present(Present { record, components }))
    }

    /// The environment, or an error that says why there is none and what to do.
    pub(super) fn present(self) -> anyhow::Result<Present> {
        let sentence = match self {
            Self::Present(present) => return Ok(present),
            Self::Absent => "nothing is up: `kubewright dev up` starts a local Kubernetes",
            Self::Busy => {
                "it is being started or ended at this moment: try again when that is done"
            }
            Self::Remains => {
                "nothing is up any more, only files are left: `kubewright dev up` starts anew"
            }
        };
        Err(anyhow::Error::msg(sentence))
    }
}

impl Present {
    /// The names of the components in `state`.
    pub(super) fn names(&self, state: State) -> Vec<&str> {
        let components = self.components.iter().filter(|one| one.state == state);
        components.map(|one| one.name.as_str()).collect()
    }
}

/// The environment at the usual place, or an error that says why there is none and what to do.
pub(super) fn present() -> anyhow::Result<Present> {
    let place = Place::from_environment()?;
    let observed = Observed::at(&place)
        .with_context(|| format!("cannot look at {}", place.directory().display()))?;
    observed.present()
}
