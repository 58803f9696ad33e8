//! Installs custom resource definitions and waits until they are served.

use std::time::{Duration, Instant};

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams};
use kube::{Api, Client, ResourceExt as _};

use crate::error::Error;

const LIMIT: Duration = Duration::from_secs(30);

/// Applies the definitions, then waits until the API server has established each.
pub(crate) async fn install(
    client: &Client,
    definitions: &[CustomResourceDefinition],
) -> Result<(), Error> {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    let parameters = PatchParams::apply("kubewright-testenv").force();
    for definition in definitions {
        let name = definition.name_any();
        let applied = api.patch(&name, &parameters, &Patch::Apply(definition)).await;
        applied.map_err(Error::api(format!("install the definition {name}")))?;
    }
    for definition in definitions {
        until_established(&api, &definition.name_any()).await?;
    }
    Ok(())
}

async fn until_established(api: &Api<CustomResourceDefinition>, name: &str) -> Result<(), Error> {
    let started = Instant::now();
    loop {
        let definition =
            api.get(name).await.map_err(Error::api(format!("read the definition {name}")))?;
        let conditions = definition.status.and_then(|status| status.conditions).unwrap_or_default();
        if conditions
            .iter()
            .any(|condition| condition.type_ == "Established" && condition.status == "True")
        {
            return Ok(());
        }
        if started.elapsed() > LIMIT {
            let state = format!("its conditions are {conditions:?}");
            return Err(Error::NotReady { what: name.to_owned(), after: LIMIT, state });
        }
        tokio::time::sleep(Duration::from_millis(25)).await;
    }
}
