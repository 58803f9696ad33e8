//! The kind that the tests reconcile: a ConfigMap and a Deployment per Book, and passes that panic, hang,
//! block or fail when the spec says so.

use std::sync::Mutex;
use std::time::Duration;

use kubewright::conditions;
use kubewright::k8s_openapi::api::apps::v1::Deployment;
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[kube(group = "test.kubewright.dev", version = "v1", kind = "Book", namespaced)]
#[kube(status = "BookStatus", derive = "PartialEq")]
#[serde(rename_all = "camelCase")]
pub struct BookSpec {
    #[serde(default)]
    pub pages: i32,
    #[serde(default)]
    pub text: String,
    /// `panic`, `hang`, `block`, `fail`, `terminal`, `wait`; anything else behaves.
    #[serde(default)]
    pub mood: String,
    /// How many more ConfigMaps there are to be.
    #[serde(default)]
    pub appendices: i32,
}

#[derive(KubeSchema, Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BookStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pages: Option<i32>,
    #[serde(default)]
    pub conditions: Vec<Condition>,
}

impl Conditions for BookStatus {
    fn conditions(&mut self) -> &mut Vec<Condition> {
        &mut self.conditions
    }
}

#[derive(Debug, thiserror::Error)]
pub enum BookError {
    #[error(transparent)]
    Library(#[from] Error),
    #[error("spec.mood is {0:?}")]
    Moody(String),
}

impl Failure for BookError {
    fn retry(&self) -> Retry {
        match self {
            Self::Library(error) => error.retry(),
            Self::Moody(mood) if mood == "terminal" => Retry::OnChange,
            Self::Moody(_) => Retry::Backoff,
        }
    }

    fn reason(&self) -> std::borrow::Cow<'static, str> {
        match self {
            Self::Library(error) => error.reason(),
            Self::Moody(_) => "Moody".into(),
        }
    }
}

/// Every pass that began, as `namespace/name`, in order.
pub static PASSES: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub fn passes_of(key: &str) -> usize {
    PASSES.lock().unwrap().iter().filter(|pass| *pass == key).count()
}

pub struct Books {
    maps: Owned<ConfigMap>,
    deployments: Owned<Deployment>,
}

impl Controller for Books {
    type Kind = Book;
    type Error = BookError;

    fn wire(wiring: &mut Wiring<Book>) -> Self {
        Self { maps: wiring.owns(), deployments: wiring.owns() }
    }

    async fn reconcile(&self, book: &Book, pass: &Pass<Book>) -> Result<Outcome, BookError> {
        PASSES.lock().unwrap().push(pass.key().to_string());
        match book.spec.mood.as_str() {
            "panic" => panic!("asked to"),
            "hang" => std::future::pending().await,
            "block" => std::thread::sleep(Duration::from_secs(8)),
            "fail" | "terminal" => return Err(BookError::Moody(book.spec.mood.clone())),
            _ => {}
        }
        tokio::try_join!(
            self.maps.apply(pass, map(book, 0)),
            self.deployments.apply(pass, deployment(book)),
        )?;
        for number in 1..=book.spec.appendices {
            self.maps.apply(pass, map(book, number)).await?;
        }
        let printed =
            conditions::new("Printed", book.spec.pages > 0, "Printed", book.spec.text.clone());
        pass.status(BookStatus { pages: Some(book.spec.pages), conditions: vec![printed] });
        if book.spec.mood == "wait" {
            return Ok(Outcome::After(Duration::from_millis(300)));
        }
        Ok(Outcome::Done)
    }
}

pub fn book(name: &str) -> Book {
    Book::new(name, BookSpec { pages: 2, text: "once".into(), ..BookSpec::default() })
}

pub fn moody(name: &str, mood: &str) -> Book {
    let mut book = book(name);
    mood.clone_into(&mut book.spec.mood);
    book
}

pub fn map(book: &Book, number: i32) -> ConfigMap {
    let name = if number == 0 { book.name_any() } else { format!("{}-{number}", book.name_any()) };
    typed(json!({"metadata": {"name": name}, "data": {"text": book.spec.text, "kept": "yes"}}))
}

pub fn deployment(book: &Book) -> Deployment {
    let labels = json!({"book": book.name_any()});
    typed(json!({
        "metadata": {"name": book.name_any()},
        "spec": {
            "replicas": book.spec.pages,
            "selector": {"matchLabels": labels},
            "template": {
                "metadata": {"labels": labels},
                "spec": {"containers": [
                    {"name": "press", "image": "press:1", "env": [{"name": "TEXT", "value": book.spec.text}],
                     "ports": [{"name": "http", "containerPort": 80}],
                     "resources": {"requests": {"memory": "1024Mi", "cpu": "1000m"}}},
                ]},
            },
        },
    }))
}

fn typed<K: serde::de::DeserializeOwned>(manifest: serde_json::Value) -> K {
    serde_json::from_value(manifest).unwrap()
}
