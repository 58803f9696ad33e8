//! One request: limited in time, tried a second time if it did not get through, and its failure sorted
//! by what is to be done about it.

use std::time::Duration;

use kube::core::Status;
use thiserror::Error;

/// No request takes longer.
const LIMIT: Duration = Duration::from_secs(10);
/// Between the two attempts; long enough for a connection that was reset, too short for a restart.
const BETWEEN: Duration = Duration::from_secs(1);

/// Why a request came to nothing.
#[derive(Debug, Error)]
pub(super) enum Failure {
    /// The object exists.
    #[error("the event exists already")]
    Exists,
    /// The object or its namespace does not exist, or the namespace is going away.
    #[error("the event or its namespace is gone")]
    Gone,
    /// There was no answer in time.
    #[error("the API server did not answer within {LIMIT:?}")]
    TimedOut,
    /// The API server refused it or could not be reached.
    #[error("the request failed")]
    Failed(#[source] kube::Error),
}

/// Sends a request, and once more if the API server could not be reached.
pub(super) async fn send<T, F>(attempt: impl Fn() -> F) -> Result<(), Failure>
where
    F: Future<Output = Result<T, kube::Error>>,
{
    match once(attempt()).await {
        Err(Failure::Failed(error)) if !matches!(error, kube::Error::Api(_)) => {
            tokio::time::sleep(BETWEEN).await;
            once(attempt()).await
        }
        other => other,
    }
}

async fn once<T>(attempt: impl Future<Output = Result<T, kube::Error>>) -> Result<(), Failure> {
    match tokio::time::timeout(LIMIT, attempt).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(kube::Error::Api(status))) if status.is_already_exists() => Err(Failure::Exists),
        Ok(Err(kube::Error::Api(status))) if is_gone(&status) => Err(Failure::Gone),
        Ok(Err(error)) => Err(Failure::Failed(error)),
        Err(_) => Err(Failure::TimedOut),
    }
}

fn is_gone(status: &Status) -> bool {
    let causes = status.details.iter().flat_map(|details| &details.causes);
    let is_terminating = causes.into_iter().any(|cause| cause.reason == "NamespaceTerminating");
    status.is_not_found() || is_terminating
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
    use kube::api::{DeleteParams, PostParams};
    use kube::{Api, Client};
    use kubewright_testenv::{Env, Identity};

    use super::*;

    async fn create(client: Client, namespace: &str) -> Result<(), Failure> {
        let api: Api<ConfigMap> = Api::namespaced(client, namespace);
        let mut map = ConfigMap::default();
        map.metadata.name = Some("a".to_owned());
        let parameters = PostParams::default();
        send(|| api.create(&parameters, &map)).await
    }

    #[kubewright_testenv::test]
    async fn a_failure_is_sorted_by_what_is_to_be_done_about_it(env: Env) {
        create(env.client(), env.namespace()).await.unwrap();
        let again = create(env.client(), env.namespace()).await;
        assert!(matches!(again, Err(Failure::Exists)), "{again:?}");

        let nowhere = create(env.client(), "no-such-namespace").await;
        assert!(matches!(nowhere, Err(Failure::Gone)), "{nowhere:?}");

        let nobody = Identity::User { name: "nobody", groups: &[] };
        let nobody = env.environment().client_as(nobody).await.unwrap();
        let refused = create(nobody, env.namespace()).await;
        assert!(matches!(refused, Err(Failure::Failed(kube::Error::Api(_)))), "{refused:?}");

        // Without the built-in controllers the namespace stays in this state.
        let namespaces: Api<Namespace> = Api::all(env.client());
        namespaces.delete(env.namespace(), &DeleteParams::default()).await.unwrap();
        let too_late = create(env.client(), env.namespace()).await;
        assert!(matches!(too_late, Err(Failure::Gone)), "{too_late:?}");
    }

    #[tokio::test]
    async fn what_does_not_get_through_is_sent_once_more_and_what_is_refused_is_not() {
        let attempts = AtomicU32::new(0);
        let unreachable = || std::io::Error::from(std::io::ErrorKind::ConnectionRefused);
        let result = send(|| async {
            attempts.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(kube::Error::Service(Box::new(unreachable())))
        });
        assert!(matches!(result.await, Err(Failure::Failed(_))));
        assert_eq!(attempts.swap(0, Ordering::Relaxed), 2);

        let result = send(|| async {
            attempts.fetch_add(1, Ordering::Relaxed);
            Err::<(), _>(kube::Error::Api(Status::failure("no", "Forbidden").boxed()))
        });
        assert!(matches!(result.await, Err(Failure::Failed(_))));
        assert_eq!(attempts.load(Ordering::Relaxed), 1);
    }
}
