//~ no method named `apply` found
use kubewright::k8s_openapi::api::core::v1::ConfigMap;
use kubewright::prelude::*;

async fn write<P: kubewright::Primary>(maps: &Reads<ConfigMap>, pass: &Pass<P>) {
    let _ = maps.apply(pass, ConfigMap::default()).await;
}

fn main() {}
