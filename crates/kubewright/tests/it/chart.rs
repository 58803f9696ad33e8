//! The chart of a whole operator, tried with Helm itself.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use kubewright::cluster;
use kubewright::generate::chart::{self, Chart};
use kubewright::generate::rbac::Scope;
use kubewright::generate::{Installation, install, yaml};
use kubewright::prelude::*;
use kubewright::project::{Bundle, Project};
use kubewright_testenv::Helm;
use serde_json::Value;
use tempfile::TempDir;

use crate::everything::{Everything, NAME};
use crate::pots::Pots;

const PROJECT: &str = "name = \"all-operator\"\nimage = \"example.com/all-operator\"\n";

/// The chart of [`Everything`], in a folder of its own.
pub struct Written {
    _root: TempDir,
    pub path: String,
}

pub fn operator() -> Operator {
    Operator::new(NAME)
        .controller::<Everything>()
        .project(PROJECT)
        .environment("BOOK_IMAGE", "example.com/book:1")
}

pub fn written() -> Written {
    written_of(&operator())
}

fn written_of(operator: &Operator) -> Written {
    let installation = operator.installation().unwrap();
    let about = Bundle::default();
    let (image, version) = ("example.com/all-operator".to_owned(), "1.2.3".to_owned());
    let chart = Chart { installation: &installation, about: &about, image, version };
    let root = tempfile::tempdir().unwrap();
    for file in chart::chart(&chart, "all-operator generate all").unwrap() {
        let path = root.path().join(file.path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, file.text).unwrap();
    }
    let path = root.path().join("charts").join(NAME);
    Written { path: shown(&path), _root: root }
}

fn shown(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// What Helm makes of the chart, without its hooks.
fn rendered(chart: &Written, arguments: &str) -> Objects {
    let helm = Helm::find().unwrap();
    let text = helm.run(&format!("template release {} --no-hooks {arguments}", chart.path));
    by_name(cluster::documents(&text.unwrap()).unwrap())
}

type Objects = BTreeMap<String, Value>;

/// Objects by kind, namespace and name, without what is Helm's own.
fn by_name(objects: Vec<Value>) -> Objects {
    let named = objects.into_iter().map(|mut object| {
        let metadata = &mut object["metadata"];
        if let Some(labels) = metadata["labels"].as_object_mut() {
            labels.remove("helm.sh/chart");
            for name in ["instance", "managed-by", "version"] {
                labels.remove(&format!("app.kubernetes.io/{name}"));
            }
        }
        if object["kind"] == "CustomResourceDefinition" {
            // It has no label of ours without Helm.
            object["metadata"]["labels"].take();
            object["metadata"]["annotations"].take();
        }
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let metadata = &object["metadata"];
        let (namespace, name) = (text(&metadata["namespace"]), text(&metadata["name"]));
        (format!("{} {namespace}/{name}", text(&object["kind"])), object)
    });
    named.collect()
}

/// What `generate install` prints, without the namespace, which is Helm's to make.
fn printed(installation: &Installation) -> Objects {
    let text = yaml::documents(&install::install(installation)).unwrap();
    let mut objects = cluster::documents(&text).unwrap();
    objects.retain(|object| object["kind"] != "Namespace");
    by_name(objects)
}

fn same(found: &Objects, expected: &Objects) {
    let names = |objects: &Objects| objects.keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(found), names(expected));
    for (name, object) in expected {
        assert_eq!(&found[name], object, "{name}");
    }
}

/// The installation with the image that belongs to the chart's version.
fn installation() -> Installation {
    let image = Project::parse(PROJECT).unwrap().image_of("1.2.3");
    Installation { image, ..operator().installation().unwrap() }
}

#[test]
fn webhooks_are_in_the_chart_as_in_the_installation() {
    let operator = Operator::new(NAME).controller::<Pots>().project(PROJECT);
    let image = Project::parse(PROJECT).unwrap().image_of("1.2.3");
    let installation = Installation { image, ..operator.installation().unwrap() };
    let chart = written_of(&operator);
    same(&rendered(&chart, "--namespace all-operator-system"), &printed(&installation));
    let without = rendered(&chart, "--namespace other --set crds.install=false");
    let calls = |name: &String| name.contains("WebhookConfiguration");
    assert!(
        !without.keys().any(calls) && without.keys().any(|name| name.contains("webhook-service"))
    );
    let elsewhere = serde_json::to_string(&rendered(&chart, "--namespace other")).unwrap();
    assert!(!elsewhere.contains("all-operator-system"), "{elsewhere}");
}

#[test]
fn helm_has_nothing_to_complain_of() {
    let chart = written();
    let said = Helm::find().unwrap().run(&format!("lint --strict {}", chart.path)).unwrap();
    assert!(said.contains("1 chart(s) linted, 0 chart(s) failed"), "{said}");
    assert!(!said.contains("[WARNING]") && !said.contains("[ERROR]"), "{said}");
}

#[test]
fn without_a_value_helm_installs_what_generate_install_prints() {
    let found = rendered(&written(), "--namespace all-operator-system");
    same(&found, &printed(&installation()));
}

#[test]
fn for_some_namespaces_it_installs_roles_there_and_no_more() {
    let found = rendered(&written(), "--namespace home --set watchNamespaces={a,b}");
    let scope = Scope::Namespaces(vec!["a".to_owned(), "b".to_owned()]);
    let expected = Installation { namespace: "home".to_owned(), scope, ..installation() };
    let mut expected = printed(&expected);
    // Roles for people have no namespace, and each release has its own.
    for name in ["admin", "editor", "viewer"] {
        let name = format!("all-operator-book-{name}-role");
        let mut role = expected.remove(&format!("ClusterRole /{name}")).unwrap();
        let name = format!("{name}-home");
        role["metadata"]["name"] = name.clone().into();
        expected.insert(format!("ClusterRole /{name}"), role);
    }
    same(&found, &expected);
    // What has no namespace cannot be granted in one.
    let role = &found["ClusterRole /all-operator-manager-home-role"];
    let rules = role["rules"].as_array().unwrap();
    assert!(!rules.iter().any(|rule| rule["apiGroups"][0] == "test.kubewright.dev"), "{role}");
}

