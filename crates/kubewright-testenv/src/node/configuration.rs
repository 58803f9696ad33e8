//! What the programs of a node are told: files and command lines. Pure but for writing the files.
//!
//! Inside its mount namespace a node has its own /var/lib, /var/log and /run, so its programs use
//! the ordinary paths, and the machine's stay untouched.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::error::Error;
use crate::images::PAUSE_IMAGE;
use crate::node::{NodePlan, packages};
use crate::workspace::Workspace;

/// Kernel settings that belong to the whole machine and that the kubelet wants to be like this. The
/// node sees files with these values in their place, so the machine's are neither read nor changed.
const KERNEL_SETTINGS: [(&str, &str); 6] = [
    ("vm/overcommit_memory", "1"),
    ("vm/panic_on_oom", "0"),
    ("kernel/panic", "10"),
    ("kernel/panic_on_oops", "1"),
    ("kernel/keys/root_maxkeys", "1000000"),
    ("kernel/keys/root_maxbytes", "25000000"),
];

pub(super) fn cgroup(workspace: &Workspace, node: &str) -> String {
    format!("kubewright-{}-{node}", workspace.short_name())
}

pub(super) fn write(
    workspace: &Workspace,
    node: &str,
    number: u8,
    plan: &NodePlan,
) -> Result<(), Error> {
    for directory in ["var-lib", "var-log", "cni", "kernel"] {
        workspace.directory(&format!("{node}/{directory}"))?;
    }
    for (setting, value) in KERNEL_SETTINGS {
        workspace
            .write(&format!("{node}/kernel/{}", setting.replace('/', ".")), format!("{value}\n"))?;
    }
    workspace.write(&format!("{node}/cni/10-pods.conflist"), cni(plan, number))?;
    workspace.write(&format!("{node}/containerd.toml"), containerd(&workspace.path(node)))?;
    workspace.write(&format!("{node}/kubelet.json"), kubelet(workspace, node, number, plan))?;
    // No name server: what the cluster's DNS does not know is not asked for anywhere else.
    workspace.write(&format!("{node}/resolv.conf"), "# only the cluster's own DNS\n")?;
    Ok(())
}

/// Run inside the node's namespaces before its programs.
pub(super) fn boot_script(
    workspace: &Workspace,
    node: &str,
    number: u8,
    plan: &NodePlan,
) -> String {
    let (directory, addresses) = (workspace.path(node), plan.addresses);
    let directory = directory.display();
    let mut lines = vec![
        format!("hostname {node}"),
        "mount --make-rshared /".to_owned(),
        format!("mount --bind {directory}/var-lib /var/lib"),
        format!("mount --bind {directory}/var-log /var/log"),
        "mount -t tmpfs -o mode=755 tmpfs /run".to_owned(),
        "ip link set lo up".to_owned(),
        format!("ip address add {}/24 dev eth0", addresses.node(number)),
        "ip link set eth0 up".to_owned(),
        "echo 1 >/proc/sys/net/ipv4/ip_forward".to_owned(),
        // Else a node tells the host to go past it, straight to where a Service leads.
        "for f in /proc/sys/net/ipv4/conf/*/send_redirects; do echo 0 >$f; done".to_owned(),
        format!("ip route add unreachable {}", addresses.pods()),
        format!("ip route add {} dev eth0", addresses.services()),
    ];
    for (setting, _) in KERNEL_SETTINGS {
        let file = setting.replace('/', ".");
        lines.push(format!("[ ! -e /proc/sys/{setting} ] || mount --bind {directory}/kernel/{file} /proc/sys/{setting}"));
    }
    for other in (1..=plan.nodes).filter(|other| *other != number) {
        lines.push(format!(
            "ip route add {} via {}",
            addresses.pods_of(other),
            addresses.node(other)
        ));
    }
    lines.join("\n")
}

/// The command lines of a node's programs.
pub(super) struct Lines {
    pub(super) containerd: Vec<OsString>,
    pub(super) kubelet: Vec<OsString>,
    pub(super) kube_proxy: Vec<OsString>,
}

