//! What the operator runs as, as templates: most of what can be set is set here.

use serde_json::{Value, json};

use super::open::Open;
use crate::generate::files::{File, snake_case};
use crate::generate::rbac::Scope;
use crate::generate::{Installation, manager, yaml};

/// The Deployment, what surrounds it, and what lets it leave.
pub(super) fn templates(open: &mut Open) -> Result<Vec<File>, yaml::Error> {
    let wanted = Some("if .Values.metrics.enabled");
    let monitored = Some("if .Values.metrics.serviceMonitor.enabled");
    let (policy, deployment, monitor) = (policy(open), deployment(open), monitor(open));
    let leaving = manager::leaving(&open.cluster, &deployment);
    let budget = manager::disruption_budget(&open.cluster);
    let service = manager::metrics_service(&open.cluster);
    let mut files = Vec::new();
    for (name, condition, object) in [
        ("network_policy", None, policy),
        ("pod_disruption_budget", None, budget),
        ("deployment", None, deployment),
        ("metrics_service", wanted, service),
        ("service_monitor", monitored, monitor),
    ] {
        files.push(open.file(format!("manager/{name}.yaml"), condition, object)?);
    }
    #[cfg(feature = "webhook")]
    for object in crate::generate::webhook::objects(&open.cluster) {
        let kind = snake_case(object["kind"].as_str().unwrap_or_default());
        // A cluster has one of each, with the definitions; the Service is where the operator is.
        let condition = (kind != "service").then_some("if .Values.crds.install");
        files.push(open.file(format!("webhook/{kind}.yaml"), condition, object)?);
    }
    for mut object in leaving {
        object["metadata"]["annotations"] = json!({
            "helm.sh/hook": "pre-delete",
            "helm.sh/hook-delete-policy": "before-hook-creation,hook-succeeded",
            "helm.sh/hook-output-log-policy": "hook-failed",
        });
        let kind = snake_case(object["kind"].as_str().unwrap_or_default());
        files.push(open.file(format!("leaving/{kind}.yaml"), None, object)?);
    }
    Ok(files)
}

fn policy(open: &mut Open) -> Value {
    let mut policy = manager::network_policy(&open.cluster);
    let opening = vec![manager::metrics_opening()];
    let more = open.holes.only_if(".Values.metrics.enabled", opening);
    extend(&mut policy["spec"]["ingress"][0]["ports"], more);
    policy
}

fn monitor(open: &mut Open) -> Value {
    let mut monitor = manager::service_monitor(&open.cluster);
    monitor["metadata"]["labels"]["more"] = open.holes.more("metrics.serviceMonitor.labels");
    // Not silently: who asks for one expects figures.
    monitor["metadata"]["needs"] = open.holes.lines(
        "{{- if not .Values.metrics.enabled }}\n\
         {{- fail \"metrics.serviceMonitor.enabled needs metrics.enabled=true too\" }}\n\
         {{- end }}",
    );
    // Called so that it comes last: the first field of an item stands beside its dash.
    monitor["spec"]["endpoints"][0]["then"] =
        open.holes.optional_at("interval", "metrics.serviceMonitor.interval");
    monitor
}

fn deployment(open: &mut Open) -> Value {
    let joined = open.holes.text("join \",\" .Values.watchNamespaces");
    let scope = Scope::Namespaces(vec![joined]);
    let watching = Installation { scope, ..open.watching.clone() };
    let mut deployment = manager::deployment(&watching);
    let holes = &mut open.holes;
    let spec = &mut deployment["spec"];
    spec["replicas"] = holes.lines("replicas: {{ .Values.replicas }}");
    let template = &mut spec["template"];
    template["metadata"]["annotations"]["more"] = holes.more("podAnnotations");
    template["metadata"]["labels"]["more"] = holes.more("podLabels");
    let pod = &mut template["spec"];
    for field in
        ["imagePullSecrets", "nodeSelector", "tolerations", "affinity", "priorityClassName"]
    {
        pod[field] = holes.optional(field);
    }
    let container = &mut pod["containers"][0];
    container["imagePullPolicy"] = json!(holes.text(".Values.image.pullPolicy"));
    container["resources"] =
        holes.lines("resources:\n  {{- toYaml .Values.resources | nindent +2 }}");
    let is_measured = ".Values.metrics.enabled";
    let argument = holes.only_if(is_measured, vec![json!(manager::metrics_argument())]);
    extend(&mut container["args"], argument);
    extend(&mut container["args"], vec![holes.more("extraArgs")]);
    let port = holes.only_if(is_measured, vec![manager::metrics_port()]);
    extend(&mut container["ports"], port);
    let variables = container["env"].as_array().cloned().unwrap_or_default();
    let variables = variables.into_iter().flat_map(|variable| {
        if variable["name"] == "WATCH_NAMESPACE" {
            holes.only_if(".Values.watchNamespaces", vec![variable])
        } else {
            vec![variable]
        }
    });
    container["env"] = variables.collect();
    extend(&mut container["env"], vec![holes.more("extraEnv")]);
    deployment
}

fn extend(list: &mut Value, items: Vec<Value>) {
    if let Value::Array(list) = list {
        list.extend(items);
    }
}