#[test]
fn two_releases_have_nothing_of_one_name_but_the_definitions() {
    let chart = written();
    let one = rendered(&chart, "--namespace one");
    let two = rendered(&chart, "--namespace two --set crds.install=false");
    let both: Vec<_> = one.keys().filter(|name| two.contains_key(*name)).collect();
    assert!(both.is_empty(), "{both:?}");
    assert!(one.keys().any(|name| name.starts_with("CustomResourceDefinition")));
}

#[test]
fn every_value_comes_to_where_it_belongs() {
    let values = "--namespace n --set image.tag=v9,image.pullPolicy=Always,replicas=2,priorityClassName=high \
         --set environment.BOOK_IMAGE=own/book,extraEnv[0].name=A,extraEnv[0].value=b \
         --set extraArgs={--log-level=debug},imagePullSecrets[0].name=key \
         --set podLabels.a=b,podAnnotations.c=d,nodeSelector.e=f,serviceAccount.annotations.g=h \
         --set tolerations[0].key=i,affinity.nodeAffinity.j=k,resources.limits.memory=1Gi \
         --set metrics.enabled=true,metrics.serviceMonitor.enabled=true \
         --set metrics.serviceMonitor.interval=15s,metrics.serviceMonitor.labels.l=m \
         --set peopleRoles.install=false";
    let found = rendered(&written(), values);
    let deployment = &found["Deployment n/all-operator-controller-manager"]["spec"];
    let pod = &deployment["template"]["spec"];
    let container = &pod["containers"][0];
    for (value, expected) in [
        (&container["image"], "example.com/all-operator:v9"),
        (&container["imagePullPolicy"], "Always"),
        (&container["env"][1]["value"], "own/book"),
        (&container["env"][2]["value"], "b"),
        (&container["args"][3], "--metrics-bind-address=:8080"),
        (&container["args"][4], "--log-level=debug"),
        (&container["ports"][1]["name"], "metrics"),
        (&container["resources"]["limits"]["memory"], "1Gi"),
        (&container["resources"]["limits"]["cpu"], "500m"),
        (&pod["priorityClassName"], "high"),
        (&pod["imagePullSecrets"][0]["name"], "key"),
        (&pod["nodeSelector"]["e"], "f"),
        (&pod["tolerations"][0]["key"], "i"),
        (&pod["affinity"]["nodeAffinity"]["j"], "k"),
        (&deployment["template"]["metadata"]["labels"]["a"], "b"),
        (&deployment["template"]["metadata"]["annotations"]["c"], "d"),
    ] {
        assert_eq!(value, expected);
    }
    assert_eq!(deployment["replicas"], 2);
    let name = "n/all-operator-controller-manager";
    let account = &found[&format!("ServiceAccount {name}")];
    assert_eq!(account["metadata"]["annotations"]["g"], "h");
    let policy = &found[&format!("NetworkPolicy {name}")];
    assert_eq!(policy["spec"]["ingress"][0]["ports"][1]["port"], 8080);
    let service = &found[&format!("Service {name}-metrics")];
    let monitor = &found[&format!("ServiceMonitor {name}-metrics")];
    assert_eq!(monitor["spec"]["endpoints"][0]["interval"], "15s");
    assert_eq!(monitor["metadata"]["labels"]["l"], "m");
    let (labels, wanted) =
        (&service["metadata"]["labels"], &monitor["spec"]["selector"]["matchLabels"]);
    for (name, value) in wanted.as_object().unwrap() {
        assert_eq!(&labels[name], value, "the monitor finds the Service");
    }
    assert!(!found.keys().any(|name| name.contains("viewer")), "{:?}", found.keys());
}

#[test]
fn a_digest_stands_for_a_tag() {
    let digest = format!("sha256:{}", "0".repeat(64));
    let found = rendered(&written(), &format!("--namespace n --set image.digest={digest}"));
    let deployment = &found["Deployment n/all-operator-controller-manager"];
    let image = &deployment["spec"]["template"]["spec"]["containers"][0]["image"];
    assert_eq!(*image, format!("example.com/all-operator@{digest}"));
}

#[test]
fn what_is_wrong_is_refused_by_its_name() {
    let chart = written();
    let helm = Helm::find().unwrap();
    for (value, expected) in [
        ("imag.tag=v1", "additional properties 'imag' not allowed"),
        ("image.tags=v1", "at '/image': additional properties 'tags' not allowed"),
        ("environment.BOOK=a", "at '/environment': additional properties 'BOOK' not allowed"),
        ("replicas=many", "at '/replicas'"),
        ("image.pullPolicy=Sometimes", "at '/image/pullPolicy'"),
        ("watchNamespaces={A}", "at '/watchNamespaces/0'"),
        ("resources.limit.cpu=1", "at '/resources': additional properties 'limit' not allowed"),
        ("metrics.serviceMonitor.enabled=true", "needs metrics.enabled=true too"),
    ] {
        let said = helm.run(&format!("template release {} --set {value}", chart.path));
        let said = said.unwrap_err();
        assert!(said.contains(expected), "{value}: {said}");
    }
    let as_part = "--set global.a=b,enabled=true"; // as Helm calls a chart that is a part of another
    helm.run(&format!("template release {} {as_part}", chart.path)).unwrap();
}