impl Lines {
    pub(super) fn new(workspace: &Workspace, node: &str, number: u8, plan: &NodePlan) -> Self {
        let directory = workspace.path(node);
        let directory = directory.display();
        let line = |program: PathBuf, arguments: &[String]| {
            let arguments = arguments.iter().map(OsString::from);
            std::iter::once(program.into_os_string()).chain(arguments).collect()
        };
        let kubelet = [
            format!("--config={directory}/kubelet.json"),
            format!("--kubeconfig={directory}/kubelet.kubeconfig"),
            format!("--hostname-override={node}"),
            format!("--node-ip={}", plan.addresses.node(number)),
        ];
        let kube_proxy = [
            format!("--kubeconfig={directory}/kube-proxy.kubeconfig"),
            format!("--hostname-override={node}"),
            format!("--cluster-cidr={}", plan.addresses.pods()),
            "--proxy-mode=nftables".to_owned(),
            "--bind-address=127.0.0.1".to_owned(),
            "--nodeport-addresses=primary".to_owned(),
            // These belong to the whole machine.
            "--conntrack-max-per-core=0".to_owned(),
            "--conntrack-tcp-timeout-established=0".to_owned(),
            "--conntrack-tcp-timeout-close-wait=0".to_owned(),
        ];
        Self {
            containerd: line(
                "containerd".into(),
                &[format!("--config={directory}/containerd.toml")],
            ),
            kubelet: line(plan.kubelet.clone(), &kubelet),
            kube_proxy: line(plan.kube_proxy.clone(), &kube_proxy),
        }
    }
}

fn cni(plan: &NodePlan, number: u8) -> String {
    let (pods, all) = (plan.addresses.pods_of(number), plan.addresses.all());
    let plugins = json!([{
        "type": "bridge", "bridge": "cni0", "isGateway": true, "ipMasq": false, "hairpinMode": true,
        "ipam": {
            "type": "host-local",
            "ranges": [[{ "subnet": pods }]],
            "routes": [{ "dst": all }], // and no default route: nothing else can be reached
        },
    }, { "type": "portmap", "capabilities": { "portMappings": true } }]);
    format!("{:#}\n", json!({ "cniVersion": "1.0.0", "name": "pods", "plugins": plugins }))
}

fn containerd(directory: &Path) -> String {
    let cni = packages::cni_directory().unwrap_or_default();
    let (cni, configuration) = (cni.display(), directory.join("cni"));
    let configuration = configuration.display();
    // `restrict_oom_score_adj`: without CAP_SYS_RESOURCE runc cannot lower it and no pod would start.
    format!(
        r#"version = 2
disabled_plugins = ["io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs", "io.containerd.internal.v1.tracing"]
[plugins."io.containerd.internal.v1.opt"]
  path = "/var/lib/containerd/opt"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "{PAUSE_IMAGE}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "{cni}"
    conf_dir = "{configuration}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
  [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
"#
    )
}

fn kubelet(workspace: &Workspace, node: &str, number: u8, plan: &NodePlan) -> String {
    let file = |name: &str| workspace.path(name).display().to_string();
    let configuration = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": plan.addresses.node(number),
        "authentication": {
            "anonymous": { "enabled": false },
            "webhook": { "enabled": true },
            "x509": { "clientCAFile": file("keys/ca.crt") },
        },
        "authorization": { "mode": "Webhook" },
        "failCgroupV1": false,
        "failSwapOn": false,
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": format!("/{}", cgroup(workspace, node)),
        "enforceNodeAllocatable": [],
        "makeIPTablesUtilChains": false,
        "containerRuntimeEndpoint": "unix:///run/containerd/containerd.sock",
        "volumePluginDir": "/var/lib/kubelet/volume-plugins", // the default is under /usr
        "clusterDomain": "cluster.local",
        "clusterDNS": [plan.addresses.dns()],
        "resolvConf": file(&format!("{node}/resolv.conf")),
        // Seconds instead of minutes until the cluster knows: tests wait for it.
        "nodeStatusUpdateFrequency": "2s",
        "nodeStatusReportFrequency": "10s",
        "nodeLeaseDurationSeconds": 8,
        "syncFrequency": "10s",
        "serializeImagePulls": false,
        // What is imported cannot be pulled again, so no image is ever removed for space.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": { "memory.available": "100Mi", "nodefs.available": "1%", "imagefs.available": "1%" },
    });
    format!("{configuration:#}\n")
}
