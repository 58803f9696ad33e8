//! What the objects of a kind have in common, kept once for all of them.

use std::sync::Arc;

use lz4_flex::block;

use super::Content;
use crate::raw::Raw;

/// More is of no use: the compressor's table has room for so much, and forgets what came first.
const MOST: usize = 12 * 1024;
/// One may be atypical; more than these cost space and bring little.
const SAMPLES: usize = 3;

/// The text that objects of a kind are compressed against. Whoever holds a block holds its dictionary, so
/// a kind may get a new one at any time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary(Arc<Box<[u8]>>);

impl Dictionary {
    /// From some objects of the kind, held by `manager`; the more typical they are, the better.
    pub(crate) fn of(objects: &[Raw], manager: &str) -> Self {
        let mut bytes = Vec::new();
        for raw in objects.iter().step_by((objects.len() / SAMPLES).max(1)).take(SAMPLES) {
            let mut sample = Content::of(raw, manager).bytes;
            sample.truncate(MOST - bytes.len());
            bytes.append(&mut sample);
        }
        Self(Arc::new(bytes.into()))
    }

    pub(super) fn compress(&self, bytes: &[u8]) -> Box<[u8]> {
        block::compress_with_dict(bytes, &self.0).into()
    }

    /// The bytes of a block of `length` bytes; empty if it is none of this dictionary.
    pub(super) fn decompress(&self, bytes: &[u8], length: usize) -> Vec<u8> {
        block::decompress_with_dict(bytes, length, &self.0).unwrap_or_default()
    }
}
