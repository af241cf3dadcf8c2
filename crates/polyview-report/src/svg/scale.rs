//! Straight-line scales, the extent of data, and round tick values.

use super::number::{drawable, exponent_of, fixed};

/// The closed interval that a set of drawable values covers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Extent {
    pub lo: f64,
    pub hi: f64,
}

impl Extent {
    /// Smallest extent over the drawable values; `None` when there is none.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        values
            .into_iter()
            .filter(|&v| drawable(v))
            .fold(None, |e: Option<Self>, v| {
                Some(e.map_or(Self { lo: v, hi: v }, |e| Self {
                    lo: e.lo.min(v),
                    hi: e.hi.max(v),
                }))
            })
    }

    /// The extent of nothing: something harmless to draw empty axes with.
    pub fn unit() -> Self {
        Self { lo: 0.0, hi: 1.0 }
    }

    /// Enlarged to hold `v`.
    pub fn including(self, v: f64) -> Self {
        if drawable(v) {
            Self {
                lo: self.lo.min(v),
                hi: self.hi.max(v),
            }
        } else {
            self
        }
    }

    /// A proper interval: one value is widened to a neighbourhood of it.
    pub fn proper(self) -> Self {
        let scale = self.lo.abs().max(self.hi.abs());
        if self.hi - self.lo > scale * 1e-13 {
            return self;
        }
        let half = if scale == 0.0 { 1.0 } else { scale * 0.1 };
        Self {
            lo: self.lo - half,
            hi: self.hi + half,
        }
    }

    /// Proper, with `share` of the length added at both ends.
    pub fn padded(self, share: f64) -> Self {
        let e = self.proper();
        let pad = (e.hi - e.lo) * share;
        Self {
            lo: e.lo - pad,
            hi: e.hi + pad,
        }
    }

    pub fn length(self) -> f64 {
        self.hi - self.lo
    }
}

/// An affine map from data to pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Linear {
    domain: Extent,
    from: f64,
    to: f64,
}

impl Linear {
    pub fn new(domain: Extent, from: f64, to: f64) -> Self {
        Self {
            domain: domain.proper(),
            from,
            to,
        }
    }

    pub fn at(&self, v: f64) -> f64 {
        let share = (v - self.domain.lo) / self.domain.length();
        self.from + share * (self.to - self.from)
    }

    pub fn domain(&self) -> Extent {
        self.domain
    }
}

/// Which tick values are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TickKind {
    /// Any round number.
    Any,
    /// Whole numbers only: sweeps, numbers of factors.
    Whole,
}

/// Tick values with labels. A label times `10^exponent` is the value.
#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    pub values: Vec<f64>,
    pub labels: Vec<String>,
    pub exponent: i32,
}

impl Ticks {
    /// About `target` round values inside `extent` (steps of 1, 2 or 5 times a power of ten).
    pub fn new(extent: Extent, target: usize, kind: TickKind) -> Self {
        let extent = extent.proper();
        let mut step = round_step(extent.length() / target.max(1) as f64);
        if kind == TickKind::Whole {
            step = step.max(1.0);
        }
        let first = (extent.lo / step).ceil();
        let last = (extent.hi / step * (1.0 + f64::EPSILON)).floor();
        let count = (last - first).clamp(0.0, 60.0) as usize + usize::from(last >= first);
        let values: Vec<f64> = (0..count).map(|i| (first + i as f64) * step).collect();

        let largest = values.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let magnitude = exponent_of(largest);
        let exponent = if magnitude >= 5 || (magnitude <= -4 && largest > 0.0) {
            magnitude.div_euclid(3) * 3
        } else {
            0
        };
        let unit = 10f64.powi(exponent);
        let decimals = (exponent - (step.log10() + 1e-9).floor() as i32).clamp(0, 12) as usize;
        let labels = values.iter().map(|v| fixed(v / unit, decimals)).collect();
        Self {
            values,
            labels,
            exponent,
        }
    }

    /// The axis title with the power of ten that the labels leave out.
    pub fn title(&self, title: &str) -> String {
        if self.exponent == 0 {
            title.to_owned()
        } else {
            format!("{title} (×10{})", super::number::superscript(self.exponent))
        }
    }
}

fn round_step(raw: f64) -> f64 {
    let raw = raw.max(f64::MIN_POSITIVE * 1e10);
    let power = 10f64.powi(raw.log10().floor() as i32);
    let lead = raw / power;
    let round = if lead <= 1.0 + 1e-9 {
        1.0
    } else if lead <= 2.0 + 1e-9 {
        2.0
    } else if lead <= 5.0 + 1e-9 {
        5.0
    } else {
        10.0
    };
    round * power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(lo: f64, hi: f64, n: usize) -> Vec<String> {
        Ticks::new(Extent { lo, hi }, n, TickKind::Any).labels
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            labels(0.0, 1.0, 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(-3.1, 3.2, 4), ["−2", "0", "2"]);
        assert_eq!(labels(0.0, 0.037, 4), ["0.00", "0.01", "0.02", "0.03"]);
    }

    #[test]
    fn large_numbers_share_a_power_of_ten() {
        let t = Ticks::new(
            Extent {
                lo: -2.4e6,
                hi: -1.1e6,
            },
            4,
            TickKind::Any,
        );
        assert_eq!(t.exponent, 6);
        assert_eq!(t.labels, ["−2.0", "−1.5"]);
        assert_eq!(t.title("bound (nats)"), "bound (nats) (×10⁶)");
        let t = Ticks::new(Extent { lo: 0.0, hi: 4e-7 }, 4, TickKind::Any);
        assert_eq!(t.exponent, -9);
        assert_eq!(t.labels.last().map(String::as_str), Some("400"));
    }

    #[test]
    fn whole_ticks_never_split_a_unit() {
        let t = Ticks::new(Extent { lo: 1.0, hi: 3.0 }, 8, TickKind::Whole);
        assert_eq!(t.labels, ["1", "2", "3"]);
    }

    #[test]
    fn ticks_lie_inside_for_any_extent() {
        for (lo, hi) in [
            (0.0, 0.0),
            (1e300, 1e300),
            (-1e300, 1e300),
            (5e-324, 1e-300),
            (1e16, 1e16 + 2.0),
            (-7.0, -7.0),
            (0.1, 0.1 + 1e-15),
        ] {
            let e = Extent { lo, hi }.proper();
            for n in [1, 3, 6, 40] {
                let t = Ticks::new(e, n, TickKind::Any);
                assert!(t.values.len() <= 61);
                assert!(t.values.iter().all(|v| v.is_finite()), "{lo} {hi}");
                let slack = e.length() * 1e-6;
                assert!(
                    t.values
                        .iter()
                        .all(|&v| v >= e.lo - slack && v <= e.hi + slack),
                    "{lo} {hi} {t:?}"
                );
            }
        }
    }

    #[test]
    fn a_scale_maps_its_ends() {
        let s = Linear::new(Extent { lo: -2.0, hi: 6.0 }, 10.0, 90.0);
        assert_eq!(s.at(-2.0), 10.0);
        assert_eq!(s.at(6.0), 90.0);
        assert_eq!(s.at(2.0), 50.0);
    }

    #[test]
    fn extent_skips_what_cannot_be_drawn() {
        assert_eq!(Extent::of([f64::NAN, f64::INFINITY]), None);
        assert_eq!(
            Extent::of([f64::NAN, 2.0, -1.0]),
            Some(Extent { lo: -1.0, hi: 2.0 })
        );
    }
}
