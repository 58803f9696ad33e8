//! Reads from a program's own header which loader it asks for. Only 64-bit little-endian ELF; runs
//! nothing.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

const SEGMENT_INTERPRETER: u32 = 3;

/// The loader that the program at `path` asks for, such as `/lib64/ld-linux-x86-64.so.2`; none if it
/// is linked statically. An error of the kind `InvalidData` if it is no program of the known format.
pub(crate) fn interpreter(path: &Path) -> io::Result<Option<PathBuf>> {
    let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
    let file = File::open(path)?;
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).map_err(|_| invalid("too short for a program"))?;
    if !header.starts_with(b"\x7fELF\x02\x01") {
        return Err(invalid("not a 64-bit little-endian ELF program"));
    }
    let table = number(&header[0x20..0x28]);
    let (entry_size, count) = (number(&header[0x36..0x38]), number(&header[0x38..0x3a]));
    for index in 0..count {
        let mut segment = [0; 56];
        file.read_exact_at(&mut segment, table.saturating_add(index * entry_size))?;
        if number(&segment[..4]) == u64::from(SEGMENT_INTERPRETER) {
            let (offset, size) = (number(&segment[0x08..0x10]), number(&segment[0x20..0x28]));
            // The longest path there is; a larger size is a damaged header.
            let size = usize::try_from(size).ok().filter(|size| *size <= 4096);
            let mut name = vec![0; size.ok_or_else(|| invalid("an endless loader name"))?];
            file.read_exact_at(&mut name, offset)?;
            name.retain(|byte| *byte != 0);
            return Ok(Some(std::ffi::OsString::from_vec(name).into()));
        }
    }
    Ok(None)
}

fn number(little_endian: &[u8]) -> u64 {
    little_endian.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_program_itself_asks_for_the_loader_that_runs_it() {
        let loader = interpreter(&std::env::current_exe().unwrap()).unwrap().unwrap();
        assert!(loader.exists(), "{}", loader.display());
    }

    #[test]
    fn a_program_without_an_interpreter_segment_is_static() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut header = [0; 64 + 56];
        header[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (header[0x20], header[0x36], header[0x38]) = (64, 56, 1);
        header[64] = 1; // a segment to load
        std::fs::write(file.path(), header).unwrap();
        assert_eq!(interpreter(file.path()).unwrap(), None);
    }

    #[test]
    fn a_script_is_no_program() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("#!/bin/sh\n{}", "#".repeat(100))).unwrap();
        let error = interpreter(file.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
    }
}
