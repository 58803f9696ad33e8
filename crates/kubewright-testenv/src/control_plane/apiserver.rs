//! How kube-apiserver is run: RBAC on, every request in the audit log unless time is measured, keys
//! made by us.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;

use crate::certificates::{Authority, signing_key};
use crate::control_plane::Plan;
use crate::error::Error;
use crate::process::Process;
use crate::workspace::Workspace;

/// One record per request when it is over, and one when a watch begins; who asked what, no bodies.
const AUDIT_POLICY: &str = r#"{"apiVersion": "audit.k8s.io/v1", "kind": "Policy",
 "omitStages": ["RequestReceived"], "rules": [{"level": "Metadata"}]}"#;

/// The audit log, inside the environment's directory.
pub(crate) const AUDIT_LOG: &str = "audit.log";

/// As whom the API server passes requests on to servers of further APIs, and the only name that may say
/// on behalf of whom it asks.
const FRONT_PROXY: &str = "front-proxy-client";

/// The keys that the API server and the controllers share.
pub(super) struct Keys {
    pub(super) authority: Authority,
}

impl Keys {
    pub(super) fn write(workspace: &Workspace, plan: &Plan) -> Result<Self, Error> {
        workspace.directory("keys")?;
        let authority = Authority::new()?;
        let hosts = [
            "localhost",
            "kubernetes",
            "kubernetes.default",
            "kubernetes.default.svc",
            "kubernetes.default.svc.cluster.local",
        ];
        let addresses = [Ipv4Addr::LOCALHOST, plan.address, plan.api_service].map(IpAddr::V4);
        let server = authority.server("kube-apiserver", &hosts, &addresses)?;
        let kubelet = authority.client("kube-apiserver-kubelet-client", Some("system:masters"))?;
        let front = authority.client(FRONT_PROXY, None)?;
        let (private, public) = signing_key()?;
        workspace.write("keys/ca.crt", &authority.certificate)?;
        workspace.write("keys/apiserver.crt", &server.certificate)?;
        workspace.write("keys/apiserver.key", &server.key)?;
        workspace.write("keys/kubelet-client.crt", &kubelet.certificate)?;
        workspace.write("keys/kubelet-client.key", &kubelet.key)?;
        workspace.write("keys/front-proxy.crt", &front.certificate)?;
        workspace.write("keys/front-proxy.key", &front.key)?;
        workspace.write("keys/tokens.key", private)?;
        workspace.write("keys/tokens.pub", public)?;
        workspace.write("audit-policy.json", AUDIT_POLICY)?;
        Ok(Self { authority })
    }
}

pub(super) fn process(
    workspace: &Workspace,
    program: &Path,
    plan: &Plan,
    port: u16,
    etcd_port: u16,
) -> Process {
    let file = |name: &str| workspace.path(name).display().to_string();
    let address = plan.address;
    let mut lines = vec![
        format!("--etcd-servers=http://127.0.0.1:{etcd_port}"),
        format!("--bind-address={address}"),
        format!("--secure-port={port}"),
        format!("--cert-dir={}", file("keys")),
        format!("--tls-cert-file={}", file("keys/apiserver.crt")),
        format!("--tls-private-key-file={}", file("keys/apiserver.key")),
        format!("--client-ca-file={}", file("keys/ca.crt")),
        format!("--kubelet-client-certificate={}", file("keys/kubelet-client.crt")),
        format!("--kubelet-client-key={}", file("keys/kubelet-client.key")),
        "--kubelet-preferred-address-types=InternalIP".to_owned(),
        "--service-account-issuer=https://kubernetes.default.svc.cluster.local".to_owned(),
        format!("--service-account-key-file={}", file("keys/tokens.pub")),
        format!("--service-account-signing-key-file={}", file("keys/tokens.key")),
        format!("--service-cluster-ip-range={}", plan.services),
        "--authorization-mode=Node,RBAC".to_owned(),
        format!("--enable-admission-plugins={}", plan.admission),
        "--allow-privileged=true".to_owned(),
    ];
    if plan.audited {
        lines.push(format!("--audit-policy-file={}", file("audit-policy.json")));
        lines.push(format!("--audit-log-path={}", file(AUDIT_LOG)));
        // In MB; from 100 on it would begin a new file, and what was counted by its lines would be lost.
        lines.push("--audit-log-maxsize=1000000".to_owned());
    }
    lines.extend(aggregation(&file));
    if plan.nodes {
        lines.push(format!("--advertise-address={address}"));
    } else {
        // Nobody could reach an advertised loopback address, so it is refused.
        lines.push("--endpoint-reconciler-type=none".to_owned());
    }
    if !plan.controllers {
        // Nobody makes the default ServiceAccount that this plugin insists on.
        lines.push("--disable-admission-plugins=ServiceAccount".to_owned());
    }
    Process::new(workspace, "kube-apiserver", super::arguments(program, &lines))
}

/// What an API that another server serves, such as metrics-server's, needs to know who asks.
fn aggregation(file: &dyn Fn(&str) -> String) -> [String; 7] {
    [
        format!("--proxy-client-cert-file={}", file("keys/front-proxy.crt")),
        format!("--proxy-client-key-file={}", file("keys/front-proxy.key")),
        format!("--requestheader-client-ca-file={}", file("keys/ca.crt")),
        format!("--requestheader-allowed-names={FRONT_PROXY}"),
        "--requestheader-username-headers=X-Remote-User".to_owned(),
        "--requestheader-group-headers=X-Remote-Group".to_owned(),
        "--requestheader-extra-headers-prefix=X-Remote-Extra-".to_owned(),
    ]
}
