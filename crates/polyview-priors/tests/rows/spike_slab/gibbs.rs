//! Draws of spike-and-slab rows: the conditional of one entry, and Geweke
//! (2004) with a Gaussian term: drawing parameters given data and data given
//! parameters in turn leaves the joint distribution alone.

use crate::common::{Kind, groups, normal, problem, start};
use polyview_core::{Context, GammaPrior, Journal, NormalEquations, RowBlock, RowMoments};
use polyview_linalg::{Mat, gram};
use polyview_priors::{BetaPrior, SpikeSlab, SpikeSlabOptions, SpikeSlabRows};
use polyview_random::{StreamKey, standard_normal};

/// With one column the draw does not depend on the one before: frequencies
/// and moments are those of q at the same known scales.
#[test]
fn draws_of_one_column_have_the_moments_of_the_optimum() {
    let rows = 12;
    let options = SpikeSlabOptions {
        precision: None,
        inclusion: BetaPrior::uniform(),
    };
    let p = problem(Kind::All, rows, 1, 4);
    let mut prior = SpikeSlab::new(options, rows, 1);
    prior.gammas_mut().set_value(0, 1.7);
    prior.betas_mut().set_values(&[0.3]);
    prior.hold_probabilities(usize::MAX);
    let mut q = SpikeSlabRows::new("w", prior.clone(), start(rows, 1, 1));
    p.update(&mut q, &[rows]);
    let mut b = SpikeSlabRows::new("w", prior, start(rows, 1, 1));
    let draws = 20_000;
    let mut sums = vec![[0.0; 4]; rows];
    for i in 0..draws {
        p.draw(&mut b, &[7, rows], StreamKey::new(2).sweep(i));
        for (r, s) in sums.iter_mut().enumerate() {
            let (w, inc) = (b.moments().mean()[(r, 0)], b.inclusion()[(r, 0)]);
            let w_hat = b.slab_mean()[(r, 0)];
            assert_eq!(w, inc * w_hat);
            *s = [
                s[0] + inc,
                s[1] + w,
                s[2] + w * w,
                s[3] + (1.0 - inc) * w_hat * w_hat,
            ];
        }
    }
    let n = draws as f64;
    for (r, s) in sums.iter().enumerate() {
        let gamma = q.inclusion()[(r, 0)];
        let (mean, variance) = (q.moments().mean()[(r, 0)], q.moments().variance(r, 0));
        assert!((s[0] / n - gamma).abs() < 4.5 * (gamma * (1.0 - gamma) / n).sqrt() + 1e-12);
        assert!((s[1] / n - mean).abs() < 4.5 * (variance / n).sqrt(), "{r}");
        let second = mean * mean + variance;
        assert!((s[2] / n - second).abs() < 0.06 * (second + 0.05), "{r}");
        // the spike keeps its prior
        let spike = s[3] / n / (1.0 - gamma);
        let counted = n * (1.0 - gamma);
        assert!(
            (spike * 1.7 - 1.0).abs() < 4.5 * (2.0 / counted).sqrt(),
            "{r}: {spike}"
        );
    }
}

const ROWS: usize = 5;
const K: usize = 2;
const GROUPS: usize = 2;
const OBSERVED: usize = 3;

struct Joint {
    block: SpikeSlabRows,
    design: Mat<f64>,
    /// Observations × rows.
    data: Mat<f64>,
}

impl Joint {
    fn new() -> Self {
        let options = SpikeSlabOptions {
            precision: Some(GammaPrior::new(4.0, 3.0)),
            inclusion: BetaPrior::new(1.5, 2.0),
        };
        Self {
            block: SpikeSlabRows::new(
                "w",
                SpikeSlab::by_group(options, groups(ROWS, GROUPS), K),
                RowMoments::point(Mat::zeros(ROWS, K)),
            ),
            design: normal(OBSERVED, K, &mut StreamKey::new(77).rng()),
            data: Mat::zeros(OBSERVED, ROWS),
        }
    }
    fn draw_data(&mut self, key: StreamKey) {
        let mut rng = key.block(50).rng();
        let mean = &self.design * self.block.moments().mean().transpose();
        self.data = Mat::from_fn(OBSERVED, ROWS, |n, r| {
            mean[(n, r)] + standard_normal(&mut rng)
        });
    }
    fn draw_parameters(&mut self, key: StreamKey) {
        let mut journal = Journal::default();
        let mut cx = Context {
            key: key.block(1),
            sweep: 1,
            journal: &mut journal,
        };
        let mut eq = NormalEquations::new(K, 0..ROWS);
        eq.gram = gram(self.design.as_ref());
        eq.rhs = self.data.transpose() * &self.design;
        self.block.prepare(&eq, &mut cx).unwrap();
        self.block.draw(&mut eq, &mut cx).unwrap();
        cx.key = key.block(2);
        self.block.draw_scales(&mut cx);
    }
    fn statistics(&self) -> Vec<f64> {
        let b = &self.block;
        let (w, hat, s) = (b.moments().mean(), b.slab_mean(), b.inclusion());
        let prior = b.prior();
        let mut out = vec![
            w[(0, 0)],
            w[(0, 0)].powi(2),
            w[(0, 0)] * w[(0, 1)],
            hat[(1, 0)].powi(2),
            s[(1, 0)],
            s[(2, 1)] * s[(2, 0)],
            (0..ROWS).map(|r| s[(r, 0)]).sum(),
            w[(1, 0)] * self.data[(0, 1)],
            self.data[(0, 1)].powi(2),
            b.bound().0[0].value,
            b.bound().0[1].value,
        ];
        for i in 0..GROUPS * K {
            let (alpha, theta) = (prior.gammas().mean_ln()[i], prior.betas());
            let included = (0..ROWS)
                .filter(|&r| prior.groups().of_row()[r] as usize == i % GROUPS)
                .map(|r| s[(r, i / GROUPS)])
                .sum::<f64>();
            out.extend([
                alpha,
                alpha * alpha,
                theta.log_odds(i),
                theta.mean(i).powi(2),
                included * theta.mean(i),
                included * alpha,
            ]);
        }
        out
    }
}

#[test]
fn gibbs_leaves_the_joint_distribution_alone() {
    let draws = 8000;
    let mut joint = Joint::new();
    let mut prior = Vec::new();
    for i in 0..draws {
        let key = StreamKey::new(6).chain(1).sweep(i);
        joint.block.draw_prior(key);
        joint.draw_data(key);
        prior.push(joint.statistics());
    }
    let mut chain = Vec::new();
    for i in 0..4 * draws {
        let key = StreamKey::new(6).chain(2).sweep(i);
        joint.draw_parameters(key);
        chain.push(joint.statistics());
        joint.draw_data(key);
    }
    for s in 0..prior[0].len() {
        let a: Vec<f64> = prior.iter().map(|x| x[s]).collect();
        let b: Vec<f64> = chain.iter().map(|x| x[s]).collect();
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        let error = |v: &[f64]| {
            let m = mean(v);
            let sum: f64 = v.iter().map(|x| (x - m).powi(2)).sum();
            sum / (v.len() - 1) as f64 / v.len() as f64
        };
        let batches: Vec<f64> = b.chunks(b.len() / 80).map(mean).collect();
        let z = (mean(&a) - mean(&b)) / (error(&a) + error(&batches)).sqrt();
        assert!(z.abs() < 4.5, "statistic {s}: {z}");
    }
}
