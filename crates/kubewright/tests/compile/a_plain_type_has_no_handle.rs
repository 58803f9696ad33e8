//~ String` cannot be the kind of a handle
//~ a handle takes a k8s-openapi type, or a type with `#[derive(CustomResource)]` or `#[derive(Resource)]`
use kubewright::prelude::*;

fn wire<P: kubewright::Primary>(wiring: &mut Wiring<P>) {
    let _: Reads<String> = wiring.reads_labelled("label");
}

fn main() {}
