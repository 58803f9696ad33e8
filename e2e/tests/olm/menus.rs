//! An operator of somebody else: that of the tutorial on webhooks, as its reader has it before there is a cluster,
//! packaged and run through OLM. Its certificate, Service and configurations are OLM's.

use std::path::PathBuf;
use std::process::{Command, Output};

use memcached_e2e::image::QUICK;
use memcached_e2e::programs::{said_by_upstream, scaffolded, without_cargos_own};

use crate::bundles::Bundles;
use crate::parse::{Step, steps};
use crate::place::{Before, Place, until};

const PAGE: &str = include_str!("../../../docs/tutorials/webhooks.md");
/// What follows is done with OLM instead.
const CLUSTER: &str = "## On a cluster";
const IMAGE: &str = "localhost/menu-operator:olm";
/// What the page on `OperatorHub` has its reader write; the rest is not looked at here.
const ABOUT: &str = r#"
[bundle]
display-name = "Menus"
description = "Keeps menus."
provider = { name = "You", url = "https://you.example.com" }
maintainers = [{ name = "You", email = "you@you.example.com" }]
keywords = ["menu"]
categories = ["Developer Tools"]
icon = '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1"/>'
"#;
const RELEASE: &str = "menu-operator.v0.0.1 runs in namespace pots\n";
const SECRET: &str = "secret/menu-operator-controller-manager-service-cert";

/// The project.
pub(crate) struct Menus {
    folder: PathBuf,
}

impl Menus {
    /// Does what the page says, then packages what is there, and gives its image to the node.
    pub(crate) fn make(place: &Place) -> Self {
        let (page, _) = PAGE.split_once(CLUSTER).unwrap();
        let mut menus = Self { folder: place.folder().to_owned() };
        for step in steps(page).unwrap() {
            menus.follow(place, &step);
        }
        let file = menus.folder.join("kubewright.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(file, text + ABOUT).unwrap();
        menus.succeeds(place, &format!("image build --image {IMAGE} --load"));
        menus.succeeds(place, &format!("bundle --channels stable --image {IMAGE}"));
        menus
    }

    fn follow(&mut self, place: &Place, step: &Step) {
        match step {
            Step::File { path, content } => {
                std::fs::write(self.folder.join(path), content).unwrap();
            }
            // The page's own test types that.
            Step::Command { typed, .. } if typed == "kubewright test" => {}
            Step::Command { typed, .. } => match typed.strip_prefix("cd ") {
                Some(folder) => self.folder.push(folder),
                None => self.succeeds(place, typed.strip_prefix("kubewright ").unwrap()),
            },
            other => panic!("{other} is not known here"),
        }
    }

    fn succeeds(&self, place: &Place, line: &str) {
        let mut command: Command = place.command(line);
        command.current_dir(&self.folder).env("CARGO_TARGET_DIR", scaffolded()).envs(QUICK);
        without_cargos_own(&mut command);
        let Output { status, stdout, stderr } = command.output().unwrap();
        let said = String::from_utf8([stdout, stderr].concat()).unwrap();
        assert!(status.success(), "`kubewright {line}` failed:\n{said}");
    }

    fn bundle(&self) -> PathBuf {
        self.folder.join("bundle")
    }

    fn sample(&self) -> PathBuf {
        self.folder.join("deploy/samples/kitchen_v1alpha1_menu.yaml")
    }
}

/// Installs the operator, and the page's sample once its webhooks answer.
fn installed(place: &Place, menus: &Menus) {
    let said = place.succeeds(&format!("run bundle {} -n pots", menus.bundle().display()));
    assert!(said.ends_with(RELEASE), "{said}");
    place.kubectl(&format!("apply --namespace pots -f {}", menus.sample().display()));
}

/// The API server trusts the certificate that OLM has made, in every webhook; and the operator has made none.
pub(crate) fn webhooks_are_called_with_olms_certificate(place: &Place, bundles: &Bundles) {
    let menus = &bundles.menus;
    assert_eq!(said_by_upstream(&menus.bundle()).unwrap(), Vec::<String>::new());
    let before = Before::of(place);
    installed(place, menus);
    let secrets = place.kubectl("get secrets --namespace pots -o name");
    assert!(secrets.contains(SECRET) && !secrets.contains("webhook-server-cert"), "{secrets}");
    let get = "get --namespace pots -o";
    let currency = place.kubectl(&format!("{get} jsonpath={{.spec.currency}} menu/menu-sample"));
    assert_eq!(currency, "EUR");
    let other = "menus.v1beta1.kitchen.example.com/menu-sample";
    let dishes = place.kubectl(&format!("{get} jsonpath={{.apiVersion}}{{.spec.dishes}} {other}"));
    assert_eq!(dishes, r#"kitchen.example.com/v1beta1["soup","pie"]"#);
    let twice =
        r#"patch menu menu-sample --namespace pots --type=merge -p {"spec":{"dishes":["a","a"]}}"#;
    let said = place.refused(twice);
    assert!(said.contains("spec.dishes[1]: a is there already"), "{said}");

    // A menu that its operator does not let go is no obstacle.
    place.kubectl("label menu menu-sample framed=yes --namespace pots");
    let said = place.refused("delete menu menu-sample --namespace pots");
    assert!(said.contains("this menu hangs on the wall"), "{said}");
    let said = place.succeeds("cleanup menu-operator -n pots");
    assert!(said.ends_with("menu-operator is gone from namespace pots\n"), "{said}");
    place.until_as_before(&before);
}

/// Nobody is alive: neither OLM, nor the operator, nor whoever put a finalizer on; and the API server calls webhooks
/// that nobody answers.
pub(crate) fn cleanup_needs_nobody(place: &Place, bundles: &Bundles) {
    let before = Before::of(place);
    installed(place, &bundles.menus);
    let held = r#"patch menu menu-sample --namespace pots --type=merge -p {"metadata":{"finalizers":["example.com/nobody"]}}"#;
    place.kubectl(held);
    scale(place, "olm", "olm-operator catalog-operator", 0);
    scale(place, "pots", "menu-operator-controller-manager", 0);
    let mut tries = 0;
    until("the operator's pod does not answer any more", || {
        tries += 1;
        let change = format!("label menu menu-sample --namespace pots --overwrite try={tries}");
        let output = place.command(&format!("dev kubectl {change}")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let is_refused = said.contains("webhook") && said.contains("failed");
        if is_refused { Ok(()) } else { Err(said) }
    });
    let said = place.succeeds("cleanup menu-operator -n pots");
    assert!(said.ends_with("menu-operator is gone from namespace pots\n"), "{said}");
    place.until_as_before(&before);
    scale(place, "olm", "olm-operator catalog-operator", 1);
    until("OLM is well again", || {
        let status = place.command("olm status").output().unwrap();
        if status.status.success() { Ok(()) } else { Err(format!("{status:?}")) }
    });
}

/// Deployments with this many pods, once they have them.
fn scale(place: &Place, namespace: &str, deployments: &str, replicas: u8) {
    let line = format!("scale deployment {deployments} --namespace {namespace}");
    place.kubectl(&format!("{line} --replicas={replicas}"));
    until("they have so many pods", || {
        for name in deployments.split_whitespace() {
            let status = format!("get deployment {name} --namespace {namespace} -o");
            let ready = place.kubectl(&format!("{status} jsonpath={{.status.replicas}}"));
            let wanted = if replicas == 0 { String::new() } else { replicas.to_string() };
            if ready != wanted && ready != replicas.to_string() {
                return Err(format!("{name} has {ready}"));
            }
        }
        Ok(())
    });
}
