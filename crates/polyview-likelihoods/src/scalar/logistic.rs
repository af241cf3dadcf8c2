//! Expectations of the logistic family, a column at a time in vector instructions.

// inlined into the function that selects the instruction set
#![allow(clippy::inline_always)]

use std::sync::OnceLock;

use polyview_linalg::simd::{Kernel, decay, dispatch, ln_1p, mul_add};
use polyview_special::{Expectation, Real};

use super::Expectations;
use super::sheet::{POINTS, Sheet};

/// Cells of a tile: what is made of them in one loop is still in the first-level cache for the
/// next.
const TILE: usize = 128;

/// The logistic function as a mixture of normal distribution functions, $\sigma(x) \approx
/// \sum\_ip\_i\Phi(x/\tau\_i)$: shares and deviations (Monahan and Stefanski 1992, their table of
/// eight terms). It is $2\times10^{-9}$ off at most, its integral, $\ln(1 + e^x)$, $8\times10^{-9}$.
const MIXTURE: [(f64, f64); 8] = [
    (0.003_246_343_272_134, 1.0 / 1.365_340_806_296_348),
    (0.051_517_477_033_972, 1.0 / 1.059_523_971_016_916),
    (0.195_077_912_673_858, 1.0 / 0.830_791_313_765_644),
    (0.315_569_823_632_818, 1.0 / 0.650_732_166_639_391),
    (0.274_149_576_158_423, 1.0 / 0.508_135_425_366_489),
    (0.131_076_880_695_470, 1.0 / 0.396_313_345_166_341),
    (0.027_912_418_727_972, 1.0 / 0.308_904_252_267_995),
    (0.001_449_567_805_354, 1.0 / 0.238_212_616_409_306),
];

/// Largest weight of a cell for which the mixture is taken: it is below $10^{-6}$ off there.
const LARGEST_WEIGHT: f64 = 100.0;

/// Largest weight of a cell that is looked up: what is looked up is below 3e-10 off.
const LARGEST_OF_SHEET: f64 = 3e3;

/// Means of the sheet go from minus this to it.
const REACH: f64 = 32.0;

/// $\mathrm E\ln(1 + e^{\eta})$ under $\eta\sim N(m - c, v)$ with its derivatives, for each of
/// many cells: what Bernoulli, binomial and negative binomial log densities share (spec/sites
/// 1.4). `weight` says how often a cell's log density has it.
///
/// It is looked up on a [`Sheet`], one for the whole process, as far as it goes. Beyond it, it is that of the
/// mixture: under a normal law a mixture of normal distribution functions and its integral have closed
/// forms, with $c\_i = \sqrt{\tau\_i^2 + v}$ and $u = m/c\_i$ the expectation is
/// $\sum\_ip\_i[m\Phi(u) + c\_i\phi(u)]$, its slope $\sum\_ip\_i\Phi(u)$, its curvature $\sum\_ip\_i\phi(u)/c\_i$: exact
/// derivatives of each other, whatever the variance. Cells of a large weight have the nodes of
/// [`Expectation::of`] there, and those of a very large one everywhere.
pub(super) fn softplus(
    mean: &[f64],
    variance: &[f64],
    shift: f64,
    weight: impl Fn(usize) -> f64,
    out: &mut Expectations<'_>,
) {
    static SHEET: OnceLock<Sheet> = OnceLock::new();
    let sheet = SHEET.get_or_init(|| Sheet::new(1, REACH));
    let mut by_mixture = Vec::new();
    let mut by_nodes = Vec::new();
    sheet.look_up(
        (mean, shift, variance),
        |_| 0,
        |_, m, v| at_points(m, v),
        out,
        |cell| {
            if weight(cell) <= LARGEST_WEIGHT {
                by_mixture.push(cell);
            } else {
                by_nodes.push(cell);
            }
        },
    );
    let heavy = |i: usize| weight(i) > LARGEST_OF_SHEET;
    if (0..mean.len()).fold(false, |any, i| any | heavy(i)) {
        // beyond the sheet they have their nodes already
        by_nodes.retain(|i| !heavy(*i));
        by_nodes.extend((0..mean.len()).filter(|i| heavy(*i)));
    }
    let at = (mean, shift, variance);
    gather(&by_mixture, at, out, mixture);
    gather(&by_nodes, at, out, nodes);
}

