//! Which cluster: the one that a kubeconfig names, or the one that there is. Reads files, asks nobody.

use std::path::{Path, PathBuf};

use kube::Config;
use kube::config::{KubeConfigOptions, Kubeconfig};

use super::RunError;

/// The cluster that a kubeconfig names, or the one that there is.
pub(crate) async fn configuration(kubeconfig: Option<&Path>) -> Result<Config, RunError> {
    let Some(path) = kubeconfig else {
        return Config::infer().await.map_err(|source| RunError::NoCluster(Box::new(source)));
    };
    let failed = |source| RunError::Kubeconfig { path: path.into(), source: Box::new(source) };
    let kubeconfig = Kubeconfig::read_from(path).map_err(failed)?;
    let authority = authority_file(&kubeconfig);
    let options = KubeConfigOptions::default();
    let mut config = Config::from_custom_kubeconfig(kubeconfig, &options).await.map_err(failed)?;
    config.root_cert_file = authority;
    Ok(config)
}

/// The file with the authority of the current cluster, if it is in one: it may be replaced while we run, as a
/// token in a file is, and is then read again. In a pod the client does so by itself.
fn authority_file(kubeconfig: &Kubeconfig) -> Option<PathBuf> {
    let current = kubeconfig.current_context.as_ref()?;
    let context = kubeconfig.contexts.iter().find(|context| context.name == *current)?;
    let name = &context.context.as_ref()?.cluster;
    let cluster = kubeconfig.clusters.iter().find(|cluster| cluster.name == *name)?;
    let cluster = cluster.cluster.as_ref()?;
    let in_file = cluster.certificate_authority_data.is_none(); // which counts where both are there
    cluster.certificate_authority.as_ref().filter(|_| in_file).map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_authority_is_followed_where_it_is_a_file() {
        let of = |cluster: serde_json::Value| {
            let kubeconfig = json!({
                "current-context": "b",
                "contexts": [
                    {"name": "a", "context": {"cluster": "other", "user": "u"}},
                    {"name": "b", "context": {"cluster": "own", "user": "u"}},
                ],
                "clusters": [
                    {"name": "other", "cluster": {"certificate-authority": "/other.crt"}},
                    {"name": "own", "cluster": cluster},
                ],
            });
            authority_file(&serde_json::from_value(kubeconfig).unwrap())
        };
        assert_eq!(of(json!({"certificate-authority": "/own.crt"})), Some("/own.crt".into()));
        assert_eq!(of(json!({"certificate-authority-data": "MQ=="})), None);
        let both =
            json!({"certificate-authority": "/own.crt", "certificate-authority-data": "MQ=="});
        assert_eq!(of(both), None);
    }
}
