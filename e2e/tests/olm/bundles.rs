//! The bundles of the test: two releases of the operator in the registry, and as folders, one whose operator cannot
//! start, and that of another operator, which has webhooks.

use std::path::PathBuf;

use memcached_e2e::image::Build;

use crate::menus::Menus;
use crate::place::Place;
use crate::registry::Registry;

pub(crate) struct Bundles {
    /// Images.
    pub(crate) first: String,
    pub(crate) second: String,
    /// The same as folders.
    pub(crate) folder: PathBuf,
    pub(crate) second_folder: PathBuf,
    /// One whose operator has no image.
    pub(crate) broken: PathBuf,
    /// What the registry does not have.
    pub(crate) missing: String,
    /// What this machine can read, and the nodes cannot.
    pub(crate) unreachable: String,
    /// The project of the operator with webhooks.
    pub(crate) menus: Menus,
}

impl Bundles {
    pub(crate) fn publish(place: &Place, registry: &Registry) -> Self {
        let make = |name: &str, version: &str, image: &str| {
            let folder = place.folder().join(name);
            place.succeeds(&format!(
                "bundle --output {} --version {version} --channels stable --image {image}",
                folder.display()
            ));
            folder
        };
        let push = |folder: &PathBuf, name: &str| {
            let image = registry.image(name);
            place.succeeds(&format!("bundle build {} --image {image}", folder.display()));
            place.succeeds(&format!("bundle push {image}"));
            image
        };
        let folder = make("first", "0.0.1", Build::Shipped.name());
        let second = make("second", "0.0.2", Build::Other.name());
        Self {
            first: push(&folder, "memcached-operator-bundle:v0.0.1"),
            second: push(&second, "memcached-operator-bundle:v0.0.2"),
            broken: make("broken", "0.0.1", "localhost/none:1"),
            missing: registry.image("none:v1"),
            unreachable: registry.image_for_this_machine("memcached-operator-bundle:v0.0.1"),
            menus: Menus::make(place),
            folder,
            second_folder: second,
        }
    }
}
