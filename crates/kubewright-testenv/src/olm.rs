//! The Operator Lifecycle Manager for a cluster that reaches no registry: its images and its manifests, from
//! pinned Go modules, kept in the cache under their version.
//!
//! Owns what is built and how the chart is rendered. Must not change what it renders, nor put anything on a
//! cluster: that is for whoever installs.

use std::fs;
use std::path::{Path, PathBuf};

use crate::binaries::{Binaries, Binary, OLM_VERSION, OPM_VERSION, REGISTRY_VERSION, source};
use crate::cache::Cache;
use crate::error::Error;
use crate::helm::Helm;
use crate::images::Images;
use crate::progress::Progress;
use crate::version::KubernetesVersion;

const MODULE: &str = "github.com/operator-framework/operator-lifecycle-manager";
/// Where the chart is in the module.
const CHART: &str = "deploy/chart";
/// As OLM's own releases are rendered.
const VALUES: &str = "installType=upstream,namespace=olm,catalog_namespace=olm,\
                      operator_namespace=operators";
/// Part of the cache key: to be raised when the rendering changes.
const RECIPE: u32 = 1;
/// The first is what the image starts; the unpack job looks for the others by name.
const PROGRAMS: [Binary; 4] = [Binary::Olm, Binary::OlmCatalog, Binary::PackageServer, Binary::Cpb];

/// What an OLM is installed from.
#[derive(Debug)]
pub struct Built {
    /// All objects, as the chart has them: the images are still upstream's.
    pub manifests: PathBuf,
    /// The images for the nodes, as tars: [`olm_image`](crate::images::olm_image) and
    /// [`opm_image`](crate::images::opm_image).
    pub images: [PathBuf; 2],
}

/// Builds what is not in the cache yet; minutes the first time. Blocks: call it from a blocking task.
pub fn built(cache: &Cache, progress: Progress) -> Result<Built, Error> {
    let version = KubernetesVersion::newest(); // of no import to these programs
    let binaries = Binaries::new(cache.clone(), version, progress)?;
    let find = |binary: Binary| binaries.find(binary);
    let olm = PROGRAMS.into_iter().map(find).collect::<Result<Vec<_>, _>>()?;
    let opm = [Binary::Opm, Binary::GrpcHealthProbe].map(find);
    let opm = opm.into_iter().collect::<Result<Vec<_>, _>>()?;
    let images = Images::new(cache.clone(), progress);
    let images = [images.olm(&olm, OLM_VERSION)?, images.opm(&opm, OPM_VERSION)?];
    Ok(Built { manifests: manifests(cache, progress)?, images })
}

/// The image of a registry, for tests of what pulls from one.
pub fn registry(cache: &Cache, progress: Progress) -> Result<PathBuf, Error> {
    let binaries = Binaries::new(cache.clone(), KubernetesVersion::newest(), progress)?;
    let binary = binaries.find(Binary::Registry)?;
    Ok(Images::new(cache.clone(), progress).registry(&binary, REGISTRY_VERSION)?)
}

fn manifests(cache: &Cache, progress: Progress) -> Result<PathBuf, Error> {
    let entry = cache.entry(&format!("olm/v{OLM_VERSION}/manifests-r{RECIPE}.yaml"));
    entry.ensure(progress, |out| {
        progress.step(&format!("rendering the manifests of OLM {OLM_VERSION}"), || render(out))
    })?
}

fn render(out: &Path) -> Result<(), Error> {
    let module = source(MODULE, Binary::Olm, &out.with_extension("source"))?;
    let chart = module.join(CHART);
    let arguments = format!("template olm {} --include-crds --set {VALUES}", chart.display());
    let failed = |output| Error::Command { command: format!("helm {arguments}"), output };
    let text = Helm::find()?.run(&arguments).map_err(failed)?;
    fs::write(out, text).map_err(Error::io("write", out))
}
