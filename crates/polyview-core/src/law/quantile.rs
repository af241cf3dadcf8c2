//! Quantiles that are found from distribution functions.

use polyview_special::normal_quantile;

use super::{Ask, Law};

/// Most steps outwards, and most steps inwards: by doubling and by halving any number is
/// reached.
const OUTWARDS: usize = 1100;
const INWARDS: usize = 1200;

/// [`Law::quantile`] from the distribution function alone, for laws that know better of some
/// cells only.
///
/// The search begins where a normal law of the same mean and variance has its quantile and goes
/// on by straight lines between two ends, in the normal quantiles of the distribution function,
/// which are nearly straight themselves. The ends are halved where lines do not help. All
/// samples of the column take their steps together, and those that are done are not asked any more.
///
/// # Panics
/// As [`Law::fill`].
pub fn quantile_by_search<L: Law + ?Sized>(law: &L, column: usize, p: &[f64], out: &mut [f64]) {
    let n = out.len();
    let (mut mean, mut deviation) = (vec![0.0; n], vec![0.0; n]);
    law.moments(column, &mut mean, &mut deviation);
    let whole = law.is_whole();
    let mut cells: Vec<Search> = (0..n)
        .map(|i| Search::new(p[i], (mean[i], deviation[i]), whole))
        .collect();
    let (mut x, mut reached) = (vec![f64::NAN; n], vec![0.0; n]);
    for _ in 0..OUTWARDS + INWARDS {
        let mut moving = false;
        for (x, cell) in x.iter_mut().zip(&cells) {
            *x = cell.next.unwrap_or(f64::NAN);
            moving |= cell.next.is_some();
        }
        if !moving {
            break;
        }
        law.fill(Ask::Cdf, column, &x, &mut reached);
        for (cell, reached) in cells.iter_mut().zip(&reached) {
            cell.take(*reached);
        }
    }
    for (o, cell) in out.iter_mut().zip(&cells) {
        *o = cell.found;
    }
}

/// Two ends with a distribution function below `p` at the one and not below it at the other.
struct Search {
    p: f64,
    /// The normal quantile of p.
    wanted: f64,
    whole: bool,
    low: f64,
    high: f64,
    /// Normal quantiles of the distribution function at the ends, less that of p.
    at_low: f64,
    at_high: f64,
    /// How far the next step outwards goes.
    step: f64,
    /// Ends closer than that are one.
    close: f64,
    /// Distance of the ends three steps ago, and steps since.
    before: (f64, u8),
    /// Whether it was the lower end that moved last.
    rose: Option<bool>,
    /// Where the distribution function is wanted next; nowhere where all is known.
    next: Option<f64>,
    found: f64,
}

impl Search {
    fn new(p: f64, (mean, deviation): (f64, f64), whole: bool) -> Self {
        let wanted = normal_quantile(p);
        let some = |x: f64, other: f64| if x.is_finite() { x } else { other };
        let width = some(deviation, 1.0)
            .max(1e-12 * some(mean.abs(), 1.0))
            .max(1e-300);
        let start = some(some(mean, 0.0) + some(wanted, 0.0) * width, 0.0);
        let (start, step) = if whole {
            (start.floor().max(0.0), width.ceil())
        } else {
            (start, 0.25 * width)
        };
        // nothing is known where nothing is asked, or said
        let known = p > 0.0 && p < 1.0 && !mean.is_nan();
        Self {
            p,
            wanted,
            whole,
            low: f64::NEG_INFINITY,
            high: f64::INFINITY,
            at_low: f64::NEG_INFINITY,
            at_high: f64::INFINITY,
            step,
            close: 1e-13 * width,
            before: (f64::INFINITY, 0),
            rose: None,
            next: known.then_some(start),
            found: f64::NAN,
        }
    }
    /// Takes the distribution function at the place that was asked for.
    fn take(&mut self, reached: f64) {
        let Some(x) = self.next else { return };
        if reached.is_nan() {
            self.next = None;
            return;
        }
        let away = normal_quantile(reached.clamp(1e-300, 1.0 - 1e-16)) - self.wanted;
        // an end that stays twice counts half, so that the line comes over it
        let rises = reached < self.p;
        let again = if self.rose == Some(rises) { 0.5 } else { 1.0 };
        self.rose = Some(rises);
        if rises {
            (self.low, self.at_low) = (x, away);
            self.at_high *= again;
        } else {
            (self.high, self.at_high) = (x, away);
            self.at_low *= again;
        }
        self.found = self.high;
        self.next = self
            .then()
            .filter(|next| self.low < *next && *next < self.high);
    }
    fn then(&mut self) -> Option<f64> {
        let (low, high) = (self.low, self.high);
        if low == f64::NEG_INFINITY || high == f64::INFINITY {
            let next = if high == f64::INFINITY {
                low + self.step
            } else if self.whole {
                (high - self.step).max(0.0)
            } else {
                high - self.step
            };
            self.step *= 2.0;
            // there is no smaller number, or no larger one
            return next.is_finite().then_some(next);
        }
        let apart = high - low;
        let close = if self.whole {
            1.0
        } else {
            self.close
                .max(2.0 * f64::EPSILON * low.abs().max(high.abs()))
        };
        if apart <= close {
            return None;
        }
        let share = self.at_low / (self.at_low - self.at_high);
        let line = low + share * apart;
        self.before.1 += 1;
        let slow = self.before.1 >= 3;
        let helps = line.is_finite() && !(slow && apart > 0.25 * self.before.0);
        if slow {
            self.before = (apart, 0);
        }
        let next = if helps { line } else { 0.5 * low + 0.5 * high };
        Some(if self.whole {
            next.floor().clamp(low + 1.0, high - 1.0)
        } else {
            // a step that ends next to an end closes it
            next.clamp(low + 0.4 * close, high - 0.4 * close)
        })
    }
}

