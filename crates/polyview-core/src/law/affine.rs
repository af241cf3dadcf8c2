//! Laws in data units.

use super::{Ask, ChanceLaw, Law, RankedLaw};
use crate::dataset::Scaling;

/// A law of working values, told in the units of the data: the only place that undoes
/// standardisation ([`Scaling`]).
///
/// Where working units are normal scores, the mean and the variance are those of the values
/// that normal scores of the inner law's mean and variance lead to
/// ([`NormalScores::moments`](crate::NormalScores::moments)).
#[derive(Clone, Debug)]
pub struct Affine<'a, L> {
    inner: L,
    scaling: &'a Scaling,
    first: usize,
}

impl<'a, L: Law> Affine<'a, L> {
    /// The law of a block whose first column is the feature `first` of `scaling`.
    pub fn new(inner: L, scaling: &'a Scaling, first: usize) -> Self {
        Self {
            inner,
            scaling,
            first,
        }
    }
    /// The inner law.
    pub fn inner(&self) -> &L {
        &self.inner
    }
    fn forward(&self, column: usize, x: &[f64]) -> Vec<f64> {
        let feature = self.first + column;
        x.iter()
            .map(|x| self.scaling.forward(feature, *x))
            .collect()
    }
}

impl<L: Law> Law for Affine<'_, L> {
    fn shape(&self) -> (usize, usize) {
        self.inner.shape()
    }
    fn fill(&self, ask: Ask, column: usize, x: &[f64], out: &mut [f64]) {
        let feature = self.first + column;
        match ask {
            Ask::Level(_) => self.inner.fill(ask, column, x, out),
            Ask::Cdf => self.inner.fill(ask, column, &self.forward(column, x), out),
            Ask::LnDensity => {
                let x = self.forward(column, x);
                self.inner.fill(ask, column, &x, out);
                for (o, x) in out.iter_mut().zip(x) {
                    *o += self.scaling.ln_slope(feature, x);
                }
            }
            Ask::Mean => self.moments(column, out, &mut vec![0.0; out.len()]),
            Ask::Variance => {
                self.moments(column, &mut vec![0.0; out.len()], out);
                for o in out {
                    *o *= *o;
                }
            }
        }
    }
    fn levels(&self) -> usize {
        self.inner.levels()
    }
    fn ordered(&self) -> usize {
        self.inner.ordered()
    }
    fn has_density(&self) -> bool {
        self.inner.has_density()
    }
    fn moments(&self, column: usize, mean: &mut [f64], deviation: &mut [f64]) {
        self.inner.moments(column, mean, deviation);
        for (m, s) in mean.iter_mut().zip(deviation) {
            (*m, *s) = self.scaling.moments(self.first + column, *m, *s);
        }
    }
    fn is_whole(&self) -> bool {
        self.inner.is_whole()
    }
    fn quantile(&self, column: usize, p: &[f64], out: &mut [f64]) {
        self.quantiles(column, &[p], &mut [out]);
    }
    fn quantiles(&self, column: usize, p: &[&[f64]], out: &mut [&mut [f64]]) {
        self.inner.quantiles(column, p, out);
        for o in out.iter_mut().flat_map(|out| out.iter_mut()) {
            *o = self.scaling.quantile(self.first + column, *o);
        }
    }
    fn between(&self, column: usize, ends: [&[f64]; 2], out: &mut [f64]) {
        let [least, most] = ends.map(|x| self.forward(column, x));
        self.inner.between(column, [&least, &most], out);
    }
    fn as_ranked(&self) -> Option<&dyn RankedLaw> {
        self.inner.as_ranked()
    }
    fn as_chance(&self) -> Option<&dyn ChanceLaw> {
        self.inner.as_chance()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Normal, answers};
    use super::*;

    /// The law of a + bX, asked at a + bx, is that of X at x.
    #[test]
    fn units_are_undone() {
        let scaling = Scaling {
            offset: vec![0.0, 7.0],
            scale: vec![1.0, 0.5],
            ..Scaling::identity(2)
        };
        let plain = || Normal(vec![(1.0, 4.0), (-2.0, 0.25)]);
        let law = Affine::new(plain(), &scaling, 1);
        let working = [0.5, -1.0];
        let x = working.map(|x| 7.0 + 0.5 * x);
        assert_eq!(answers(&law, Ask::Mean, &[]), [7.5, 6.0]);
        assert_eq!(answers(&law, Ask::Variance, &[]), [1.0, 0.0625]);
        assert_eq!(
            answers(&law, Ask::Cdf, &x),
            answers(&plain(), Ask::Cdf, &working)
        );
        let (mut own, mut inner) = ([0.0; 2], [0.0; 2]);
        law.between(0, [&x, &[9.0, f64::INFINITY]], &mut own);
        plain().between(0, [&working, &[4.0, f64::INFINITY]], &mut inner);
        assert_eq!(own, inner);
        let own = answers(&law, Ask::LnDensity, &x);
        let inner = answers(&plain(), Ask::LnDensity, &working);
        for (own, inner) in own.iter().zip(inner) {
            assert!((own - inner - 2f64.ln()).abs() < 1e-14);
        }
        let (mut own, mut inner) = (vec![0.0; 2], vec![0.0; 2]);
        law.quantile(0, &[0.9; 2], &mut own);
        plain().quantile(0, &[0.9; 2], &mut inner);
        for (own, inner) in own.iter().zip(inner) {
            assert_eq!(*own, inner * 0.5 + 7.0);
        }
    }

    /// The square of the unit is no number, the unit is.
    #[test]
    fn tiny_units_keep_their_standard_deviations() {
        let scaling = Scaling {
            scale: vec![1e-200],
            ..Scaling::identity(1)
        };
        let law = Affine::new(Normal(vec![(1.0, 4.0)]), &scaling, 0);
        let (mut mean, mut deviation) = ([0.0], [0.0]);
        law.moments(0, &mut mean, &mut deviation);
        assert_eq!((mean, deviation), ([1e-200], [2e-200]));
        assert_eq!(answers(&law, Ask::Variance, &[]), [0.0]);
    }
}
