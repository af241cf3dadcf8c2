//! Which columns are summed by table look-up, and their bits in the order in which the tables want them.

use crate::BitMask;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Rows in one table.
pub(super) const TABLE_ROWS: usize = 5;
/// Tables in use at one time.
pub(super) const TABLES: usize = 8;
/// Rows that all tables together cover: five bytes of a mask.
pub(super) const BLOCK_ROWS: usize = TABLE_ROWS * TABLES;
const BLOCK_BYTES: usize = BLOCK_ROWS / 8;

/// Columns whose bits are brought into order together.
const TRANSPOSE: usize = 64;

/// Rows beyond which tables serve sooner: sums row by row no longer stay in registers.
const MANY: usize = 128;

/// Whether a sum of `count` out of `rows` vectors of a given length is made by table look-up. The others, over few
/// rows (two fifths of some, a quarter of many) or over all but few, are made row by row; the break-even was measured.
pub(super) fn is_long(count: usize, rows: usize, length: usize) -> bool {
    let short = rows / if length < 64 { 128 } else { 64 };
    let few = if rows > MANY {
        count <= rows / 4
    } else {
        5 * count <= 2 * rows
    };
    !few && rows - count > short
}

/// The long sums among a range of columns.
pub(super) struct Plan {
    /// (column of the range, position among the distinct ones).
    columns: Vec<(u32, u32)>,
    /// Bits of all distinct columns for the first [`BLOCK_ROWS`] rows, then for the next ones.
    words: Vec<u64>,
    distinct: usize,
}

impl Plan {
    /// Plan for the columns `first..`, of which `long` marks those with long sums.
    pub(super) fn new(mask: &BitMask, first: usize, long: &[bool]) -> Self {
        Self::with(mask, first, long, fingerprint)
    }

    fn with(
        mask: &BitMask,
        first: usize,
        long: &[bool],
        fingerprint: impl Fn(&[u8]) -> u64,
    ) -> Self {
        let mut columns = Vec::with_capacity(long.len());
        let mut distinct: Vec<&[u8]> = Vec::new();
        let mut seen: HashMap<u64, u32, BuildHasherDefault<Hashed>> =
            HashMap::with_capacity_and_hasher(long.len(), BuildHasherDefault::default());
        for (column, _) in long.iter().enumerate().filter(|(_, long)| **long) {
            let bytes = mask.column_bytes(first + column);
            let next = distinct.len() as u32;
            let first = *seen.entry(fingerprint(bytes)).or_insert(next);
            // of two columns that differ but share a fingerprint, the second is never shared
            let source = if first < next && distinct[first as usize] == bytes {
                first
            } else {
                distinct.push(bytes);
                next
            };
            columns.push((column as u32, source));
        }
        let blocks = mask.rows().div_ceil(BLOCK_ROWS);
        let mut words = vec![0; blocks * distinct.len()];
        for (group, sources) in distinct.chunks(TRANSPOSE).enumerate() {
            for block in 0..blocks {
                let at = block * distinct.len() + group * TRANSPOSE;
                for (word, bytes) in words[at..].iter_mut().zip(sources) {
                    *word = block_word(bytes, block);
                }
            }
        }
        Self {
            columns,
            words,
            distinct: distinct.len(),
        }
    }

    /// Number of distinct columns.
    pub(super) fn distinct(&self) -> usize {
        self.distinct
    }

    /// Columns of the range, each with its position among the distinct ones.
    pub(super) fn columns(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.columns
            .iter()
            .map(|&(column, source)| (column as usize, source as usize))
    }

    /// Bits of the distinct columns, block of rows by block of rows.
    #[inline(always)]
    pub(super) fn blocks(&self) -> std::slice::ChunksExact<'_, u64> {
        self.words.chunks_exact(self.distinct)
    }
}

/// Bits of one column from one block of rows on; those of the block are the lowest [`BLOCK_ROWS`].
fn block_word(bytes: &[u8], block: usize) -> u64 {
    let bytes = &bytes[block * BLOCK_BYTES..];
    if let Some(word) = bytes.first_chunk() {
        return u64::from_le_bytes(*word);
    }
    let mut word = [0; 8];
    word[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(word)
}

/// Takes a fingerprint, whose bits are mixed already, for its hash.
#[derive(Default)]
struct Hashed(u64);

impl Hasher for Hashed {
    fn write(&mut self, bytes: &[u8]) {
        self.0 = fingerprint(bytes);
    }
    fn write_u64(&mut self, fingerprint: u64) {
        self.0 = fingerprint;
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

fn fingerprint(bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| {
        (hash ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words
        .iter()
        .fold(0, |hash, word| mix(hash, u64::from_le_bytes(*word)));
    rest.iter()
        .fold(hash, |hash, byte| mix(hash, u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_share_a_fingerprint_but_differ_are_kept_apart() {
        let mask = BitMask::from_fn(20, 6, |r, c| (r >> (c % 3)) % 2 == 0);
        let sources = |plan: &Plan| plan.columns().map(|(_, source)| source).collect::<Vec<_>>();
        let plan = Plan::new(&mask, 0, &[true; 6]);
        assert_eq!(sources(&plan), [0, 1, 2, 0, 1, 2]);
        let poor = Plan::with(&mask, 0, &[true; 6], |_| 7);
        let first_of = |source: usize| &poor.words[source];
        for (column, source) in poor.columns() {
            assert_eq!(first_of(source), &plan.words[column % 3]);
        }
    }
}
