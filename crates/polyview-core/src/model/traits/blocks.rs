//! How many columns and samples are worked on together.

/// Number of columns that are read together: about eight megabytes of a view
/// with `rows` samples, a multiple of 64 (fixed, so that results do not depend
/// on the number of threads).
pub fn column_block(rows: usize) -> usize {
    ((1 << 20) / rows.max(1)).clamp(64, 4096) / 64 * 64
}

/// As [`column_block`], where every column has a precision of its own: these
/// are large beside the data of few samples.
pub fn own_column_block(rows: usize) -> usize {
    column_block(rows).min(SAMPLE_BLOCK)
}

/// Number of samples whose own precisions are made and solved together (fixed,
/// so that results do not depend on the number of threads).
pub const SAMPLE_BLOCK: usize = 512;
