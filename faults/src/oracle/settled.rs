//! V1: soon after the fault all is as the spec says, and then nothing is written any more.

use crate::run::{Observed, Patience};

pub(super) fn judge(run: &Observed, patience: Patience) -> Vec<String> {
    let mut wrong = Vec::new();
    if let Err(state) = &run.converged {
        wrong.push(format!("{:?} after the fault: {state}", patience.converge));
    }
    if run.silent < patience.silence {
        wrong.push(format!(
            "it still writes {:?} after all was as it should be: {:?}",
            run.trailing,
            run.recording.writes.iter().rev().take(5).collect::<Vec<_>>()
        ));
    }
    wrong
}