/// Carries out `of` for some of many cells.
fn gather(
    cells: &[usize],
    (mean, shift, variance): (&[f64], f64, &[f64]),
    out: &mut Expectations<'_>,
    of: impl Fn((&[f64], &[f64]), &mut [Expectation]),
) {
    if cells.is_empty() {
        return;
    }
    let means: Vec<f64> = cells.iter().map(|&i| mean[i] - shift).collect();
    let variances: Vec<f64> = cells.iter().map(|&i| variance[i]).collect();
    let mut made = vec![Expectation::default(); cells.len()];
    of((&means, &variances), &mut made);
    for (&i, made) in cells.iter().zip(made) {
        out.put(i, made);
    }
}

/// The values alone, for the sheet.
fn at_points(mean: &[f64; POINTS], variance: &[f64; POINTS]) -> [f64; POINTS] {
    let mut out = [Expectation::default(); POINTS];
    nodes((mean, variance), &mut out);
    out.map(|e| e.value)
}

/// By the mixture.
fn mixture((mean, variance): (&[f64], &[f64]), out: &mut [Expectation]) {
    let tiles = mean.chunks(TILE).zip(variance.chunks(TILE));
    for ((mean, variance), out) in tiles.zip(out.chunks_mut(TILE)) {
        let mut tile = Tile::new(mean, variance);
        dispatch(Mixture {
            tile: &mut tile,
            cells: mean.len(),
        });
        for (i, out) in out.iter_mut().enumerate() {
            *out = tile.expectation(i, -1.0);
        }
    }
}

/// By the nodes of [`Expectation::of`].
fn nodes((mean, variance): (&[f64], &[f64]), out: &mut [Expectation]) {
    let tiles = mean.chunks(TILE).zip(variance.chunks(TILE));
    for ((mean, variance), out) in tiles.zip(out.chunks_mut(TILE)) {
        let mut tile = Tile::new(mean, variance);
        for (s, v) in tile.variance.iter_mut().zip(variance) {
            *s = v.max(Expectation::LEAST_VARIANCE).sqrt();
        }
        dispatch(Nodes {
            tile: &mut tile,
            cells: mean.len(),
        });
        for (i, out) in out.iter_mut().enumerate() {
            *out = if variance[i] > 1.0 {
                Expectation::of(mean[i], variance[i], 1.0, Real::softplus)
            } else {
                tile.expectation(i, -1.0 / tile.variance[i])
            };
        }
    }
}

/// Least value of [`widened`] for which the mixture is taken: below, it is more than
/// $2\times10^{-5}$ of that off.
const LEAST_WIDENED: f64 = 1e-4;

/// $\mathrm E\_{N(\xi; \eta, \kappa)}\sigma(\xi)$ and its derivative in $\eta$ by the mixture:
/// $\sum\_ip\_i\Phi(\eta/c\_i)$ with $c\_i = \sqrt{\tau\_i^2 + \kappa}$, and its exact slope. `None`
/// in the tail where the mixture's error counts.
#[inline]
pub(super) fn widened(eta: f64, spread: f64) -> Option<(f64, f64)> {
    let (mut value, mut slope) = (0.0, 0.0);
    for (share, deviation) in MIXTURE {
        let over = 1.0 / (deviation * deviation + spread).sqrt();
        let (density, below) = normal::<false>(eta * over);
        value += share * below;
        slope += share * density * over;
    }
    (value > LEAST_WIDENED).then_some((value, slope))
}

/// Numbers of the cells of a tile.
struct Tile {
    mean: [f64; TILE],
    /// Variances, or for nodes their roots.
    variance: [f64; TILE],
    value: [f64; TILE],
    slope: [f64; TILE],
    curvature: [f64; TILE],
}

impl Tile {
    fn new(mean: &[f64], variance: &[f64]) -> Self {
        let mut out = Self {
            mean: [0.0; TILE],
            variance: [1.0; TILE],
            value: [0.0; TILE],
            slope: [0.0; TILE],
            curvature: [0.0; TILE],
        };
        for (i, (m, v)) in mean.iter().zip(variance).enumerate() {
            out.mean[i] = *m;
            out.variance[i] = *v;
        }
        out
    }
    fn expectation(&self, i: usize, of_curvature: f64) -> Expectation {
        Expectation {
            value: self.value[i],
            slope: self.slope[i],
            curvature: of_curvature * self.curvature[i],
        }
    }
}

