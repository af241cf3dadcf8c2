//! New samples, known by their similarities to the samples of training (spec/mlfs 7).

use std::sync::Arc;

use polyview_core::{
    Block, Context, DataError, Domain, Equations, Intercepts, Law, Link, NormalEquations,
    NumericError, Predictor, State, StateReader, Stateful, Terms, View, ViewShape, ViewTerm,
};
use polyview_linalg::{
    Mat, PackedRows, SymPacked, packed_dot, packed_index, packed_len, packed_quad,
};
use polyview_random::StreamKey;
use rayon::prelude::*;

use super::law::{self, Uncertain};
use super::pairs::Similarities;
use super::update::solve;
use super::{NewSamples, Similarity};

/// What the similarities of a sample say of its latent row: $T = (\gamma I + \tau S)^{-1}$ and
/// $t = \tau\sum\_jx\_{*j}\langle u\_j\rangle$, so that the row is normal given its predictor,
/// with covariance $T$ and mean $(\gamma\eta + t)T$.
#[derive(Clone, Debug)]
struct Own {
    cov: SymPacked,
    pull: Vec<f64>,
    /// What of the log likelihood does not depend on the predictor, nats.
    constant: f64,
}

/// What a sample says of its predictor: $-\tfrac12\eta A\eta^\top + \eta c^\top$.
struct Site {
    precision: SymPacked,
    linear: Vec<f64>,
}

/// The data term of new samples.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    /// The parameters.
    base: Arc<Similarity>,
    data: Similarities,
    own: Vec<Own>,
}

impl Arrivals {
    /// New samples of a view whose features are the samples of training.
    pub(super) fn new(view: &View, base: &Similarity) -> Self {
        let mut base = base.clone();
        // parameters alone
        base.data = Similarities::new(&view.subset(view.name(), &[]));
        base.active = Vec::new();
        Self::of(view, Arc::new(base))
    }
    fn of(view: &View, base: Arc<Similarity>) -> Self {
        let data = Similarities::new(view);
        let own = (0..data.samples())
            .into_par_iter()
            .map(|n| of_sample(&base, &data, n))
            .collect();
        Self { base, data, own }
    }
    /// The site of a sample; nothing of one without a similarity.
    fn site(&self, sample: usize, prior: Option<&SymPacked>, bias: &[f64]) -> Option<Site> {
        if self.data.count(sample) == 0 {
            return None;
        }
        let own = &self.own[sample];
        let k = self.base.rows.k();
        let gamma = self.base.precisions().0;
        let Some(prior) = prior else {
            // A = gamma I - gamma^2 T, c = gamma t T
            let mut precision = own.cov.clone();
            precision.scale(-gamma * gamma);
            precision.add_diag(&vec![gamma; k]);
            let linear = own.cov.times_vec(&own.pull);
            return Some(Site {
                precision,
                linear: linear.into_iter().map(|x| gamma * x).collect(),
            });
        };
        let row = self.first_stage(sample, prior, bias)?;
        let mut precision = SymPacked::zeros(k);
        precision.add_diag(&vec![gamma; k]);
        Some(Site {
            precision,
            linear: row.into_iter().map(|x| gamma * x).collect(),
        })
    }
    /// The mean of a latent row by its similarities alone, under the law $N(b, P^{-1})$ that the
    /// prior of the factors gives it.
    fn first_stage(&self, sample: usize, prior: &SymPacked, bias: &[f64]) -> Option<Vec<f64>> {
        let (gamma, k) = (self.base.precisions().0, self.base.rows.k());
        // tau S = T^-1 - gamma I
        let (of_own, _) = polyview_linalg::SpdFactor::factor(&self.own[sample].cov).ok()?;
        let mut precision = of_own.inverse();
        precision.add_diag(&vec![-gamma; k]);
        precision.add_scaled(1.0, prior);
        let mut rhs = prior.times_vec(bias);
        for (h, t) in rhs.iter_mut().zip(&self.own[sample].pull) {
            *h += t;
        }
        let found = solve(&precision, &rhs).ok()?;
        Some((0..k).map(|l| found.mean[(0, l)]).collect())
    }
    /// Precision of latent rows before their similarities are seen, of the paper's first stage:
    /// $(\langle W^\top W\rangle + \gamma^{-1}I)^{-1}$.
    fn prior(&self, p: &Predictor<'_>) -> Result<Option<SymPacked>, NumericError> {
        if self.base.options.new_samples == NewSamples::Exact {
            return Ok(None);
        }
        let (gamma, k) = (self.base.precisions().0, self.base.rows.k());
        let w = p.weights.mean();
        let mut cov = SymPacked::from_lower(k, |a, b| {
            (0..w.ncols()).map(|f| w[(a, f)] * w[(b, f)]).sum()
        });
        let own = |l: usize| -> f64 { (0..w.ncols()).map(|f| p.weights.variance(l, f)).sum() };
        cov.add_diag(&(0..k).map(|l| own(l) + 1.0 / gamma).collect::<Vec<f64>>());
        let (factor, _) =
            polyview_linalg::SpdFactor::factor(&cov).map_err(|source| NumericError::Linalg {
                block: format!("likelihood/{}", self.base.name),
                source,
            })?;
        Ok(Some(factor.inverse()))
    }
    /// Latent rows of some samples, given what is known of their predictors.
    fn rows(&self, p: &Predictor<'_>, samples: std::ops::Range<usize>) -> Uncertain {
        let gamma = self.base.precisions().0;
        let mut out = Uncertain::predictor(p, samples.clone());
        let k = out.mean.ncols();
        for (i, n) in samples.enumerate() {
            let own = &self.own[n];
            let h: Vec<f64> = (0..k)
                .map(|l| gamma * out.mean[(i, l)] + own.pull[l])
                .collect();
            for (l, x) in own.cov.times_vec(&h).into_iter().enumerate() {
                out.mean[(i, l)] = x;
            }
            // T + gamma^2 T V T
            let turn = own.cov.to_mat();
            let mut spread = PackedRows::zeros(1, k);
            spread.row_mut(0).copy_from_slice(out.cov.row(i));
            spread.congruence(turn.as_ref());
            let to = out.cov.row_mut(i).iter_mut();
            for (c, (t, v)) in to.zip(own.cov.as_slice().iter().zip(spread.row(0))) {
                *c = t + gamma * gamma * v;
            }
        }
        out
    }
    fn not_of_training(&self) -> NumericError {
        NumericError::Mismatch {
            block: format!("likelihood/{}", self.base.name),
            what: "new samples are compared with those of training and say nothing of weights",
        }
    }
}

