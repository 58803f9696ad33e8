//~ private
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::prelude::*;

fn main() {
    let _ = Owned::<ConfigMap>::new(loop {});
}
