//! `#[kubewright_testenv::test]`: turns an async function that takes an `Env` into a test. Only
//! rewrites; what happens at run time is in `kubewright_testenv::harness`.

use proc_macro::TokenStream;
use quote::{format_ident, quote};
use syn::meta::ParseNestedMeta;
use syn::{ItemFn, LitInt, parse_macro_input};

#[derive(Default)]
struct Needs {
    controllers: bool,
    own: bool,
    strict: bool,
    nodes: u8,
}

impl Needs {
    fn parse(&mut self, meta: &ParseNestedMeta<'_>) -> syn::Result<()> {
        if meta.path.is_ident("controllers") {
            self.controllers = true;
        } else if meta.path.is_ident("own") {
            self.own = true;
        } else if meta.path.is_ident("strict") {
            self.strict = true;
        } else if meta.path.is_ident("nodes") {
            self.nodes = meta.value()?.parse::<LitInt>()?.base10_parse()?;
        } else {
            return Err(meta.error("expected `controllers`, `nodes = N`, `strict` or `own`"));
        }
        Ok(())
    }
}

/// A test that gets a namespace of its own in a real Kubernetes.
///
/// - nothing: etcd and kube-apiserver, shared by all such tests of the test binary
/// - `controllers`: kube-controller-manager and kube-scheduler too
/// - `nodes = N`: and N nodes with real pods
/// - `strict`: with the admission plugin `OwnerReferencesPermissionEnforcement`
/// - `own`: not shared, so that the test may stop, pause and kill its parts
#[proc_macro_attribute]
pub fn test(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let mut needs = Needs::default();
    let parser = syn::meta::parser(|meta| needs.parse(&meta));
    parse_macro_input!(arguments with parser);
    let mut function = parse_macro_input!(item as ItemFn);
    if function.sig.asyncness.is_none() || function.sig.inputs.len() != 1 {
        let message = "write `async fn name(env: Env)`: the test runs in an async runtime and gets its environment";
        return syn::Error::new_spanned(&function.sig, message).to_compile_error().into();
    }
    let name = std::mem::replace(&mut function.sig.ident, format_ident!("test_body"));
    let attributes = std::mem::take(&mut function.attrs);
    let Needs { controllers, own, strict, nodes } = needs;
    quote! {
        #[::core::prelude::v1::test]
        #(#attributes)*
        fn #name() {
            #function
            ::kubewright_testenv::harness::run(
                ::core::concat!(::core::module_path!(), "::", ::core::stringify!(#name)),
                ::kubewright_testenv::harness::Needs {
                    controllers: #controllers, nodes: #nodes, strict: #strict, own: #own,
                },
                test_body,
            );
        }
    }
    .into()
}
