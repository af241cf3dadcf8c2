//! What standardising takes from the last digits of observed values, so that
//! they can be given back as they were.

use super::{Mask, Scaling, View};

/// The byte of a cell that comes back by itself.
const EXACT: u8 = 128;
/// The byte of a cell that is too far for a byte.
const FAR: u8 = 0;

/// What the way to working units and back takes from each observed value of a
/// view: how many representable numbers it ends beside the value it began at.
///
/// A byte a stored value, and none at all where every value comes back by
/// itself, as where nothing was scaled.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rounding {
    steps: Vec<u8>,
    far: Vec<(usize, f64)>,
    base: Vec<f64>,
}

impl Rounding {
    /// Of a view in data units, before [`Scaling::apply`].
    pub fn of(scaling: &Scaling, view: &View) -> Self {
        let mut out = Self::default();
        if let Some(x) = view.sparse().filter(|_| scaling.scores.is_none()) {
            let entries = x.entries();
            let working = scaling.working_base(x.base());
            let quotients = |d: usize| {
                let own = entries.column(d).1.iter();
                // what becomes zero is stored no more
                own.map(move |e| (e, e / scaling.scale[d]))
                    .filter(|(_, q)| *q != 0.0)
            };
            let count = (0..entries.ncols()).map(|d| quotients(d).count()).sum();
            let mut at = 0;
            for (d, (own, base)) in x.base().iter().zip(&working).enumerate() {
                for (e, q) in quotients(d) {
                    out.push(at, count, scaling.backward(d, q + base), e + own);
                    at += 1;
                }
            }
            let zeros = x.base().iter().zip(&working).enumerate();
            let exact = |(d, (own, base)): (usize, (&f64, &f64))| {
                scaling.backward(d, *base).to_bits() == own.to_bits()
            };
            if !zeros.clone().all(exact) {
                out.base = x.base().to_vec();
            }
            return out;
        }
        let (rows, cells) = (view.n_samples(), view.n_samples() * view.n_features());
        let values = view.values();
        let complete = matches!(view.mask(), Mask::Complete);
        for d in 0..view.n_features() {
            for n in (0..rows).filter(|&n| complete || view.is_observed(n, d)) {
                let x = values[(n, d)];
                let back = scaling.backward(d, scaling.forward(d, x));
                out.push(d * rows + n, cells, back, x);
            }
        }
        out
    }

    /// Notes that a stored value comes back as `back` and was `x`.
    fn push(&mut self, at: usize, cells: usize, back: f64, x: f64) {
        if back.to_bits() == x.to_bits() {
            return;
        }
        if self.steps.is_empty() {
            self.steps = vec![EXACT; cells];
        }
        let step = i128::from(place(x)) - i128::from(place(back)) + i128::from(EXACT);
        match u8::try_from(step) {
            Ok(step) if step != FAR => self.steps[at] = step,
            _ => {
                self.steps[at] = FAR;
                self.far.push((at, x));
            }
        }
    }

    /// Whether every value comes back by itself.
    pub fn is_none(&self) -> bool {
        self.steps.is_empty() && self.base.is_empty()
    }

    /// An observed value in data units, bit for bit as it was given; `None`
    /// where it is missing. `view` is in working units.
    pub fn value(&self, scaling: &Scaling, view: &View, n: usize, d: usize) -> Option<f64> {
        let back = scaling.backward(d, view.value(n, d)?);
        let at = match view.sparse() {
            None => d * view.n_samples() + n,
            Some(x) => {
                let (rows, _) = x.entries().column(d);
                match rows.binary_search(&u32::try_from(n).ok()?) {
                    Ok(at) => x.entries().starts()[d] + at,
                    Err(_) => return Some(self.base.get(d).copied().unwrap_or(back)),
                }
            }
        };
        Some(match self.steps.get(at) {
            None | Some(&EXACT) => back,
            Some(&FAR) => match self.far.binary_search_by_key(&at, |f| f.0) {
                Ok(i) => self.far[i].1,
                Err(_) => back,
            },
            Some(&step) => number(place(back) + i64::from(step) - i64::from(EXACT)),
        })
    }

    /// Its parts, to be stored: a byte a stored value (the number of steps, and
    /// 128; 0 where the value is among the next), places and values of those that
    /// are too far, and what cells of a sparse view without an entry are, one a
    /// feature. Each is empty where nothing is to be said.
    pub fn parts(&self) -> (&[u8], &[(usize, f64)], &[f64]) {
        (&self.steps, &self.far, &self.base)
    }