#[cfg(test)]
mod tests {
    use polyview_special::normal_cdf;

    use super::super::tests::Normal;
    use super::*;

    #[test]
    fn quantiles_are_found_from_the_distribution_function() {
        let law = Normal(vec![
            (0.0, 1.0),
            (-3e5, 4e-6),
            (2e-9, 1e-20),
            (f64::NAN, 1.0),
            (5.0, 1.0),
        ]);
        for p in [1e-9, 0.025, 0.5, 0.9] {
            let mut found = vec![0.0; 5];
            law.quantile(0, &[p, p, p, p, f64::NAN], &mut found);
            for (found, (m, v)) in found[..3].iter().zip(&law.0) {
                let expected = m + v.sqrt() * normal_quantile(p);
                assert!(
                    (found - expected).abs() < 1e-9 * v.sqrt().max(1e-5 * m.abs()),
                    "{p}: {found} {expected}"
                );
            }
            assert!(found[3].is_nan() && found[4].is_nan());
        }
    }

    /// A law of one cell by its distribution function, with the moments that it says it has.
    struct Said<F>(F, (f64, f64), bool, std::sync::atomic::AtomicUsize);

    impl<F: Fn(f64) -> f64 + Send + Sync> Law for Said<F> {
        fn shape(&self) -> (usize, usize) {
            (1, 1)
        }
        fn is_whole(&self) -> bool {
            self.2
        }
        fn fill(&self, ask: Ask, _column: usize, x: &[f64], out: &mut [f64]) {
            out[0] = match ask {
                Ask::Mean => self.1.0,
                Ask::Variance => self.1.1,
                Ask::Cdf => {
                    self.3.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    self.0(x[0])
                }
                _ => f64::NAN,
            };
        }
    }

    fn found<F: Fn(f64) -> f64 + Send + Sync>(
        cdf: F,
        moments: (f64, f64),
        whole: bool,
        p: f64,
    ) -> (f64, usize) {
        let law = Said(cdf, moments, whole, 0.into());
        let mut out = [0.0];
        law.quantile(0, &[p], &mut out);
        (out[0], law.3.into_inner())
    }

    /// Two peaks far apart, with nothing between them; heavy tails without a variance; moments
    /// that have nothing to do with the law.
    #[test]
    fn laws_that_are_no_normal_ones_have_quantiles() {
        let peaks = |x: f64| 0.5 * normal_cdf((x + 50.0) / 0.1) + 0.5 * normal_cdf(x - 50.0);
        let cauchy = |x: f64| 0.5 + (x / 3.0).atan() / std::f64::consts::PI;
        for p in [0.001, 0.1, 0.49, 0.51, 0.975] {
            let (x, asked) = found(peaks, (0.0, 2500.0), false, p);
            assert!(
                (peaks(x) - p).abs() < 1e-12 && asked < 80,
                "{p}: {x} {asked}"
            );
            let (x, asked) = found(cauchy, (0.0, f64::INFINITY), false, p);
            assert!(
                (cauchy(x) - p).abs() < 1e-12 && asked < 60,
                "{p}: {x} {asked}"
            );
            let (x, _) = found(cauchy, (1e6, 1e-12), false, p);
            assert!((cauchy(x) - p).abs() < 1e-9, "{p}: {x}");
        }
    }

    /// What is nearly normal needs few questions.
    #[test]
    fn searches_are_short() {
        let law = |x: f64| 0.7 * normal_cdf(x) + 0.3 * normal_cdf((x - 0.5) / 1.2);
        for p in [0.025, 0.25, 0.9] {
            let (x, asked) = found(law, (0.15, 1.18), false, p);
            assert!((law(x) - p).abs() < 1e-12 && asked <= 12, "{p}: {asked}");
        }
    }

    /// Geometric counts: the smallest whole number at which the function reaches p.
    #[test]
    fn whole_numbers_are_found_exactly() {
        for odds in [0.05_f64, 0.5, 0.99, 0.9999] {
            let cdf = |x: f64| {
                if x < 0.0 {
                    0.0
                } else {
                    1.0 - odds.powf(x.floor() + 1.0)
                }
            };
            let mean = odds / (1.0 - odds);
            for p in [0.01, 0.3, 0.7, 0.999] {
                let (x, asked) = found(cdf, (mean, mean / (1.0 - odds)), true, p);
                assert!(x >= 0.0 && x.fract() == 0.0 && cdf(x) >= p && cdf(x - 1.0) < p);
                assert!(asked < 40, "{odds} {p}: {asked}");
                let (other, _) = found(cdf, (0.0, 0.0), true, p);
                assert_eq!(other, x);
            }
        }
    }

    #[test]
    fn steps_are_found_to_the_last_digit() {
        let step = |x: f64| f64::from(u8::from(x >= 0.3));
        let (x, _) = found(step, (0.3, 0.0), false, 0.5);
        assert!((x - 0.3).abs() < 1e-12);
        // nothing is ever reached
        assert_eq!(found(|_| 0.0, (0.0, 1.0), false, 0.5).0, f64::INFINITY);
    }
}
