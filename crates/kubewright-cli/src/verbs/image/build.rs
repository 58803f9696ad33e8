//! `kubewright image build`: a file with the image of the operator, or of its bundle.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use kubewright_testenv::images::BinaryImage;

use super::{binary, bundle, engine};
use crate::archive::{self, Archive, megabytes};
use crate::output;
use crate::project::Project;
use crate::registry::Reference;

/// A user that nobody is, as in the images that others call `nonroot`.
const USER: &str = "65532:65532";

#[derive(Debug, Args)]
pub(in crate::verbs) struct Build {
    /// The name of the image, such as example.com/operator:v1
    #[arg(long, value_name = "IMAGE")]
    image: Reference,
    /// Where to write it [default: kubewright/images under cargo's target folder]
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The folder of an OLM bundle, whose image is built instead of the operator's
    #[arg(long, value_name = "FOLDER")]
    bundle: Option<PathBuf>,
}

impl Build {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let project = Project::find()?;
        let image = self.image.to_string();
        let path = match &self.output {
            Some(path) => path.clone(),
            None => archive::place(&project, &image)?,
        };
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)
                .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        }
        // Whoever loads it meanwhile finds the old one or the new one.
        let partial = path.with_extension("partial");
        match &self.bundle {
            Some(folder) => bundle::write(folder, &image, &partial)?,
            None => self.write_operator(&project, &partial)?,
        }
        std::fs::rename(&partial, &path)
            .with_context(|| format!("cannot write {}", path.display()))?;
        let engine = engine::load(&path)?;
        output::write(self.summary(&path, engine)?)
    }

    fn write_operator(&self, project: &Project, out: &Path) -> anyhow::Result<()> {
        let binary = binary::build(project)?;
        let mut labels = vec![
            ("org.opencontainers.image.title", project.name.as_str()),
            ("org.opencontainers.image.version", self.image.tag.as_str()),
        ];
        if let Some(repository) = &project.repository {
            labels.push(("org.opencontainers.image.source", repository));
        }
        let image = BinaryImage {
            name: &self.image.to_string(),
            binary: &binary,
            user: Some(USER),
            entrypoint: &[&format!("/{}", project.name)],
            labels: &labels,
        };
        image.write(out)?;
        Ok(())
    }

    fn summary(&self, path: &Path, engine: Option<&str>) -> anyhow::Result<String> {
        let Self { image, .. } = self;
        let id = Archive::open(path, &image.to_string())?.id();
        let size = megabytes(std::fs::metadata(path)?.len());
        let mut lines = vec![
            format!("{image} built: {size}, {id}"),
            String::new(),
            format!("  file    {}", path.display()),
        ];
        lines.extend(engine.map(|engine| format!("  engine  {engine} has it too")));
        if self.bundle.is_none() {
            lines.push(format!("  local   kubewright image load {image}"));
        }
        lines.push(format!("  push    kubewright image push {image}"));
        Ok(format!("{}\n", lines.join("\n")))
    }
}
