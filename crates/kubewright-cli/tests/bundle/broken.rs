//! Bundles that are broken in one way each: upstream's verdict on each is ours, too, for the rule that is named.

use serde_json::{Value, json};

use crate::folder::{ANNOTATIONS, CRD, CSV, Folder};
use crate::upstream;

/// The rule that is broken, and how.
type Case = (&'static str, fn(&Folder));

/// Rules that upstream's program has not: they are in other programs of theirs, or in ours only.
const NOT_THEIRS: [&str; 9] = [
    "format/",
    "practice/",
    "arch/",
    "content/kind",
    "content/documents",
    "content/definition-v1beta1",
    "bundle/related-image",
    "csv/install-mode-",
    "csv/webhook-",
];
/// Begins as the above, and is theirs all the same.
const THEIRS: [&str; 3] = ["format/file", "format/annotations", "csv/install-mode-conversion"];

fn csv(folder: &Folder, change: impl FnOnce(&mut Value)) {
    folder.edit(CSV, change);
}

fn spec(folder: &Folder, pointer: &str, value: Value) {
    set(folder, CSV, &format!("/spec{pointer}"), value);
}

fn crd(folder: &Folder, pointer: &str, value: Value) {
    set(folder, CRD, pointer, value);
}

fn annotation(folder: &Folder, key: &str, value: &str) {
    csv(folder, |csv| csv["metadata"]["annotations"][key] = json!(value));
}

fn add(folder: &Folder, object: &Value) {
    folder.write("manifests/more.yaml", &object.to_string());
}

/// Sets what the pointer points to, or removes it if the value is null.
fn set(folder: &Folder, file: &str, pointer: &str, value: Value) {
    folder.edit(file, |object| {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let parent = object.pointer_mut(parent).unwrap();
        match (parent, value) {
            (Value::Object(map), Value::Null) => drop(map.remove(key).unwrap()),
            (Value::Object(map), value) => drop(map.insert(key.to_owned(), value)),
            (list, value) => list[key.parse::<usize>().unwrap()] = value,
        }
    });
}

fn budget(spec: &Value) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "a"}, "spec": spec})
}

fn role(rule: &Value) -> Value {
    let version = "rbac.authorization.k8s.io/v1";
    json!({"apiVersion": version, "kind": "ClusterRole", "metadata": {"name": "a"}, "rules": [rule]})
}

fn config_map(bytes: usize) -> Value {
    // Text that does not compress further than to three quarters: base64 of what looks random.
    let mut state = 1_u64;
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-";
    let text: String = std::iter::repeat_with(|| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        char::from(letters[usize::try_from(state >> 58).unwrap()])
    })
    .take(bytes)
    .collect();
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"a": text}})
}

