//! Laws of classes.

use polyview_core::{Ask, Law};
use polyview_linalg::Mat;

use super::{check, each};

/// The law of the class of each sample: one column of codes.
#[derive(Clone, Debug)]
pub(crate) struct Classes {
    /// Classes × samples.
    probability: Mat<f64>,
}

impl Classes {
    /// That of given probabilities, classes × samples.
    pub(crate) fn new(probability: Mat<f64>) -> Self {
        Self { probability }
    }
}

impl Law for Classes {
    fn shape(&self) -> (usize, usize) {
        (self.probability.ncols(), 1)
    }
    fn levels(&self) -> usize {
        self.probability.nrows()
    }
    /// Mean and variance are those of the code, which mean something where classes have an
    /// order.
    fn fill(&self, ask: Ask, _column: usize, x: &[f64], out: &mut [f64]) {
        check(self, out);
        for (n, o) in out.iter_mut().enumerate() {
            let all = self.probability.col_as_slice(n);
            let coded = || all.iter().enumerate().map(|(c, p)| (c as f64, p));
            let mean = || coded().map(|(c, p)| c * p).sum::<f64>();
            *o = match ask {
                Ask::Level(class) => all.get(class).copied().unwrap_or(f64::NAN),
                Ask::Mean => mean(),
                Ask::Variance => {
                    let mean = mean();
                    coded().map(|(c, p)| (c - mean).powi(2) * p).sum()
                }
                Ask::Cdf | Ask::LnDensity if x[n].is_nan() => f64::NAN,
                Ask::Cdf => coded().filter(|(c, _)| *c <= x[n]).map(|(_, p)| p).sum(),
                Ask::LnDensity => {
                    let of = coded().find(|(c, _)| *c == x[n]);
                    of.map_or(f64::NEG_INFINITY, |(_, p)| p.ln())
                }
            };
        }
    }
    fn is_whole(&self) -> bool {
        true
    }
    fn quantile(&self, _column: usize, p: &[f64], out: &mut [f64]) {
        each(p, out, |n, p| {
            let mut sum = 0.0;
            let all = self.probability.col_as_slice(n);
            let reached = all.iter().position(|own| {
                sum += own;
                sum >= p
            });
            reached.unwrap_or(all.len().saturating_sub(1)) as f64
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_have_probabilities_and_codes() {
        let law = Classes::new(Mat::from_fn(3, 2, |c, n| {
            [[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]][n][c]
        }));
        let ask = |ask, x: &[f64]| {
            let mut out = [0.0; 2];
            law.fill(ask, 0, x, &mut out);
            out
        };
        assert_eq!((law.shape(), law.levels()), ((2, 1), 3));
        assert_eq!(ask(Ask::Level(2), &[]), [0.3, 0.0]);
        assert_eq!(
            ask(Ask::LnDensity, &[1.0, 2.0]),
            [0.5_f64.ln(), f64::NEG_INFINITY]
        );
        assert_eq!(ask(Ask::Cdf, &[1.0, 0.0]), [0.7, 1.0]);
        assert!((ask(Ask::Mean, &[])[0] - 1.1).abs() < 1e-15);
        assert!((ask(Ask::Variance, &[])[0] - 0.49).abs() < 1e-15);
        let mut median = [9.0; 2];
        law.quantile(0, &[0.5; 2], &mut median);
        assert_eq!(median, [1.0, 0.0]);
    }
}
