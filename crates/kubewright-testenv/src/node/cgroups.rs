//! The cgroup of a node, in every hierarchy that the machine has: version 1 controllers, version 2,
//! or both.

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// Makes the cgroup `name`, which the keeper knows by the environment's short name in it.
pub(super) fn create(name: &str) -> Result<(), Error> {
    let mounts =
        fs::read_to_string("/proc/mounts").map_err(Error::io("read", "/proc/mounts".as_ref()))?;
    for root in hierarchies(&mounts) {
        let path = root.join(name);
        if path.exists() {
            continue; // the node was on before
        }
        fs::create_dir(&path).map_err(Error::io("create", &path))?;
        // A new cpuset is empty and takes no process; one of version 2 inherits.
        for file in ["cpuset.cpus", "cpuset.mems"] {
            copy_if_there(&root.join(file), &path.join(file))?;
        }
        if root.join("cgroup.subtree_control").exists() {
            enable_controllers(&root)?;
        }
    }
    Ok(())
}

/// Where hierarchies are mounted, out of /proc/mounts.
fn hierarchies(mounts: &str) -> Vec<PathBuf> {
    let fields = mounts.lines().map(|line| line.split(' ').collect::<Vec<_>>());
    fields
        .filter(|fields| matches!(fields.get(2), Some(&("cgroup" | "cgroup2"))))
        .filter_map(|fields| fields.get(1).map(PathBuf::from))
        .filter(|path| path.starts_with("/sys/fs/cgroup"))
        .collect()
}

fn copy_if_there(from: &Path, to: &Path) -> Result<(), Error> {
    let Ok(value) = fs::read_to_string(from) else {
        return Ok(());
    };
    fs::write(to, value).map_err(Error::io("write", to))
}

/// Version 2 hands controllers down only when told to.
fn enable_controllers(root: &Path) -> Result<(), Error> {
    let available = fs::read_to_string(root.join("cgroup.controllers")).unwrap_or_default();
    let file = root.join("cgroup.subtree_control");
    let enabled = fs::read_to_string(&file).unwrap_or_default();
    for controller in available.split_whitespace() {
        let wanted = ["cpu", "cpuset", "io", "memory", "pids", "hugetlb"].contains(&controller);
        if wanted && !enabled.split_whitespace().any(|one| one == controller) {
            fs::write(&file, format!("+{controller}")).map_err(Error::io("write", &file))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_of_hierarchies_are_found() {
        let mounts = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\n\
                      cgroup /sys/fs/cgroup/memory cgroup rw,memory 0 0\n\
                      cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\n\
                      cgroup /elsewhere/memory cgroup rw 0 0\n";
        let expected = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified"].map(PathBuf::from);
        assert_eq!(hierarchies(mounts), expected);
    }
}