const CASES: &[Case] = &[
    ("csv/name", |f| csv(f, |csv| csv["metadata"]["name"] = json!("Memcached.v0.0.1"))),
    ("csv/name", |f| csv(f, |csv| csv["metadata"]["name"] = json!("a_b.v0.0.1"))),
    ("csv/name", |f| {
        csv(f, |csv| csv["metadata"]["name"] = json!(format!("{}.v0.0.1", "a".repeat(60))));
    }),
    ("csv/name", |f| set(f, CSV, "/metadata/name", Value::Null)),
    ("csv/replaces", |f| spec(f, "/replaces", json!("Not A Name"))),
    ("csv/version-of-kind", |f| set(f, CSV, "/apiVersion", Value::Null)),
    ("csv/required", |f| set(f, CSV, "/spec", Value::Null)),
    ("csv/required", |f| spec(f, "/displayName", Value::Null)),
    ("csv/required", |f| spec(f, "/displayName", json!(""))),
    ("csv/required", |f| spec(f, "/install", Value::Null)),
    ("csv/required", |f| spec(f, "/install/strategy", Value::Null)),
    ("csv/required", |f| spec(f, "/install/spec/deployments", Value::Null)),
    ("csv/install-modes", |f| spec(f, "/installModes", Value::Null)),
    ("csv/install-modes-none", |f| {
        spec(f, "/installModes", json!([{"type": "AllNamespaces", "supported": false}]));
    }),
    ("csv/install-mode-conversion", |f| {
        let webhook = json!({"type": "ConversionWebhook", "generateName": "a", "conversionCRDs": ["memcacheds.cache.example.com"], "sideEffects": "None", "admissionReviewVersions": ["v1"]});
        spec(f, "/webhookdefinitions", json!([webhook]));
    }),
    ("csv/examples-form", |f| annotation(f, "alm-examples", "[{")),
    ("csv/examples-form", |f| annotation(f, "alm-examples", "{\"kind\": \"Memcached\"}")),
    ("csv/examples-form", |f| {
        annotation(f, "alm-examples", "[{\"apiVersion\": \"cache.example.com/v1alpha1\"}]");
    }),
    ("csv/example-unknown", |f| {
        let text = f.read(CSV).replace("\"kind\": \"Memcached\"", "\"kind\": \"Redis\"");
        f.write(CSV, &text);
    }),
    ("csv/example-unknown", |f| {
        let text = f.read(CSV).replace(
            "\"apiVersion\": \"cache.example.com/v1alpha1\"",
            "\"apiVersion\": \"cache.example.com/v2\"",
        );
        f.write(CSV, &text);
    }),
    ("csv/example-missing", |f| annotation(f, "alm-examples", "[]")),
    ("csv/examples", |f| set(f, CSV, "/metadata/annotations/alm-examples", Value::Null)),
    ("csv/examples", |f| set(f, CSV, "/metadata/annotations", Value::Null)),
    ("csv/examples-twice", |f| annotation(f, "olm.examples", "[]")),
    ("csv/owned-name", |f| spec(f, "/customresourcedefinitions/owned/0/name", json!("memcacheds"))),
    ("csv/min-kube-version", |f| spec(f, "/minKubeVersion", Value::Null)),
    ("csv/min-kube-version-form", |f| spec(f, "/minKubeVersion", json!("1.32"))),
    ("csv/min-kube-version-form", |f| spec(f, "/minKubeVersion", json!("v1.32.0"))),
    ("csv/annotation-case", |f| annotation(f, "olm.skiprange", "<1.0.0")),
    ("csv/annotation-case", |f| annotation(f, "OLM.targetNamespaces", "a")),
    ("csv/properties", |f| annotation(f, "olm.properties", "[]")),
    ("csv/version", |f| spec(f, "/version", json!("one"))),
    ("content/type", |f| spec(f, "/installModes/0/supported", json!("yes"))),
    ("content/type", |f| spec(f, "/keywords", json!("memcached"))),
    ("content/type", |f| spec(f, "/install/spec/deployments/0/spec/replicas", json!("three"))),
    ("content/type", |f| crd(f, "/spec/versions", json!("v1"))),
    ("content/type", |f| {
        let container = "/install/spec/deployments/0/spec/template/spec/containers/0";
        spec(f, &format!("{container}/resources"), json!({"limits": {"memory": "128MiB"}}));
    }),
    ("content/type", |f| spec(f, "/skips", json!("memcached-operator.v0.0.0"))),
    ("content/type", |f| {
        let hints = "/customresourcedefinitions/owned/0/specDescriptors/0/x-descriptors";
        spec(f, hints, json!("urn:alm:descriptor:text"));
    }),
    ("content/type", |f| spec(f, "/maturity", json!(1))),
    ("content/type", |f| spec(f, "/labels", json!(["a"]))),
    ("content/type", |f| spec(f, "/selector", json!({"matchLabels": "a"}))),
    ("content/type", |f| {
        let mut role = role(&json!({}));
        role["rules"] = json!("all");
        add(f, &role);
    }),
    ("content/type", |f| add(f, &budget(&json!("one")))),
    ("content/type", |f| add(f, &budget(&json!({"maxUnavailable": 1, "selector": []})))),
    ("crd/metadata", |f| crd(f, "/metadata/namespace", json!("default"))),
    ("crd/metadata", |f| crd(f, "/metadata/labels", json!({"a b": "c"}))),
    ("crd/metadata", |f| crd(f, "/metadata/labels", json!({"a": "b c"}))),
    ("crd/metadata", |f| crd(f, "/metadata/annotations", json!({"a/b/c": "d"}))),
    ("content/object", |f| f.write("manifests/more.yaml", "a: [")),
    ("content/object", |f| f.write("manifests/more.yaml", "a: b\n")),
    ("content/one-csv", |f| f.write("manifests/z.clusterserviceversion.yaml", &f.read(CSV))),
    ("content/csv", |f| f.remove(CSV)),
    ("content/definition", |f| crd(f, "/apiVersion", json!("apiextensions.k8s.io/v2"))),
    ("format/file", |f| f.write("manifests/more/role.yaml", "a: b\n")),
    ("format/file", |f| f.write("manifests/.hidden", "a: b\n")),
    ("format/annotations", |f| f.write(ANNOTATIONS, "annotations: [a]\n")),
    ("crd/name", |f| crd(f, "/metadata/name", json!("memcached.cache.example.com"))),
    ("crd/group", |f| crd(f, "/spec/group", json!("example"))),
    ("crd/group", |f| crd(f, "/spec/group", json!("Cache.example.com"))),
    ("crd/group-approval", |f| {
        crd(f, "/spec/group", json!("cache.k8s.io"));
        crd(f, "/metadata/name", json!("memcacheds.cache.k8s.io"));
    }),
    ("crd/scope", |f| crd(f, "/spec/scope", json!("Everywhere"))),
    ("crd/preserve", |f| crd(f, "/spec/preserveUnknownFields", json!(true))),
    ("crd/names", |f| crd(f, "/spec/names/plural", json!("Memcacheds"))),
    ("crd/names", |f| crd(f, "/spec/names/kind", json!("Mem.cached"))),
    ("crd/names", |f| crd(f, "/spec/names/listKind", json!("Memcached"))),
    ("crd/names", |f| crd(f, "/spec/names/shortNames", json!(["M"]))),
    ("crd/storage", |f| crd(f, "/spec/versions/0/storage", json!(false))),
    ("crd/versions", |f| crd(f, "/spec/versions/0/name", json!("V1"))),
    ("crd/versions", |f| {
        f.edit(CRD, |object| {
            let mut again = object["spec"]["versions"][0].clone();
            again["storage"] = json!(false);
            object["spec"]["versions"].as_array_mut().unwrap().push(again);
        });
    }),
    ("crd/deprecation", |f| crd(f, "/spec/versions/0/deprecationWarning", json!("old"))),
    ("crd/column", |f| {
        crd(
            f,
            "/spec/versions/0/additionalPrinterColumns",
            json!([{"name": "A", "type": "text", "jsonPath": ".spec.size"}]),
        );
    }),
    ("crd/column", |f| {
        crd(
            f,
            "/spec/versions/0/additionalPrinterColumns",
            json!([{"name": "A", "type": "string", "jsonPath": "spec.size"}]),
        );
    }),
    ("crd/scale", |f| {
        crd(f, "/spec/versions/0/subresources/scale/specReplicasPath", json!(".status.size"));
    }),
    ("crd/conversion", |f| crd(f, "/spec/conversion", json!({"strategy": "Magic"}))),
    ("crd/conversion", |f| crd(f, "/spec/conversion", json!({"strategy": "Webhook"}))),
    ("bundle/crd-missing", |f| f.remove(CRD)),
    ("bundle/crd-missing", |f| spec(f, "/customresourcedefinitions/owned/0/version", json!("v2"))),
    ("bundle/crd-not-owned", |f| spec(f, "/customresourcedefinitions", json!({}))),
    ("bundle/crd-twice", |f| f.write("manifests/again.yaml", &f.read(CRD))),
    ("bundle/service-account", |f| {
        let name = "memcached-operator-controller-manager";
        add(f, &json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}}));
    }),
    ("bundle/size", |f| add(f, &config_map(1_100_000))),
    ("bundle/size-near", |f| add(f, &config_map(920_000))),
    ("bundle/name", |f| spec(f, "/release", json!("1"))),
    ("hub/provider", |f| spec(f, "/provider", json!({"name": " "}))),
    ("hub/maintainer", |f| spec(f, "/maintainers", json!([{"name": "A"}]))),
    ("hub/maintainer-mail", |f| spec(f, "/maintainers", json!([{"name": "A", "email": "nobody"}]))),
    ("hub/link", |f| spec(f, "/links", json!([{"name": "Docs"}]))),
    ("hub/link-url", |f| spec(f, "/links", json!([{"name": "Docs", "url": "docs.example.com"}]))),
    ("hub/version", |f| spec(f, "/version", Value::Null)),
    ("hub/icon-count", |f| {
        csv(f, |csv| {
            let icon = csv["spec"]["icon"][0].clone();
            csv["spec"]["icon"] = json!([icon, icon]);
        });
    }),
    ("hub/icon", |f| spec(f, "/icon/0/base64data", json!(""))),
    ("hub/icon-type", |f| spec(f, "/icon/0/mediatype", json!("image/webp"))),
    ("hub/icon-missing", |f| spec(f, "/icon", Value::Null)),
    ("hub/capabilities", |f| annotation(f, "capabilities", "Everything")),
    ("hub/category", |f| annotation(f, "categories", "Database, Caches")),
    ("object/budget", |f| add(f, &budget(&json!({"maxUnavailable": 0})))),
    ("object/budget", |f| add(f, &budget(&json!({"maxUnavailable": "0%"})))),
    ("object/budget", |f| add(f, &budget(&json!({"maxUnavailable": "10%"})))),
    ("object/budget", |f| add(f, &budget(&json!({"minAvailable": "100%"})))),
    ("object/priority", |f| {
        let version = "scheduling.k8s.io/v1";
        add(
            f,
            &json!({"apiVersion": version, "kind": "PriorityClass", "metadata": {"name": "a"}, "value": 1, "globalDefault": true}),
        );
    }),
    ("object/role-budgets", |f| {
        add(
            f,
            &role(
                &json!({"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": ["*"]}),
            ),
        );
    }),
    ("object/role-constraints", |f| {
        let (groups, resources) = (["security.openshift.io"], ["securitycontextconstraints"]);
        add(
            f,
            &role(
                &json!({"apiGroups": groups, "resources": resources, "verbs": ["update"], "resourceNames": ["anyuid"]}),
            ),
        );
    }),
    ("removed/object", |f| {
        let mut old = budget(&json!({"maxUnavailable": 1}));
        old["apiVersion"] = json!("policy/v1beta1");
        add(f, &old);
    }),
    ("removed/object", |f| {
        let mut old = role(&json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}));
        old["apiVersion"] = json!("rbac.authorization.k8s.io/v1beta1");
        add(f, &old);
    }),
    ("removed/object", |f| crd(f, "/apiVersion", json!("apiextensions.k8s.io/v1beta1"))),
    ("removed/object-warning", |f| {
        spec(f, "/minKubeVersion", json!("1.20.0"));
        let mut old = budget(&json!({"maxUnavailable": 1}));
        old["apiVersion"] = json!("policy/v1beta1");
        add(f, &old);
    }),
    ("removed/permission", |f| {
        let rule = json!({"apiGroups": ["batch"], "resources": ["cronjobs"], "verbs": ["list"]});
        spec(f, "/install/spec/permissions/0/rules", json!([rule]));
    }),
];