fn of_sample(base: &Similarity, data: &Similarities, sample: usize) -> Own {
    let (k, (gamma, tau)) = (base.rows.k(), base.precisions());
    let mut second = vec![0.0; packed_len(k)];
    let mut pull = vec![0.0; k];
    let (mut squares, mut count) = (0.0, 0.0);
    for (j, x) in data.of(sample) {
        base.rows.add_second(j, &mut second);
        for (t, u) in pull.iter_mut().zip(base.rows.mean(j)) {
            *t += tau * x * u;
        }
        squares += x * x;
        count += 1.0;
    }
    let mut precision = SymPacked::zeros(k);
    for (to, s) in precision.as_mut_slice().iter_mut().zip(&second) {
        *to = tau * s;
    }
    precision.add_diag(&vec![gamma; k]);
    let l2p = (2.0 * std::f64::consts::PI).ln();
    let pairs = 0.5 * count * (base.tau.mean_ln()[0] - l2p) - 0.5 * tau * squares;
    match polyview_linalg::SpdFactor::factor(&precision) {
        Ok((factor, _)) => {
            let cov = factor.inverse();
            let rows = 0.5 * k as f64 * base.layer.noise().mean_ln()[0] - 0.5 * factor.log_det();
            Own {
                constant: pairs + rows + 0.5 * cov.quad(&pull),
                cov,
                pull,
            }
        }
        // told where factors are found
        Err(_) => Own {
            cov: SymPacked::zeros(k),
            pull: vec![f64::NAN; k],
            constant: f64::NAN,
        },
    }
}

