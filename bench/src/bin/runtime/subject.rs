//! Which operator is measured, and what its objects look like.

use clap::ValueEnum;
use kubewright_bench::programs::Program;
use serde_json::{Value, json};

/// An operator.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Subject {
    /// One Deployment per object: what the bars are for
    OneChild,
    /// The library's example: a Deployment and a Service per object
    Guestbook,
}

impl Subject {
    pub(crate) fn program(self) -> Program {
        match self {
            Self::OneChild => {
                Program { package: "kubewright-bench", flag: "--bin", name: "one-child-operator" }
            }
            Self::Guestbook => {
                Program { package: "kubewright", flag: "--example", name: "guestbook" }
            }
        }
    }

    /// The resources that it caches: first that of its own objects, then those of their children.
    pub(crate) fn resources(self) -> &'static [&'static str] {
        match self {
            Self::OneChild => &["pages", "deployments"],
            Self::Guestbook => &["guestbooks", "deployments", "services", "pods"],
        }
    }

    /// How many children each object has.
    pub(crate) fn children(self) -> usize {
        match self {
            Self::OneChild => 1,
            Self::Guestbook => 2,
        }
    }

    /// An object of its kind; no two are alike.
    pub(crate) fn object(self, number: usize) -> Value {
        let name = format!("page-{number:05}");
        match self {
            Self::OneChild => json!({
                "apiVersion": "bench.kubewright.dev/v1",
                "kind": "Page",
                "metadata": {"name": name},
                "spec": {
                    "size": 1 + number % 9,
                    "image": format!("registry.example.com/pages/server:1.{}.{}", number % 7, number % 30),
                    "settings": [
                        {"name": "TITLE", "value": format!("The page number {number} of many")},
                        {"name": "STORE", "value": format!("https://store-{:x}.example.com", fastrand::u32(..))},
                        {"name": "TOKEN", "value": format!("{:032x}", fastrand::u128(..))},
                    ],
                },
            }),
            Self::Guestbook => json!({
                "apiVersion": "demo.kubewright.dev/v1",
                "kind": "Guestbook",
                "metadata": {"name": name},
                "spec": {
                    "size": 1 + number % 9,
                    "image": format!("registry.example.com/guestbook:1.{}.{}", number % 7, number % 30),
                },
            }),
        }
    }
}
