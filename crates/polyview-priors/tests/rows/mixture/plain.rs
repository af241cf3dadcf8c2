//! The updates as loops over plain numbers.

use super::*;

/// q of a block, as plain numbers.
pub(super) struct Plain {
    pub(super) m: Mat<f64>,
    pub(super) s: Vec<Mat<f64>>,
    pub(super) phi: Mat<f64>,
    pub(super) mu: Mat<f64>,
    pub(super) varsigma: Vec<f64>,
    pub(super) psi: Vec<(f64, f64)>,
    pub(super) nu: Vec<(f64, f64)>,
    pub(super) alpha: (f64, f64),
}

impl Plain {
    pub(super) fn of(b: &MixtureRows) -> Self {
        let pairs = |at: &str, a: &str, b_: &str| -> Vec<(f64, f64)> {
            let (a, c) = (
                saved(b, &format!("{at}/{a}")),
                saved(b, &format!("{at}/{b_}")),
            );
            a.into_iter().zip(c).collect()
        };
        let z = b.moments();
        Self {
            m: z.mean().to_owned(),
            s: (0..z.rows()).map(|n| z.row_cov(n).to_mat()).collect(),
            phi: b.shares().unwrap().as_ref().clone(),
            mu: b.mixture().means().clone(),
            varsigma: b.mixture().variances().to_vec(),
            psi: pairs("prior/precision", "shape", "rate"),
            nu: pairs("prior/sticks", "a", "b"),
            alpha: pairs("prior/concentration", "shape", "rate")[0],
        }
    }
    pub(super) fn psi_mean(&self, t: usize) -> f64 {
        self.psi[t].0 / self.psi[t].1
    }
    pub(super) fn d(&self, n: usize, t: usize) -> f64 {
        (0..K)
            .map(|j| {
                let gap = self.m[(n, j)] - self.mu[(t, j)];
                gap * gap + self.s[n][(j, j)] + self.varsigma[t]
            })
            .sum()
    }
    pub(super) fn log_q(&self, t: usize) -> f64 {
        let ln = |(a, b): (f64, f64)| digamma(a) - digamma(a + b);
        let not = |(a, b): (f64, f64)| digamma(b) - digamma(a + b);
        let own = if t < T - 1 { ln(self.nu[t]) } else { 0.0 };
        own + self.nu[..t].iter().map(|s| not(*s)).sum::<f64>()
    }
    pub(super) fn count(&self, t: usize) -> f64 {
        (0..N).map(|n| self.phi[(n, t)]).sum()
    }
    /// φ, then μ, ψ, ν, α by 5.5.
    pub(super) fn components(&mut self, evidence: &Mat<f64>) {
        for n in 0..N {
            let log = |t: usize| {
                let (a, b) = self.psi[t];
                self.log_q(t) + 0.5 * K as f64 * (digamma(a) - b.ln())
                    - 0.5 * self.psi_mean(t) * self.d(n, t)
                    + evidence[(n, t)]
            };
            let logs: Vec<f64> = (0..T).map(log).collect();
            let total: f64 = logs.iter().map(|l| l.exp()).sum();
            for t in 0..T {
                self.phi[(n, t)] = logs[t].exp() / total;
            }
        }
        for t in 0..T {
            let psi = self.psi_mean(t);
            self.varsigma[t] = 1.0 / (1.0 + self.count(t) * psi);
            for j in 0..K {
                let sum: f64 = (0..N).map(|n| self.phi[(n, t)] * self.m[(n, j)]).sum();
                self.mu[(t, j)] = self.varsigma[t] * psi * sum;
            }
        }
        for t in 0..T {
            let sum: f64 = (0..N).map(|n| self.phi[(n, t)] * self.d(n, t)).sum();
            self.psi[t] = (3.0 + 0.5 * K as f64 * self.count(t), 2.0 + 0.5 * sum);
        }
        let mean = self.alpha.0 / self.alpha.1;
        for t in 0..T - 1 {
            let after: f64 = (t + 1..T).map(|s| self.count(s)).sum();
            self.nu[t] = (1.0 + self.count(t), mean + after);
        }
        let not: f64 = self
            .nu
            .iter()
            .map(|(a, b)| digamma(*b) - digamma(a + b))
            .sum();
        self.alpha = (2.0 + (T - 1) as f64, 1.5 - not);
    }
    /// z given data precisions and right-hand sides, by 5.5.
    pub(super) fn rows(&mut self, gram: &SymPacked, rhs: &Mat<f64>) {
        for n in 0..N {
            let mut precision = gram.clone();
            let own: f64 = (0..T).map(|t| self.phi[(n, t)] * self.psi_mean(t)).sum();
            precision.add_diag(&[own; K]);
            self.s[n] = SpdFactor::factor(&precision).unwrap().0.inverse().to_mat();
            for j in 0..K {
                self.m[(n, j)] = (0..K)
                    .map(|i| {
                        let prior: f64 = (0..T)
                            .map(|t| self.phi[(n, t)] * self.psi_mean(t) * self.mu[(t, i)])
                            .sum();
                        self.s[n][(j, i)] * (rhs[(n, i)] + prior)
                    })
                    .sum();
            }
        }
    }
    pub(super) fn compare(&self, b: &MixtureRows) {
        let other = Self::of(b);
        for n in 0..N {
            for j in 0..K {
                close(other.m[(n, j)], self.m[(n, j)]);
                for i in 0..K {
                    close(other.s[n][(i, j)], self.s[n][(i, j)]);
                }
            }
            for t in 0..T {
                close(other.phi[(n, t)], self.phi[(n, t)]);
            }
        }
        for t in 0..T {
            close(other.varsigma[t], self.varsigma[t]);
            for j in 0..K {
                close(other.mu[(t, j)], self.mu[(t, j)]);
            }
        }
        let pairs = |p: &Self| {
            let mut all = p.psi.clone();
            all.extend(&p.nu);
            all.push(p.alpha);
            all
        };
        for (x, y) in pairs(&other).into_iter().zip(pairs(self)) {
            close(x.0, y.0);
            close(x.1, y.1);
        }
    }
}