/// The sums over the terms of the mixture.
struct Mixture<'a> {
    tile: &'a mut Tile,
    cells: usize,
}

impl Kernel for Mixture<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Tile {
            mean,
            variance,
            value,
            slope,
            curvature,
        } = self.tile;
        let n = self.cells;
        for (share, deviation) in MIXTURE {
            term::<FUSED>(
                (share, deviation * deviation),
                (&mean[..n], &variance[..n]),
                (&mut value[..n], &mut slope[..n], &mut curvature[..n]),
            );
        }
    }
}

/// Adds one term. A function of its own, so that the compiler knows the slices to be apart.
#[inline(always)]
fn term<const FUSED: bool>(
    (share, square): (f64, f64),
    (mean, variance): (&[f64], &[f64]),
    (value, slope, curvature): (&mut [f64], &mut [f64], &mut [f64]),
) {
    let cells = mean.iter().zip(variance);
    let out = value.iter_mut().zip(slope).zip(curvature);
    for (((f, g), h), (m, v)) in out.zip(cells) {
        let over = 1.0 / (square + v).sqrt();
        let (density, below) = normal::<FUSED>(m * over);
        let density = share * density;
        *f += m * (share * below) + density / over;
        *g += share * below;
        *h += density * over;
    }
}

/// $\phi(u)$ and $\Phi(u)$, to $3\times10^{-15}$.
///
/// $\Phi(-u) = \phi(u)R(u)$, where R, Mills' ratio, is a polynomial in $4/(4 + u)$ fitted so that the
/// largest error of the product is least.
#[inline(always)]
fn normal<const FUSED: bool>(u: f64) -> (f64, f64) {
    const MILLS: [f64; 13] = [
        0.027_105_800_372_333_38,
        -0.268_915_949_278_329,
        1.160_826_935_954_276_7,
        -2.818_156_161_011_667,
        4.217_612_596_399_825,
        -4.250_456_106_434_827,
        3.280_866_423_202_018,
        -1.544_852_485_599_649,
        0.868_851_875_079_410_3,
        0.049_495_125_149_885_08,
        0.284_674_580_914_494_44,
        0.246_055_752_192_459_45,
        0.000_205_750_375_270_985_5,
    ];
    /// $1/\sqrt{2\pi}$.
    const PEAK: f64 = 0.398_942_280_401_432_7;
    let size = u.abs();
    let density = PEAK * decay::<FUSED>(0.5 * u * u).value;
    let t = 4.0 / (4.0 + size);
    let mut ratio = MILLS[0];
    for &c in &MILLS[1..] {
        ratio = mul_add::<FUSED>(ratio, t, c);
    }
    let beyond = density * ratio;
    (density, if u < 0.0 { beyond } else { 1.0 - beyond })
}

/// The sums over the nodes, of which curvatures still are to be divided by the deviation.
struct Nodes<'a> {
    tile: &'a mut Tile,
    cells: usize,
}

impl Kernel for Nodes<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Tile {
            mean,
            variance: deviation,
            value,
            slope,
            curvature,
        } = self.tile;
        let n = self.cells;
        for &(u, w) in Expectation::few_nodes() {
            for u in [u, -u] {
                node::<FUSED>(
                    (u, w),
                    (&mean[..n], &deviation[..n]),
                    (&mut value[..n], &mut slope[..n], &mut curvature[..n]),
                );
            }
        }
    }
}

