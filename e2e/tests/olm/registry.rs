//! A registry that the node and this machine know by the same name: it listens on the node's own loopback, and the
//! same port of this machine is forwarded to it.

use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

use kubewright_testenv::binaries::REGISTRY_VERSION;
use kubewright_testenv::cache::Cache;
use kubewright_testenv::images::registry_image;
use kubewright_testenv::olm;
use kubewright_testenv::progress::Progress;
use serde_json::json;

use crate::place::{Place, until};

pub(crate) struct Registry {
    forward: Child,
    port: u16,
    /// A port of this machine that leads there, too, and that the node knows nothing of.
    other: u16,
}

impl Registry {
    pub(crate) fn start(place: &Place) -> Self {
        let tar = olm::registry(&Cache::from_environment().unwrap(), Progress::Shown).unwrap();
        place.load(&tar);
        let [port, other] = free_ports();
        let file = place.folder().join("registry.json");
        std::fs::write(&file, manifest(port)).unwrap();
        place.kubectl(&format!("apply -f {}", file.display()));
        place.kubectl("wait --for=condition=Ready pod/registry --namespace default --timeout=120s");
        let ports = format!("{port}:{port} {other}:{port}");
        let line = format!("dev kubectl port-forward --namespace default pod/registry {ports}");
        let forward = place.command(&line).stdout(Stdio::null()).spawn().unwrap();
        let registry = Self { forward, port, other };
        for port in [port, other] {
            until("the registry answers", || {
                TcpStream::connect(("127.0.0.1", port)).map(drop).map_err(|error| error.to_string())
            });
        }
        registry
    }

    /// The full name of an image in it.
    pub(crate) fn image(&self, name: &str) -> String {
        format!("localhost:{}/{name}", self.port)
    }

    /// The same as only this machine knows it: to the nodes, nobody listens there.
    pub(crate) fn image_for_this_machine(&self, name: &str) -> String {
        format!("localhost:{}/{name}", self.other)
    }
}

/// Both at once, or they were the same.
fn free_ports() -> [u16; 2] {
    let free = [(); 2].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    free.map(|listener| listener.local_addr().unwrap().port())
}

fn manifest(port: u16) -> String {
    let configuration = json!({
        "version": "0.1",
        "storage": { "inmemory": {} },
        "http": { "addr": format!("0.0.0.0:{port}") },
    });
    let container = json!({
        "name": "registry",
        "image": registry_image(REGISTRY_VERSION),
        "imagePullPolicy": "IfNotPresent",
        "args": ["serve", "/etc/registry/configuration.yaml"],
        "env": [{ "name": "OTEL_TRACES_EXPORTER", "value": "none" }],
        "readinessProbe": { "tcpSocket": { "port": port }, "periodSeconds": 1 },
        "volumeMounts": [{ "name": "configuration", "mountPath": "/etc/registry" }],
    });
    let name = json!({ "name": "registry", "namespace": "default" });
    let map = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": name,
        "data": { "configuration.yaml": configuration.to_string() },
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": name,
        "spec": {
            "hostNetwork": true,
            "containers": [container],
            "volumes": [{ "name": "configuration", "configMap": { "name": "registry" } }],
        },
    });
    json!({ "apiVersion": "v1", "kind": "List", "items": [map, pod] }).to_string()
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.forward.kill();
        let _ = self.forward.wait();
    }
}
