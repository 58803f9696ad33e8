//! `bundle/size…`: a bundle is unpacked into one ConfigMap, compressed, and that has a limit.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::{Bundle, Findings};

const LIMIT: usize = 1 << 20;
const NEAR: usize = LIMIT / 100 * 85;

pub(super) fn check(bundle: &Bundle, findings: &mut Findings) {
    let size: usize = bundle.files.values().map(|content| compressed(content)).sum();
    let remedy = "Shorten descriptions of fields, or leave out definitions that nobody needs.";
    let wrong = format!("the bundle has {size} bytes compressed, of {LIMIT} at most");
    if size > LIMIT {
        findings.error("bundle/size", ".", wrong, remedy);
    } else if size > NEAR {
        findings.warning("bundle/size-near", ".", wrong, remedy);
    }
}

/// How many bytes a file takes there: compressed, then as text.
fn compressed(content: &[u8]) -> usize {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    // Writing to memory cannot fail.
    let written = encoder.write_all(content).and_then(|()| encoder.finish());
    written.map_or(0, |bytes| bytes.len().div_ceil(3) * 4)
}
