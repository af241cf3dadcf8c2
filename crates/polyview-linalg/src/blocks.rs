//! Fixed blocks and ordered reductions: the reason why results do not depend on the number of threads.

use rayon::prelude::*;
use std::ops::Range;

/// Blocks of `block` consecutive indices that cover `0..count`.
pub(crate) fn ranges(count: usize, block: usize) -> Vec<Range<usize>> {
    (0..count)
        .step_by(block)
        .map(|start| start..(start + block).min(count))
        .collect()
}

/// Most partial sums that are kept at one time.
const MAX_PARTS: usize = 64;

/// Block length for an ordered sum over `count` terms: at least `least`, and so long that few partial sums are kept.
/// Depends on the length of the sum only.
pub(crate) fn size(count: usize, least: usize) -> usize {
    least.max(count.div_ceil(MAX_PARTS))
}

/// Sums `accumulate` over blocks of `0..count`: one partial sum per block, added in block order.
pub(crate) fn ordered_sum<T: Clone + Send + Sync>(
    count: usize,
    block: usize,
    zero: T,
    accumulate: impl Fn(Range<usize>, &mut T) + Sync,
    add: impl Fn(&mut T, &T),
) -> T {
    let parts: Vec<T> = ranges(count, block)
        .into_par_iter()
        .map(|range| {
            let mut part = zero.clone();
            accumulate(range, &mut part);
            part
        })
        .collect();
    let mut total = zero;
    for part in &parts {
        add(&mut total, part);
    }
    total
}
