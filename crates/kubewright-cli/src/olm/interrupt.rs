//! What is said when a step is ended from outside, or may not be done: one sentence with the way out. Owns the
//! signals; must not clean up by itself, since what is there may be looked at.

use std::future::Future;

use tokio::signal::unix::{SignalKind, signal};

use super::wait::GaveUp;

/// Does `work`, unless Ctrl-C or a request to end comes first. `way_out` is said then, and after a refusal or where
/// nothing came of a step.
pub(crate) async fn unless_interrupted<T>(
    way_out: &str,
    work: impl Future<Output = anyhow::Result<T>>,
) -> anyhow::Result<T> {
    tokio::select! {
        outcome = work => outcome.map_err(|error| advised(error, way_out)),
        () = interrupted() => Err(anyhow::anyhow!("interrupted: {way_out}")),
    }
}

/// Waits for Ctrl-C, or for a request to end; for ever where there are no signals.
async fn interrupted() {
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = interrupt.recv() => {}
        _ = terminate.recv() => {}
    }
}

/// The error with what to do about it.
fn advised(error: anyhow::Error, way_out: &str) -> anyhow::Error {
    if is_refusal(&error) {
        let advice = "your user may not do all that this takes: use the kubeconfig of somebody who may, such as a \
                      cluster administrator";
        return error.context(format!("{advice}; {way_out}"));
    }
    if error.is::<GaveUp>() {
        return anyhow::anyhow!("{error:#}; {way_out}");
    }
    error
}

fn is_refusal(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        // Some errors hold their cause in a box, which is not the cause itself.
        let boxed = cause.downcast_ref::<Box<kube::Error>>().map(AsRef::as_ref);
        let found = cause.downcast_ref::<kube::Error>().or(boxed);
        matches!(found, Some(kube::Error::Api(status)) if status.code == 403)
    })
}

#[cfg(test)]
mod tests {
    use kube::core::Status;
    use kubewright::cluster::ClusterError;

    use super::*;

    fn refusal() -> kube::Error {
        let status = Status::failure("subscriptions is forbidden", "Forbidden").with_code(403);
        kube::Error::Api(status.boxed())
    }

    #[test]
    fn a_refusal_is_told_with_who_may_help() {
        let action = "apply subscription/a".to_owned();
        let errors = [
            anyhow::Error::new(refusal()),
            anyhow::Error::new(refusal()).context("cannot look"),
            anyhow::Error::new(ClusterError::Api { action, source: Box::new(refusal()) }),
        ];
        for error in errors {
            let text = format!("{:#}", advised(error, "way out"));
            assert!(text.starts_with("your user may not"), "{text}");
            assert!(text.contains("way out") && text.contains("is forbidden"), "{text}");
        }
    }

    #[test]
    fn whoever_waited_in_vain_is_told_the_way_out() {
        let error = advised(GaveUp("csv/a: broken".to_owned()).into(), "way out");
        assert_eq!(format!("{error:#}"), "csv/a: broken; way out");
    }

    #[test]
    fn other_errors_stay_as_they_are() {
        let error = advised(anyhow::anyhow!("something else"), "way out");
        assert_eq!(format!("{error:#}"), "something else");
    }
}
