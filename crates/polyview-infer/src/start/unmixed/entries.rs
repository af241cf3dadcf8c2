//! Loadings that are zero or not, column by column.

// kernels are compiled for several instruction sets only where they are inlined
#![allow(clippy::inline_always)]

use polyview_linalg::simd::{Kernel, decay, dispatch, ln, ln_1p};
use polyview_linalg::sum;

/// Weights of one factor: how many are not zero, and their variance.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) share: f64,
    pub(super) slab: f64,
}

/// What a column is asked for, entry by entry.
#[derive(Default)]
pub(super) struct Entries {
    /// Log density, but for $-\tfrac12\ln2\pi\epsilon^2$.
    density: Vec<f64>,
    /// Probability that it is not zero.
    inclusion: Vec<f64>,
    /// That times its square less that of its error, zero at least.
    squares: Vec<f64>,
    /// Expected precision.
    precision: Vec<f64>,
}

impl Entries {
    /// Looks at loadings `w` with errors of variances `spike`.
    pub(super) fn look(&mut self, w: &[f64], spike: &[f64], kind: Kind) {
        let all = [
            &mut self.density,
            &mut self.inclusion,
            &mut self.squares,
            &mut self.precision,
        ];
        for part in all {
            part.resize(w.len(), 0.0);
        }
        dispatch(Look {
            w,
            spike,
            kind,
            out: self,
        });
    }
    pub(super) fn precision(&self) -> &[f64] {
        &self.precision
    }
    pub(super) fn densities(&self) -> f64 {
        sum(&self.density)
    }
    pub(super) fn included(&self) -> f64 {
        sum(&self.inclusion)
    }
    pub(super) fn squares(&self) -> f64 {
        sum(&self.squares)
    }
}

struct Look<'a> {
    w: &'a [f64],
    spike: &'a [f64],
    kind: Kind,
    out: &'a mut Entries,
}

impl Kernel for Look<'_> {
    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Kind { share, slab } = self.kind;
        let (rest, odds) = ((1.0 - share).ln(), (share / (1.0 - share)).ln());
        let out = self.out;
        let logits = &mut out.density;
        for ((logit, w), spike) in logits.iter_mut().zip(self.w).zip(self.spike) {
            let e = *spike;
            let v = slab + e;
            let ratio = e / v;
            // 1/e - 1/v, of which no product underflows
            let apart = slab / v / e;
            *logit = odds + 0.5 * (ln::<FUSED>(ratio) + w * w * apart);
        }
        for (tail, logit) in out.inclusion.iter_mut().zip(&*logits) {
            *tail = decay::<FUSED>(logit.abs()).value;
        }
        let given = self.w.iter().zip(self.spike);
        let of_both = logits.iter_mut().zip(&mut out.inclusion);
        let others = out.squares.iter_mut().zip(&mut out.precision);
        for (((w, spike), (logit, tail)), (squares, precision)) in given.zip(of_both).zip(others) {
            let e = *spike;
            let v = slab + e;
            let x = w * w;
            let (l, t) = (*logit, *tail);
            let likely = 1.0 / (1.0 + t);
            let above = l >= 0.0;
            let (p, q) = (
                if above { likely } else { t * likely },
                if above { t * likely } else { likely },
            );
            let positive = if above { l } else { 0.0 };
            *logit = rest - 0.5 * x / e + positive + ln_1p::<FUSED>(t);
            *tail = p;
            let beyond = x - e;
            *squares = p * if beyond > 0.0 { beyond } else { 0.0 };
            *precision = q / e + p / v;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entry by entry as the formulas have it, from loadings that are all but zero to those that are far from it.
    #[test]
    fn a_column_is_its_entries() {
        let w: Vec<f64> = (0..37).map(|i| f64::from(i * i) * 0.01 - 1.0).collect();
        let spike: Vec<f64> = (0..37).map(|i| 0.01 + 0.02 * f64::from(i % 5)).collect();
        let kind = Kind {
            share: 0.3,
            slab: 0.8,
        };
        let mut found = Entries::default();
        found.look(&w, &spike, kind);
        let mut expected = [0.0; 3];
        for (i, (w, spike)) in w.iter().zip(&spike).enumerate() {
            let e = *spike;
            let v = kind.slab + e;
            let of = |share: f64, v: f64| share * (-0.5 * w * w / v).exp() / v.sqrt();
            let (zero, not) = (of(1.0 - kind.share, e), of(kind.share, v));
            let p = not / (zero + not);
            expected[0] += (zero + not).ln() + 0.5 * e.ln();
            expected[1] += p;
            expected[2] += p * (w * w - e).max(0.0);
            let precision = (1.0 - p) / e + p / v;
            assert!((found.precision()[i] / precision - 1.0).abs() < 1e-12);
        }
        let sums = [found.densities(), found.included(), found.squares()];
        for (found, expected) in sums.iter().zip(expected) {
            assert!((found / expected - 1.0).abs() < 1e-12, "{found} {expected}");
        }
    }
}
