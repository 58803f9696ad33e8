//! An image of one statically linked program and nothing else. Runs nothing; refuses a program that
//! would need libraries, since such an image only fails when its container is started.

use std::collections::BTreeMap;
use std::path::Path;

use super::recipes::base_files;
use super::{ImageError, ImageSpec, Source, elf};

/// What the image of a static program is made from.
#[derive(Clone, Copy, Debug)]
pub struct BinaryImage<'a> {
    /// The full name, such as `localhost/example/operator:dev`.
    pub name: &'a str,
    /// The program on this machine.
    pub binary: &'a Path,
    /// Whom it runs as: numbers, such as `65532:65532`. Root if absent.
    pub user: Option<&'a str>,
    /// The absolute path in the image where the program is put, then its first arguments.
    pub entrypoint: &'a [&'a str],
    /// What the image says of itself, as pairs of name and value.
    pub labels: &'a [(&'a str, &'a str)],
}

impl BinaryImage<'_> {
    /// Writes the image to `out` as a docker-archive.
    pub fn write(&self, out: &Path) -> Result<(), ImageError> {
        self.check()?;
        let mut files = base_files(&[]);
        let place = self.entrypoint.first().copied().unwrap_or_default();
        files.insert(place.into(), Source::HostFile(self.binary.to_owned()));
        let spec = ImageSpec {
            name: self.name.to_owned(),
            entrypoint: self.entrypoint.iter().map(|&word| word.to_owned()).collect(),
            env: BTreeMap::new(),
            user: self.user.map(str::to_owned),
            labels: self.labels.iter().map(|&(name, value)| (name.into(), value.into())).collect(),
            files,
        };
        spec.write(out)
            .map_err(|source| ImageError::Archive { image: self.name.to_owned(), source })
    }

    fn check(&self) -> Result<(), ImageError> {
        match elf::interpreter(self.binary) {
            Ok(None) => Ok(()),
            Ok(Some(loader)) => {
                Err(ImageError::NotStatic { binary: self.binary.to_owned(), loader })
            }
            Err(source) => Err(ImageError::Binary { binary: self.binary.to_owned(), source }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn image<'a>(binary: &'a Path, entrypoint: &'a [&'a str]) -> BinaryImage<'a> {
        BinaryImage { name: "localhost/a:1", binary, user: None, entrypoint, labels: &[] }
    }

    #[test]
    fn a_program_that_needs_libraries_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let binary = std::env::current_exe().unwrap();
        let image = image(&binary, &["/a"]);
        let error = image.write(&directory.path().join("image.tar")).unwrap_err();
        assert!(matches!(error, ImageError::NotStatic { .. }), "{error:?}");
    }

    #[test]
    fn an_image_without_a_place_for_its_program_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let binary = directory.path().join("static");
        let mut header = [0; 64];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        std::fs::write(&binary, header).unwrap();
        let image = image(&binary, &[]);
        let out = directory.path().join("image.tar");
        assert!(matches!(image.write(&out).unwrap_err(), ImageError::Archive { .. }));
        BinaryImage { entrypoint: &["/manager"], ..image }.write(&out).unwrap();
    }
}
