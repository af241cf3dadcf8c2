//! How much flatter the bound is where local numbers follow the predictor than
//! the sites say.

use polyview_core::{Predictor, RowMoments};
use polyview_linalg::{Accum, Mat, PackedRows, column_chunks, each_of, weighted_gram_into};
use polyview_special::jaakkola_lambda;

use super::{CellLikelihood, Cells};

/// $2\lambda(\xi) - \tfrac14\,\mathrm{sech}^2(\xi/2)$ over $\xi^2$, for each trial of a
/// logistic likelihood: with ξ the bound of Jaakkola and Jordan has the precision
/// $2\lambda(\xi)$ and, as $\xi^2 = \langle\psi^2\rangle$ follows $\langle\psi\rangle$,
/// a curvature that is smaller by this times $\langle\psi\rangle^2$ (spec/mofa A.2).
pub(crate) fn jaakkola_slack(xi: f64) -> f64 {
    let square = xi * xi;
    if square < 1e-3 {
        // the two go against each other
        return 1.0 / 24.0 - square / 120.0;
    }
    let t = (-xi).exp();
    // sech²(ξ/2)/4
    let top = t / ((1.0 + t) * (1.0 + t));
    (2.0 * jaakkola_lambda(xi) - top) / square
}

impl<L: CellLikelihood> Cells<L> {
    /// $\sum\_d s\_{nd}\langle w\_d\rangle^\top\langle w\_d\rangle$ with the cells'
    /// [`CellLikelihood::slack`] s; what the weights' covariances add is left out.
    pub(super) fn add_slack(&self, p: &Predictor<'_>, slack: &mut PackedRows) {
        let rows = self.data.rows();
        let known = RowMoments::point(p.weights.mean().to_owned());
        for columns in self.blocks() {
            let locals = self.locals_of(&columns, Some(p));
            let mean = p.mean(0..rows, columns.clone());
            let mut of: Mat<f64> = Mat::zeros(rows, columns.len());
            each_of(column_chunks(of.as_mut(), 1), |j, mut out| {
                let d = columns.start + j;
                let (column, local) = (self.data.column(d), locals.column(j));
                for n in 0..rows {
                    if let Some(cell) = column.cell(n) {
                        let one = self.likelihood.slack(cell, local[n], mean[(n, j)]);
                        out[(n, 0)] = self.weight(n, d) * one;
                    }
                }
            });
            let of = of.transpose().to_owned();
            let outer = known.second_moment_rows(columns);
            weighted_gram_into(slack, of.as_ref(), &outer, Accum::Add);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::cells::{Cell, CellLikelihood};
    use crate::{Bernoulli, Binomial, NegativeBinomial, Poisson, PoissonLogNormal};

    /// The bound of a cell at its best local number.
    fn profile<L: CellLikelihood>(law: &L, cell: Cell, mean: f64, variance: f64) -> f64 {
        let square = mean * mean + variance;
        let local = law.optimise(cell, mean, square);
        let (site, offset) = law.evaluate(cell, local);
        site.linear * mean - 0.5 * site.precision * square + offset
    }

    fn check<L: CellLikelihood>(law: &L, values: &[f64]) {
        for &value in values {
            let cell = Cell {
                column: 0,
                value,
                trials: 20.0,
                end: f64::NAN,
            };
            for i in -8..9 {
                let (mean, variance, step) = (0.7 * f64::from(i) + 0.05, 0.3, 1e-3);
                let at = |m: f64| profile(law, cell, m, variance);
                let curvature = (2.0 * at(mean) - at(mean + step) - at(mean - step)) / step / step;
                let local = law.optimise(cell, mean, mean * mean + variance);
                let precision = law.site(cell, local).precision;
                let slack = law.slack(cell, local, mean);
                assert!((0.0..=precision).contains(&slack), "{slack} {precision}");
                let gap = (precision - slack - curvature).abs();
                // differences lose digits where the bound is large
                assert!(
                    gap < 1e-4 * precision + 1e-8 * at(mean).abs() + 1e-5,
                    "{law:?} {value} {mean}: {} {curvature}",
                    precision - slack
                );
            }
        }
    }

    /// Precision less slack is the curvature of the bound, differenced.
    #[test]
    fn slack_is_what_the_bound_is_flatter_by() {
        check(&Bernoulli::default(), &[0.0, 1.0]);
        check(&Binomial::default(), &[0.0, 7.0, 20.0]);
        check(&Poisson::default(), &[0.0, 1.0, 30.0]);
        for parameter in [0.5, 8.0] {
            let mut law = NegativeBinomial::default();
            law.parameters_mut().expect("sizes").set(vec![parameter]);
            check(&law, &[0.0, 3.0, 200.0]);
            let mut law = PoissonLogNormal::default();
            law.parameters_mut()
                .expect("precisions")
                .set(vec![parameter]);
            check(&law, &[0.0, 3.0, 200.0]);
        }
    }
}