impl ViewTerm for Arrivals {
    fn shape(&self) -> ViewShape {
        ViewShape {
            samples: self.data.samples(),
            ..self.base.shape()
        }
    }
    fn by_cells(&self) -> bool {
        true
    }
    fn intercepts(&self) -> Intercepts {
        Intercepts::default()
    }
    fn domain(&self) -> Domain {
        Domain::Similarities
    }
    fn link(&self, group: Option<usize>, column: usize, level: f64) -> Link {
        self.base.link(group, column, level)
    }
    fn refresh(&mut self, _p: &Predictor<'_>, _cx: &mut Context<'_>) -> Result<(), NumericError> {
        Ok(())
    }
    fn equations(&mut self) -> &mut dyn Equations {
        self
    }
    /// Latent rows integrated out.
    fn bound(&mut self, p: &Predictor<'_>) -> Terms {
        let samples = 0..self.data.samples();
        let of = Uncertain::predictor(p, samples.clone());
        let k = self.base.rows.k();
        let part = |n: usize| {
            let Some(site) = self.site(n, None, &[]) else {
                return 0.0;
            };
            let mean: Vec<f64> = (0..k).map(|l| of.mean[(n, l)]).collect();
            let a = site.precision.as_slice();
            let linear: f64 = mean.iter().zip(&site.linear).map(|(m, c)| m * c).sum();
            let quadratic = packed_quad(a, &mean) + packed_dot(a, of.cov.row(n), k);
            self.own[n].constant + linear - 0.5 * quadratic
        };
        Terms::of_samples("likelihood", polyview_core::compensated(samples.map(part)))
    }
    /// Given the similarities that the samples have.
    fn law(&self, p: &Predictor<'_>, block: &Block<'_>) -> Box<dyn Law + '_> {
        let rows = self.rows(p, block.samples.clone());
        let between = self.base.noise().1;
        Box::new(law::of_rows(
            &rows,
            &self.base.rows,
            between,
            &block.columns,
        ))
    }
    fn simulate(&self, p: &Predictor<'_>, parameters: StreamKey, data: StreamKey) -> Mat<f64> {
        self.base.simulated(p, parameters, data)
    }
    fn rebind(&self, view: &View) -> Result<Box<dyn ViewTerm>, DataError> {
        crate::cells::check_features(view, self.base.rows.len())?;
        Ok(Box::new(Self::of(view, Arc::clone(&self.base))))
    }
    fn laws_need_data(&self) -> bool {
        true
    }
}

impl Equations for Arrivals {
    fn weight_gram(
        &mut self,
        _p: &Predictor<'_>,
        _eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        Err(self.not_of_training())
    }
    fn weight_equations(
        &mut self,
        _p: &Predictor<'_>,
        _eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        Err(self.not_of_training())
    }
    /// $P\_z = \langle WAW^\top\rangle$, $h\_z = (c - bA)\langle W\rangle^\top$ with the sites'
    /// $A$ and $c$; the rows of the weights are independent.
    fn factor_equations(
        &mut self,
        p: &Predictor<'_>,
        eq: &mut NormalEquations,
    ) -> Result<(), NumericError> {
        let (k, factors) = (self.base.rows.k(), eq.k());
        let prior = self.prior(p)?;
        let bias = &p.bias.mean()[..k];
        let w = p.weights.mean();
        let second = p.weights.second_moment_rows(0..k);
        // w_a w_b' + w_b w_a' for dimensions a > b, packed
        let across = |a: usize, b: usize, by: f64, to: &mut [f64]| {
            let mut cells = to.iter_mut();
            for i in 0..factors {
                for (j, cell) in (0..=i).zip(&mut cells) {
                    *cell += by * (w[(a, i)] * w[(b, j)] + w[(b, i)] * w[(a, j)]);
                }
            }
        };
        for (i, n) in eq.rows().enumerate() {
            let Some(site) = self.site(n, prior.as_ref(), bias) else {
                continue;
            };
            if site.linear.iter().any(|x| !x.is_finite()) {
                return Err(self.base.not_finite("what similarities say of a sample"));
            }
            let to = eq.packed_mut().row_mut(i);
            for a in 0..k {
                let by = site.precision.get(a, a);
                for (t, s) in to.iter_mut().zip(second.row(a)) {
                    *t += by * s;
                }
                for b in 0..a {
                    across(a, b, site.precision.as_slice()[packed_index(a, b)], to);
                }
            }
            let known = site.precision.times_vec(bias);
            for f in 0..factors {
                let of = |l: usize| w[(l, f)] * (site.linear[l] - known[l]);
                eq.rhs[(i, f)] += (0..k).map(of).sum::<f64>();
            }
        }
        Ok(())
    }
}

impl Stateful for Arrivals {
    fn save(&self, prefix: &str, state: &mut State) {
        self.base.save(prefix, state);
    }
    /// What it compares with came with it.
    fn load(&mut self, _prefix: &str, _state: &StateReader<'_>) -> Result<(), NumericError> {
        Ok(())
    }
}