/// Adds one node. A function of its own, so that the compiler knows the slices to be apart.
#[inline(always)]
fn node<const FUSED: bool>(
    (u, w): (f64, f64),
    (mean, deviation): (&[f64], &[f64]),
    (value, slope, curvature): (&mut [f64], &mut [f64], &mut [f64]),
) {
    let mut t = [0.0; TILE];
    let t = &mut t[..mean.len()];
    for ((t, m), s) in t.iter_mut().zip(mean).zip(deviation) {
        *t = decay::<FUSED>((m + s * u).abs()).value;
    }
    for (((v, t), m), s) in value.iter_mut().zip(&*t).zip(mean).zip(deviation) {
        let x = m + s * u;
        *v += w * (x.max(0.0) + ln_1p::<FUSED>(*t));
    }
    let out = slope.iter_mut().zip(curvature);
    for (((g, h), t), (m, s)) in out.zip(&*t).zip(mean.iter().zip(deviation)) {
        let likely = 1.0 / (1.0 + t);
        let p = if m + s * u >= 0.0 { likely } else { t * likely };
        *g += w * p;
        *h += w * u * p;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Scratch;

    fn made(
        (mean, variance): (&[f64], &[f64]),
        shift: f64,
        weight: impl Fn(usize) -> f64,
    ) -> Vec<Expectation> {
        let mut made = Scratch::new(mean.len());
        let mut out = made.all();
        softplus(mean, variance, shift, weight, &mut out);
        (0..mean.len()).map(|i| out.get(i)).collect()
    }

    fn cells() -> (Vec<f64>, Vec<f64>) {
        let mean = (0..300).map(|i| 0.2 * f64::from(i) - 31.0).collect();
        let variance = (0..300)
            .map(|i| 10f64.powf(f64::from(i % 25) / 2.0 - 10.5))
            .collect();
        (mean, variance)
    }

    #[test]
    fn heavy_cells_have_nodes() {
        let (mean, variance) = cells();
        let weight = |i: usize| if i.is_multiple_of(2) { 1e4 } else { 1.0 };
        let out = made((&mean, &variance), 0.7, weight);
        for (i, found) in out.iter().enumerate().step_by(2) {
            let e = Expectation::of(mean[i] - 0.7, variance[i], 1.0, Real::softplus);
            assert!((found.value - e.value).abs() < 1e-13 * (1.0 + e.value.abs()));
            assert!((found.slope - e.slope).abs() < 1e-13);
            // differences of slopes, over the deviation
            let digits = 1e-15 / variance[i].max(1e-10).sqrt();
            assert!(
                (found.curvature - e.curvature).abs() < 1e-13 + 4.0 * digits,
                "{i}"
            );
        }
    }

    /// Whatever the variance.
    #[test]
    fn the_mixture_is_the_logistic_function_to_eight_digits() {
        let (mean, variance) = cells();
        let mut out = vec![Expectation::default(); 300];
        mixture((&mean, &variance), &mut out);
        for (i, found) in out.iter().enumerate() {
            let e = Expectation::of(mean[i], variance[i], 1.0, Real::softplus);
            assert!((found.value - e.value).abs() < 1e-8, "{i}");
            assert!((found.slope - e.slope).abs() < 3e-9, "{i}");
            assert!(
                (found.curvature - e.curvature).abs() < 2e-8,
                "{i}: {} {}",
                found.curvature,
                e.curvature
            );
            assert!(found.curvature <= 0.0 && found.slope >= 0.0);
        }
    }

    /// The law of a term asks for derivatives that are exact, not for a function that is.
    #[test]
    fn slopes_and_curvatures_are_derivatives() {
        let at = |m: f64, v: f64| made((&[m], &[v]), 0.0, |_| 1.0)[0];
        // within patches, and beyond the sheet
        for m in [-40.0, -12.2, -3.1, -0.4, 0.1, 1.3, 7.1] {
            for v in [0.05, 0.6, 3.02, 40.0] {
                let e = 1e-4;
                let slope = (at(m + e, v).value - at(m - e, v).value) / (2.0 * e);
                let by_variance = (at(m, v + e).value - at(m, v - e).value) / (2.0 * e);
                assert!((slope - at(m, v).slope).abs() < 1e-8, "{m} {v}");
                assert!(
                    (-2.0 * by_variance - at(m, v).curvature).abs() < 1e-7,
                    "{m} {v}"
                );
            }
        }
    }

    #[test]
    fn the_normal_distribution_is_that_of_the_library() {
        for i in -400..=400 {
            let u = f64::from(i) * 0.1;
            let exact = 0.5 * polyview_special::erfc(-u * std::f64::consts::FRAC_1_SQRT_2);
            for (_, found) in [normal::<true>(u), normal::<false>(u)] {
                assert!((found - exact).abs() < 3e-15, "{u}: {found} {exact}");
            }
        }
    }
}
