//! A kind without a namespace, and its children in one.

use kubewright::RECONCILED;
use kubewright::conditions::find;
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::kube::Api;
use kubewright::kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kubewright::prelude::*;
use kubewright_testenv::Env;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::books::BookStatus;
use crate::running;

#[derive(CustomResource, KubeSchema, Clone, Debug, Serialize, Deserialize)]
#[kube(group = "test.kubewright.dev", version = "v1", kind = "Archive", status = "BookStatus")]
pub struct ArchiveSpec {
    /// Where its catalogue is kept.
    room: String,
}

struct Archives {
    catalogues: Owned<ConfigMap>,
}

impl Controller for Archives {
    type Kind = Archive;
    type Error = Error;

    fn wire(wiring: &mut Wiring<Archive>) -> Self {
        Self { catalogues: wiring.owns() }
    }

    async fn reconcile(&self, archive: &Archive, pass: &Pass<Archive>) -> Result<Outcome, Error> {
        let mut catalogue = ConfigMap::default();
        catalogue.metadata.name = Some("catalogue".into());
        catalogue.metadata.namespace = Some(archive.spec.room.clone());
        self.catalogues.apply(pass, catalogue).await?;
        let name = format!("{}/catalogue", archive.spec.room);
        let found = self.catalogues.get(pass, &name)?.is_some();
        pass.status(BookStatus { pages: Some(i32::from(found)), conditions: vec![] });
        Ok(Outcome::Done)
    }
}

#[kubewright_testenv::test]
async fn it_owns_children_in_a_namespace_and_says_when_that_is_missing(env: Env) {
    let name = env.namespace().to_owned();
    let archives: Api<Archive> = Api::all(env.client());
    let operator = running::start::<Archives>(&env, running::flags(&env)).await;
    let archive = Archive::new(&name, ArchiveSpec { room: name.clone() });
    archives.create(&PostParams::default(), &archive).await.unwrap();
    let first: ConfigMap = env
        .eventually("the catalogue", async || {
            env.api().get("catalogue").await.map_err(|error| error.to_string())
        })
        .await;
    assert_eq!(first.metadata.owner_references.as_ref().unwrap()[0].kind, "Archive");
    env.delete(&first).await;
    env.eventually("another catalogue", async || {
        let second = env.api::<ConfigMap>().get("catalogue").await;
        let second = second.map_err(|error| error.to_string())?;
        if second.uid() == first.uid() { Err("the first".to_owned()) } else { Ok(()) }
    })
    .await;

    let nowhere = Patch::Merge(json!({"spec": {"room": ""}}));
    archives.patch(&name, &PatchParams::default(), &nowhere).await.unwrap();
    env.eventually("it says what is missing", async || {
        let archive = archives.get(&name).await.map_err(|error| error.to_string())?;
        let status = archive.status.unwrap_or_default();
        let reconciled = find(&status.conditions, RECONCILED).ok_or("nothing yet")?;
        if reconciled.message.contains("needs metadata.namespace") {
            assert_eq!((status.pages, reconciled.reason.as_str()), (Some(1), "WrongNamespace"));
            return Ok(());
        }
        Err(reconciled.message.clone())
    })
    .await;
    archives.delete(&name, &DeleteParams::default()).await.unwrap();
    operator.stop().await;
}
