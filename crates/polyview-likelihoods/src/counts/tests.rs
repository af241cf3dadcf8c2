//! What the parameters of counts have in common, and the bound of
//! [`NegativeBinomial`].

use super::*;
use crate::cells::{Cell, CellAugmentation, CellLikelihood, ColumnCells, ColumnParameters};
use polyview_core::GammaPrior;
use scale::{Rise, Scale};

fn cell(value: f64) -> Cell {
    Cell {
        column: 0,
        value,
        trials: 1.0,
        end: f64::NAN,
    }
}

/// Cells of a column with the means and mean squares of their predictors.
struct Column {
    cells: Vec<Cell>,
    mean: Vec<f64>,
    square: Vec<f64>,
}

impl Column {
    fn new(n: usize) -> Self {
        let mean: Vec<f64> = (0..n).map(|i| 0.5 * (i % 7) as f64 - 0.4).collect();
        Self {
            cells: (0..n)
                .map(|i| cell(((i * 13) % 23 * (i % 3)) as f64))
                .collect(),
            square: mean.iter().map(|m| m * m + 0.2).collect(),
            mean,
        }
    }
    fn cells(&self) -> ColumnCells<'_> {
        ColumnCells {
            cells: &self.cells,
            mean: &self.mean,
            square: &self.square,
        }
    }
}

/// What a column says about its parameter.
type Profile = fn(ColumnCells<'_>, f64) -> Rise;

fn negative_binomial(cells: ColumnCells<'_>, size: f64) -> Rise {
    NegativeBinomial::profile(cells, size).into()
}

fn log_normal(cells: ColumnCells<'_>, precision: f64) -> Rise {
    let y: Vec<f64> = cells.cells.iter().map(|c| c.value).collect();
    // by way of one nearby, as steps go
    let mut last = None;
    PoissonLogNormal::profile(cells, &y, &mut last, 1.4 * precision);
    PoissonLogNormal::profile(cells, &y, &mut last, precision)
}

/// `rounding` is what the parameter itself adds to the size of the terms.
fn check_slope(profile: Profile, scale: Scale, values: [f64; 4], rounding: f64) {
    let column = Column::new(40);
    let at = |x: f64| scale.with_prior(profile(column.cells(), x), x);
    for x in values {
        let h = 1e-5_f64;
        let (up, down, here) = (at(x * h.exp()), at(x * (-h).exp()), at(x));
        let difference = (up.value - down.value) / (2.0 * h);
        let close = 1e-6 * (1.0 + here.slope.abs() + rounding * x);
        assert!((difference - here.slope).abs() < close, "{x}");
        if let Some(curvature) = here.curvature {
            let difference = (up.slope - down.slope) / (2.0 * h);
            let close = 1e-5 * (1.0 + curvature.abs() + rounding * x);
            assert!((difference - curvature).abs() < close, "{x}");
        }
    }
}

#[test]
fn the_slope_of_the_profile_is_its_difference() {
    let negative = NegativeBinomial::default().scale();
    check_slope(negative_binomial, negative, [1e-2, 0.4, 3.0, 80.0], 0.0);
    let normal = PoissonLogNormal::default().scale();
    check_slope(log_normal, normal, [0.02, 0.4, 3.0, 800.0], 1.0);
}

fn check_steps(law: &mut dyn ColumnParameters, profile: Profile, scale: Scale, starts: [f64; 3]) {
    let column = Column::new(60);
    let at = |x: f64| scale.with_prior(profile(column.cells(), x), x);
    for start in starts {
        law.set(vec![start]);
        let mut last = at(start);
        for _ in 0..60 {
            let next = law.learned().unwrap().update(0, column.cells());
            law.set(vec![next]);
            assert!(at(next).value >= last.value);
            last = at(next);
        }
        assert!(last.slope.abs() < 1e-6, "{start}");
    }
}

#[test]
fn steps_rise_to_where_the_slope_is_zero() {
    let mut law = NegativeBinomial::default();
    let scale = law.scale();
    check_steps(&mut law, negative_binomial, scale, [1e-3, 1.0, 1e4]);
    let mut law = PoissonLogNormal::new(GammaPrior::new(1.0, 0.1));
    let scale = law.scale();
    check_steps(&mut law, log_normal, scale, [0.012, 1.0, 5e3]);
}

#[test]
fn the_bound_of_the_negative_binomial_is_below_and_touches() {
    let mut nb = NegativeBinomial::default();
    for r in [0.2, 5.0, 300.0] {
        nb.set(vec![r]);
        for value in [0.0, 1.0, 7.0, 500.0] {
            let cell = cell(value);
            for i in -20..20 {
                let centre = f64::from(i) * 0.4;
                let xi = nb.optimise(cell, centre, centre * centre);
                let site = CellLikelihood::site(&nb, cell, xi);
                let constant = nb.offset(cell, xi) + nb.datum_offset(cell);
                let at = |eta: f64| site.linear * eta - 0.5 * site.precision * eta * eta + constant;
                let exact = |eta: f64| nb.log_density(cell, eta);
                let close = 1e-9 * (1.0 + exact(centre).abs() + (value + r) * centre.abs());
                assert!(
                    (at(centre) - exact(centre)).abs() < close,
                    "{r} {value} {centre}"
                );
                for step in [-5.0, -0.5, 0.5, 5.0] {
                    assert!(at(centre + step) <= exact(centre + step) + close);
                }
            }
        }
    }
}
