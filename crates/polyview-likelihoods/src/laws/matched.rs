//! Blocks of laws with given moments.

use polyview_core::{Ask, Domain, Law};
use polyview_linalg::Mat;

use super::{CellLaw, check, each, fill_cells};

/// The laws of a block of cells, each with the mean and variance that it has and of the
/// family that the data are of ([`CellLaw`]).
#[derive(Clone, Debug)]
pub struct Matched {
    domain: Domain,
    mean: Mat<f64>,
    variance: Mat<f64>,
}

impl Matched {
    /// Laws of data of that domain with those means and variances, samples × columns.
    ///
    /// # Panics
    /// If the two differ in shape.
    pub fn new(domain: Domain, mean: Mat<f64>, variance: Mat<f64>) -> Self {
        assert_eq!(mean.shape(), variance.shape(), "a variance for each mean");
        Self {
            domain,
            mean,
            variance,
        }
    }
    /// The laws of the samples of one column.
    ///
    /// # Panics
    /// If there are more or fewer variances than means.
    pub fn column(domain: Domain, mean: &[f64], variance: &[f64]) -> Self {
        let column = |x: &[f64]| Mat::from_fn(x.len(), 1, |n, _| x[n]);
        Self::new(domain, column(mean), column(variance))
    }
    fn cell(&self, column: usize) -> impl Fn(usize) -> CellLaw {
        let (mean, variance) = (
            self.mean.col_as_slice(column),
            self.variance.col_as_slice(column),
        );
        move |n| CellLaw::of(self.domain, mean[n], variance[n])
    }
}

impl Law for Matched {
    fn shape(&self) -> (usize, usize) {
        self.mean.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        check(self, out);
        match ask {
            Ask::Mean => out.copy_from_slice(self.mean.col_as_slice(column)),
            Ask::Variance => out.copy_from_slice(self.variance.col_as_slice(column)),
            _ => fill_cells(self.cell(column), ask, x, out),
        }
    }
    fn is_whole(&self) -> bool {
        self.domain.is_whole()
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        let law = self.cell(column);
        each(p, out, |n, p| law(n).quantile(p));
    }
    fn between(&self, column: usize, ends: [&[f64]; 2], out: &mut [f64]) {
        let law = self.cell(column);
        for (n, o) in out.iter_mut().enumerate() {
            *o = law(n).between(ends[0][n], ends[1][n]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_its_cells() {
        let mean = Mat::from_fn(3, 2, |n, d| 0.2 + (n + 2 * d) as f64);
        let variance = Mat::from_fn(3, 2, |n, d| 2.0 + (3 * n + d) as f64);
        for domain in [Domain::Reals, Domain::COUNTS] {
            let law = Matched::new(domain, mean.clone(), variance.clone());
            let mut out = vec![0.0; 3];
            let of = |n: usize| CellLaw::of(domain, mean[(n, 1)], variance[(n, 1)]);
            law.fill(Ask::LnDensity, 1, &[0.0, f64::NAN, 4.0], &mut out);
            assert_eq!(out[0], of(0).ln_density(0.0));
            assert!(out[1].is_nan());
            law.fill(Ask::Cdf, 1, &[1.0; 3], &mut out);
            assert_eq!(out[2], of(2).cdf(1.0));
            law.quantile(1, &[0.3, 0.3, f64::NAN], &mut out);
            assert_eq!(out[1], of(1).quantile(0.3));
            assert!(out[2].is_nan());
            let boxed: Box<dyn Law> = Box::new(law);
            assert_eq!(boxed.means(), mean);
            assert_eq!(boxed.variances(), variance);
        }
    }
}