/// How bad the worst is that was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Good,
    Warning,
    Error,
}

/// What it thinks of the bundle.
fn theirs(said: &[String]) -> Verdict {
    let one = |line: &String| match line {
        line if line.contains("level=error") || line.contains("level=fatal") => Verdict::Error,
        // Said by the program itself, which then goes on without the release.
        line if line.starts_with("failed to convert") => Verdict::Error,
        line if line.contains("level=warning") => Verdict::Warning,
        _ => Verdict::Good,
    };
    said.iter().map(one).max().unwrap_or(Verdict::Good)
}

/// Ours, by the rules that upstream's program has.
fn ours(findings: &[crate::folder::Finding]) -> Verdict {
    let is_theirs =
        |id: &str| THEIRS.contains(&id) || !NOT_THEIRS.iter().any(|start| id.starts_with(start));
    let findings = findings.iter().filter(|finding| is_theirs(&finding.id));
    let worst =
        findings.map(|it| if it.severity == "error" { Verdict::Error } else { Verdict::Warning });
    worst.max().unwrap_or(Verdict::Good)
}

/// What upstream is silent on is no error of ours.
#[test]
fn what_upstream_takes_is_taken() {
    let changes: [fn(&Folder); 3] = [
        |f| spec(f, "/install/spec", json!({})),
        |f| spec(f, "/skips", json!(["memcached-operator.v0.0.0"])),
        |f| {
            let container = "/install/spec/deployments/0/spec/template/spec/containers/0";
            let amounts = json!({"limits": {"cpu": 1, "memory": "1.5e8"}, "requests": {"cpu": 0.5, "memory": "64Mi"}});
            spec(f, &format!("{container}/resources"), amounts);
        },
    ];
    for (at, change) in changes.iter().enumerate() {
        let folder = Folder::good();
        change(&folder);
        let (said, found) = (upstream::said(&folder.path()), folder.validated().findings);
        assert_eq!(
            (theirs(&said), ours(&found)),
            (Verdict::Good, Verdict::Good),
            "{at} {found:#?}"
        );
    }
}

#[test]
fn upstreams_verdict_on_broken_bundles_is_ours() {
    let mut differences = Vec::new();
    for (at, (rule, break_it)) in CASES.iter().enumerate() {
        let folder = Folder::good();
        break_it(&folder);
        let said = upstream::said(&folder.path());
        let (theirs, answer) = (theirs(&said), folder.validated());
        let ours = ours(&answer.findings);
        let is_found = answer.findings.iter().any(|finding| finding.id == *rule);
        if theirs != ours || theirs == Verdict::Good || !is_found {
            let found = &answer.findings;
            differences.push(format!(
                "{at} {rule}: theirs {theirs:?}, ours {ours:?}\n{said:#?}\n{found:#?}"
            ));
        }
    }
    assert!(CASES.len() >= 40);
    assert!(
        differences.is_empty(),
        "{} of {}\n{}",
        differences.len(),
        CASES.len(),
        differences.join("\n")
    );
}
