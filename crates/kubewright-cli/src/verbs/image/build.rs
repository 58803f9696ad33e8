//! `kubewright image build`: a file with the image of the operator, or of its bundle.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use kubewright_testenv::images::BinaryImage;
use serde::Serialize;

use super::super::dev;
use super::{binary, bundle, engine};
use crate::archive::{self, Archive, megabytes};
use crate::output::Format;
use crate::project::Project;
use crate::registry::Reference;

/// A user that nobody is, as in the images that others call `nonroot`.
const USER: &str = "65532:65532";

#[derive(Debug, Default, Args)]
pub(in crate::verbs) struct Build {
    /// The name of the image, such as example.com/operator:v1 [default: the project's]
    #[arg(long, value_name = "IMAGE")]
    image: Option<Reference>,
    /// Where to write it [default: kubewright/images under cargo's target folder]
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
    /// The folder of an OLM bundle, whose image is built instead of the operator's; its name is the
    /// project's with `-bundle`
    #[arg(long, value_name = "FOLDER")]
    bundle: Option<PathBuf>,
    /// Give it to all nodes of the local Kubernetes too
    #[arg(long, conflicts_with = "bundle")]
    load: bool,
    #[command(flatten)]
    format: Format,
}

/// What came of it.
#[derive(Serialize)]
struct Built<'a> {
    name: &'a str,
    id: String,
    file: &'a Path,
    bytes: u64,
}

impl Build {
    /// The operator's image, called `image`.
    pub(super) fn of(image: Reference) -> Self {
        Self { image: Some(image), ..Self::default() }
    }

    /// The image of the bundle in `folder`.
    pub(super) fn of_bundle(folder: PathBuf, image: Option<Reference>, format: Format) -> Self {
        Self { bundle: Some(folder), image, format, ..Self::default() }
    }

    pub(super) fn run(self) -> anyhow::Result<()> {
        if self.load {
            dev::expect_nodes()?;
        }
        let project = Project::find()?;
        let image = self.name(&project)?;
        let name = image.to_string();
        let path = match &self.file {
            Some(path) => path.clone(),
            None => archive::place(&project, &name)?,
        };
        self.write(&project, &image, &path)?;
        let engine = engine::load(&path)?;
        if self.load {
            dev::give(&path.display().to_string())?;
        }
        let id = Archive::open(&path, &name)?.id();
        let built = Built { name: &name, id, file: &path, bytes: std::fs::metadata(&path)?.len() };
        self.format.answer(&built, || self.summary(&built, engine))
    }

    fn name(&self, project: &Project) -> anyhow::Result<Reference> {
        match self.bundle {
            Some(_) => project.bundle_image_or(self.image.clone()),
            None => project.image_or(self.image.clone()),
        }
    }

    fn write(&self, project: &Project, image: &Reference, path: &Path) -> anyhow::Result<()> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder)
            .with_context(|| format!("cannot make the folder {}", folder.display()))?;
        // Whoever loads it meanwhile finds the old one or the new one, and two builds do not meet.
        let partial = tempfile::Builder::new()
            .prefix(".image-")
            .permissions(Permissions::from_mode(0o666)) // less what the user's umask takes away
            .tempfile_in(folder)
            .with_context(|| format!("cannot write to {}", folder.display()))?
            .into_temp_path();
        match &self.bundle {
            Some(folder) => bundle::write(folder, &image.to_string(), &partial)?,
            None => write_operator(project, image, &partial)?,
        }
        partial.persist(path).with_context(|| format!("cannot write {}", path.display()))
    }

    fn summary(&self, built: &Built<'_>, engine: Option<&str>) -> String {
        let Built { name, id, file, bytes } = built;
        let mut lines = vec![
            format!("{name} built: {}, {id}", megabytes(*bytes)),
            String::new(),
            format!("  file    {}", file.display()),
        ];
        lines.extend(engine.map(|engine| format!("  engine  {engine} has it too")));
        if self.load {
            lines.push("  local   on all nodes; `kubewright deploy` runs it".to_owned());
        } else if self.bundle.is_none() {
            lines.push(format!("  local   kubewright image load {name}"));
        }
        lines.push(format!("  push    kubewright image push {name}"));
        format!("{}\n", lines.join("\n"))
    }
}

fn write_operator(project: &Project, image: &Reference, out: &Path) -> anyhow::Result<()> {
    let binary = binary::build(project)?;
    let mut labels = vec![
        ("org.opencontainers.image.title", project.name.as_str()),
        ("org.opencontainers.image.version", image.tag.as_str()),
    ];
    if let Some(repository) = &project.repository {
        labels.push(("org.opencontainers.image.source", repository));
    }
    let image = BinaryImage {
        name: &image.to_string(),
        binary: &binary,
        user: Some(USER),
        entrypoint: &[&format!("/{}", project.name)],
        labels: &labels,
    };
    image.write(out)?;
    Ok(())
}