    /// Put together again for a view in working units; `None` when the parts do
    /// not fit it.
    pub fn from_parts(
        view: &View,
        steps: Vec<u8>,
        far: Vec<(usize, f64)>,
        base: Vec<f64>,
    ) -> Option<Self> {
        let (cells, bases) = match view.sparse() {
            None => (view.n_samples() * view.n_features(), 0),
            Some(x) => (x.entries().count(), view.n_features()),
        };
        let of = |len: usize, most: usize| len == 0 || len == most;
        let ordered = far.windows(2).all(|w| w[0].0 < w[1].0);
        let marked = far.iter().all(|f| steps.get(f.0) == Some(&FAR));
        let all = steps.iter().map(|s| usize::from(*s == FAR)).sum::<usize>() == far.len();
        let finite = far.iter().map(|f| &f.1).chain(&base).all(|x| x.is_finite());
        (of(steps.len(), cells) && of(base.len(), bases) && ordered && marked && all && finite)
            .then_some(Self { steps, far, base })
    }
}

/// The place of a number among all numbers in their order, zero at 0.
fn place(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if bits >= 0 { bits } else { !(bits & i64::MAX) }
}

/// The number at a place.
fn number(place: i64) -> f64 {
    f64::from_bits(if place >= 0 {
        place as u64
    } else {
        !place as u64 | (1 << 63)
    })
}

#[cfg(test)]
mod tests {
    use polyview_linalg::{Mat, Repeats, SparseColumns};

    use super::super::{Centring, FeatureScaling};
    use super::*;

    const ODD: [f64; 14] = [
        2.1,
        2.2,
        0.1,
        0.3,
        -0.7,
        1e-20,
        -0.0,
        0.0,
        1e9,
        1e-300,
        -3.3,
        0.1,
        f64::MIN_POSITIVE,
        7.7,
    ];

    #[test]
    fn places_are_in_order_and_lead_back() {
        let mut sorted = ODD.to_vec();
        sorted.sort_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|w| place(w[0]) <= place(w[1])));
        for x in ODD {
            assert_eq!(number(place(x)).to_bits(), x.to_bits());
        }
        assert_eq!(place(0.0) - place(-0.0), 1);
    }

    #[test]
    fn every_observed_value_comes_back_bit_for_bit() {
        let values = Mat::from_fn(40, 6, |n, d| match (n * 7 + d * 3) % 16 {
            i @ 0..=13 => ODD[i],
            14 => f64::NAN,
            _ => (n as f64 - 3.3) / 7.0,
        });
        let names = (0..6).map(|d| format!("f{d}")).collect();
        let dense = View::from_values("x", names, values).expect("a view");
        let entries: Vec<_> = (0..40)
            .flat_map(|n| (0..3).map(move |d| (n, d, ODD[(n as usize + 5 * d as usize) % 14])))
            .filter(|e| e.2 != 0.0 && e.2.abs() > 1e-290)
            .collect();
        let entries = SparseColumns::from_triplets(40, 3, &entries, Repeats::Refuse);
        let names = (0..3).map(|d| format!("f{d}")).collect();
        let sparse = View::from_sparse("y", names, entries.expect("entries")).expect("a view");
        let mut inexact = 0;
        for view in [dense, sparse] {
            for scaling in [
                FeatureScaling::None,
                FeatureScaling::View,
                FeatureScaling::Feature,
            ] {
                let map = Scaling::learn(&view, Centring::Feature, scaling);
                let rounding = Rounding::of(&map, &view);
                let working = map.apply(view.clone());
                let (steps, far, base) = rounding.parts();
                let again =
                    Rounding::from_parts(&working, steps.to_vec(), far.to_vec(), base.to_vec());
                assert_eq!(again.as_ref(), Some(&rounding));
                for d in 0..view.n_features() {
                    for n in 0..view.n_samples() {
                        let bits = |x: Option<f64>| x.map(f64::to_bits);
                        let back = rounding.value(&map, &working, n, d);
                        assert_eq!(bits(back), bits(view.value(n, d)), "{n} {d}");
                        let plain = working.value(n, d).map(|x| map.backward(d, x));
                        inexact += usize::from(bits(plain) != bits(view.value(n, d)));
                    }
                }
            }
        }
        assert!(inexact > 100, "{inexact}");
    }
}
