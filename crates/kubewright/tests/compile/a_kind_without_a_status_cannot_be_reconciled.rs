//~ ConfigMap` cannot be reconciled: it has no status that kubewright can write
//~ and `impl Conditions for
use kubewright::k8s_openapi::api::core::v1::ConfigMap;

fn reconciled<P: kubewright::Primary>() {}

fn main() {
    reconciled::<ConfigMap>();
}
