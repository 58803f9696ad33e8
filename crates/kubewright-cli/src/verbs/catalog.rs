//! `kubewright catalog`: writes a file-based catalogue with the bundle in it, and the Dockerfile of its image.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::Args;
use kubewright::generate::yaml;
use serde_json::Value;

use crate::bundle::{self, catalog};
use crate::output;
use crate::project::Project;
use crate::registry::Image;

#[derive(Debug, Args)]
pub(super) struct Catalog {
    /// The folder of the bundle
    #[arg(default_value = "bundle", value_name = "FOLDER")]
    folder: PathBuf,
    /// The bundle's image, where it was pushed to, with its tag or its digest [default: the project's with `-bundle`]
    #[arg(long, value_name = "IMAGE")]
    bundle_image: Option<Image>,
    /// The folder of the catalogue
    #[arg(long, default_value = "catalog", value_name = "FOLDER")]
    output: PathBuf,
}

impl Catalog {
    pub(super) fn run(self) -> anyhow::Result<()> {
        let Self { folder, bundle_image, output } = self;
        let bundle = bundle::read(&folder)?;
        let has_errors = bundle.findings().iter().any(|it| it.severity == bundle::Severity::Error);
        anyhow::ensure!(!has_errors, catalog::Error::Invalid);
        let image = match bundle_image {
            Some(image) => image.to_string(),
            None => Project::find()?.bundle_image_or(None)?.to_string(),
        };
        let package = catalog::package(&bundle)?;
        let path = output.join(package).join("catalog.yaml");
        let documents = catalog::with(&bundle, &image, &existing(&path)?)?;
        write(&path, &yaml::documents(&documents)?)?;
        let dockerfile = output.with_extension("Dockerfile");
        write(&dockerfile, &self::dockerfile(&output))?;
        output::write(format!("{}\n{}\n", path.display(), dockerfile.display()))
    }
}

/// What the catalogue holds already.
fn existing(path: &Path) -> anyhow::Result<Vec<Value>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let cannot = || format!("cannot read the catalogue {}", path.display());
    let text = std::fs::read_to_string(path).with_context(cannot)?;
    serde_saphyr::from_multiple(&text).with_context(cannot)
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let cannot = || format!("cannot write {}", path.display());
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(cannot)?;
    }
    std::fs::write(path, text).with_context(cannot)
}

/// The image that serves the catalogue; OLM 1 needs nothing of it but the files and the label.
fn dockerfile(folder: &Path) -> String {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    format!(
        "FROM quay.io/operator-framework/opm:latest\n\n\
         ENTRYPOINT [\"/bin/opm\"]\n\
         CMD [\"serve\", \"/configs\", \"--cache-dir=/tmp/cache\"]\n\n\
         ADD {name} /configs\n\
         RUN [\"/bin/opm\", \"serve\", \"/configs\", \"--cache-dir=/tmp/cache\", \"--cache-only\"]\n\n\
         LABEL operators.operatorframework.io.index.configs.v1=/configs\n"
    )
}
