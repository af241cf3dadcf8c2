//! Expectations of many cells, number by number.

use std::ops::Range;

use polyview_special::Expectation;

/// Where the expectations of some cells of a column go: values, slopes and curvatures apart, so
/// that loops over cells become vector instructions. All three are as long.
#[derive(Debug)]
pub struct Expectations<'a> {
    /// $F$.
    pub value: &'a mut [f64],
    /// $g = \partial\_mF$.
    pub slope: &'a mut [f64],
    /// $H = -2\partial\_vF$.
    pub curvature: &'a mut [f64],
}

impl Expectations<'_> {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.value.len()
    }
    /// Whether there are no cells.
    pub fn is_empty(&self) -> bool {
        self.value.is_empty()
    }
    /// Those of some of the cells.
    pub(crate) fn part(&mut self, cells: Range<usize>) -> Expectations<'_> {
        Expectations {
            value: &mut self.value[cells.clone()],
            slope: &mut self.slope[cells.clone()],
            curvature: &mut self.curvature[cells],
        }
    }
    /// Puts the expectation of a cell.
    #[inline]
    pub fn put(&mut self, cell: usize, e: Expectation) {
        self.value[cell] = e.value;
        self.slope[cell] = e.slope;
        self.curvature[cell] = e.curvature;
    }
    /// The expectation of a cell.
    #[inline]
    pub fn get(&self, cell: usize) -> Expectation {
        Expectation {
            value: self.value[cell],
            slope: self.slope[cell],
            curvature: self.curvature[cell],
        }
    }
}

/// The three of one column after another, where nobody keeps them.
#[derive(Debug)]
pub(crate) struct Scratch {
    value: Vec<f64>,
    slope: Vec<f64>,
    curvature: Vec<f64>,
}

impl Scratch {
    pub(crate) fn new(cells: usize) -> Self {
        Self {
            value: vec![0.0; cells],
            slope: vec![0.0; cells],
            curvature: vec![0.0; cells],
        }
    }
    pub(crate) fn all(&mut self) -> Expectations<'_> {
        Expectations {
            value: &mut self.value,
            slope: &mut self.slope,
            curvature: &mut self.curvature,
        }
    }
    pub(crate) fn values(&mut self) -> &mut [f64] {
        &mut self.value
    }
}
