//~ a namespaced kind cannot own a cluster-scoped one: Kubernetes ignores such an owner reference
//~ use `wiring.manages()` instead
use kubewright::k8s_openapi::NamespaceResourceScope;
use kubewright::k8s_openapi::api::rbac::v1::ClusterRole;
use kubewright::prelude::*;

fn wire<P>(wiring: &mut Wiring<P>)
where
    P: kubewright::Primary + Resource<Scope = NamespaceResourceScope>,
{
    let _: Owned<ClusterRole> = wiring.owns();
}

fn main() {}
