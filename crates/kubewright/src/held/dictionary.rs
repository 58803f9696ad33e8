//! What the objects of a kind have in common, kept once for all of them.

use std::sync::Arc;

use lz4_flex::block;

use super::Content;
use crate::raw::Raw;

/// More is of no use: the compressor's table has room for so much, and forgets what came first.
const MOST: usize = 12 * 1024;
/// One may be atypical; more than these cost space and bring little.
const SAMPLES: usize = 3;

/// The dictionary that is best for the objects of a kind as they are now.
#[derive(Default)]
pub(crate) struct Vocabulary {
    dictionary: Dictionary,
    /// How long the longest object was that it was learned from.
    longest: usize,
}

impl Vocabulary {
    /// From some objects of the kind, held by `manager`; the more typical they are, the better.
    pub(crate) fn of(objects: &[Raw], manager: &str) -> Self {
        let (mut bytes, mut longest) = (Vec::new(), 0);
        for raw in objects.iter().step_by((objects.len() / SAMPLES).max(1)).take(SAMPLES) {
            let mut sample = Content::of(raw, manager).bytes;
            sample.truncate(MOST - bytes.len());
            longest = longest.max(sample.len());
            bytes.append(&mut sample);
        }
        Self { dictionary: Dictionary(Arc::new(bytes.into())), longest }
    }

    /// Objects grow after they are made: they get a status, and more fields become ours. One that is longer
    /// by a quarter is learned, besides what was known, so that a kind learns a dozen times at most.
    pub(super) fn learn(&mut self, bytes: &[u8]) -> &Dictionary {
        if bytes.len() > self.longest + self.longest / 4 && bytes.len() <= MOST / 2 {
            let known = &*self.dictionary.0;
            let kept = known.len().min(MOST - bytes.len());
            let learned = [&known[known.len() - kept..], bytes].concat();
            *self = Self { dictionary: Dictionary(Arc::new(learned.into())), longest: bytes.len() };
        }
        &self.dictionary
    }
}

/// The text that objects are compressed against. Whoever holds a block holds its dictionary, so a kind may
/// get a new one at any time.
#[derive(Clone, Debug, Default)]
pub(super) struct Dictionary(pub(super) Arc<Box<[u8]>>);

impl Dictionary {
    pub(super) fn compress(&self, bytes: &[u8]) -> Box<[u8]> {
        block::compress_with_dict(bytes, &self.0).into()
    }

    /// The bytes of a block of `length` bytes; empty if it is none of this dictionary.
    pub(super) fn decompress(&self, bytes: &[u8], length: usize) -> Vec<u8> {
        block::decompress_with_dict(bytes, length, &self.0).unwrap_or_default()
    }
}
