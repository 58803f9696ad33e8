//! How kube-controller-manager and kube-scheduler are run: one of each, no leader election.

use std::path::Path;

use crate::control_plane::Plan;
use crate::process::Process;
use crate::workspace::Workspace;

pub(super) fn controller_manager(
    workspace: &Workspace,
    program: &Path,
    kubeconfig: &Path,
    plan: &Plan,
) -> Process {
    let file = |name: &str| workspace.path(name).display().to_string();
    let mut lines = common(kubeconfig);
    lines.extend([
        "--use-service-account-credentials=true".to_owned(),
        format!("--service-account-private-key-file={}", file("keys/tokens.key")),
        format!("--root-ca-file={}", file("keys/ca.crt")),
        format!("--service-cluster-ip-range={}", plan.services),
        "--allocate-node-cidrs=false".to_owned(), // the nodes come with theirs
        format!("--flex-volume-plugin-dir={}", file("volume-plugins")), // else it makes one under /usr
        // A lost node is known as lost within seconds, as the tests of it want.
        "--node-monitor-period=1s".to_owned(),
        "--node-monitor-grace-period=10s".to_owned(),
        // So is what an autoscaler thinks; it looks each 15 seconds otherwise.
        "--horizontal-pod-autoscaler-sync-period=5s".to_owned(),
    ]);
    Process::new(workspace, "kube-controller-manager", super::arguments(program, &lines))
}

pub(super) fn scheduler(workspace: &Workspace, program: &Path, kubeconfig: &Path) -> Process {
    Process::new(workspace, "kube-scheduler", super::arguments(program, &common(kubeconfig)))
}

fn common(kubeconfig: &Path) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(), // nobody asks them anything, and a port could be taken
    ]
}
