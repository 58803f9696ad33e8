//! `kubewright dev load`: gives an image to the container runtime of every node.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Context as _;
use clap::Args;
use kubewright_testenv::containerd_socket;
use kubewright_testenv::progress::Progress;

use super::observed;
use super::record::Record;

#[derive(Debug, Args)]
pub(in crate::verbs) struct Load {
    /// A tar file, or the full name of an image such as docker.io/library/nginx:1.29
    #[arg(required = true, value_name = "IMAGE")]
    images: Vec<String>,
}

impl Load {
    /// For one image.
    pub(super) fn of(image: &str) -> Self {
        Self { images: vec![image.to_owned()] }
    }

    pub(super) fn run(&self) -> anyhow::Result<()> {
        let nodes = takers()?;
        for image in &self.images {
            for (node, init) in &nodes {
                let step = format!("giving {image} to {node}");
                Progress::Shown.step(&step, || load(image, *init))?;
            }
        }
        Ok(())
    }
}

/// The nodes that run and the first process of each; an error that says what to do if there are none.
pub(super) fn takers() -> anyhow::Result<Vec<(String, u32)>> {
    let nodes = nodes(&observed::present()?.record);
    anyhow::ensure!(
        !nodes.is_empty(),
        "this cluster has no nodes to give an image to: \
         run `kubewright dev down`, then `kubewright dev up --nodes 1`"
    );
    Ok(nodes)
}

/// The nodes and the first process of each.
fn nodes(record: &Record) -> Vec<(String, u32)> {
    let inits = record
        .processes
        .iter()
        .filter_map(|(name, id)| Some((name.strip_suffix("/init")?, (*id)?)));
    inits.map(|(name, id)| (name.to_owned(), id)).collect()
}

fn load(image: &str, init: u32) -> anyhow::Result<()> {
    let is_file = Path::new(image).is_file();
    anyhow::ensure!(
        is_file || !(image.starts_with(['/', '.']) || has_tar_extension(image)),
        "there is no file {image}"
    );
    anyhow::ensure!(
        is_file || image.contains('/'),
        "{image} is neither a file nor the full name of an image, \
         such as docker.io/library/{image}"
    );
    let mut command = Command::new("ctr");
    command.arg("-a").arg(containerd_socket(init)).args(["-n", "k8s.io", "images"]);
    command.arg(if is_file { "import" } else { "pull" });
    if !is_file && pulls_in_the_daemon() {
        command.arg("--local"); // the daemon has no way out, this command has
    }
    command.arg(image);
    let output = command.stdin(Stdio::null()).output().context("cannot run `ctr`")?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "cannot load {image}: {}", complaint.trim());
    Ok(())
}

/// Since version 2 of containerd `ctr` leaves pulling to the daemon, unless told otherwise.
fn pulls_in_the_daemon() -> bool {
    let help = Command::new("ctr").args(["images", "pull", "--help"]).output();
    help.is_ok_and(|help| String::from_utf8_lossy(&help.stdout).contains("--local"))
}

fn has_tar_extension(image: &str) -> bool {
    Path::new(image).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tar"))
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::record;
    use super::*;

    #[test]
    fn an_image_goes_to_every_node() {
        let mut record = record();
        record.processes.insert("node-1/init".to_owned(), Some(21));
        record.processes.insert("node-2/init".to_owned(), Some(22));
        assert_eq!(nodes(&record), [("node-1".to_owned(), 21), ("node-2".to_owned(), 22)]);
    }

    #[test]
    fn a_file_that_is_not_there_is_not_taken_for_a_name() {
        let error = load("./none.tar", 1).unwrap_err().to_string();
        assert_eq!(error, "there is no file ./none.tar");
    }
}
