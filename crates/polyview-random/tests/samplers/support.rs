//! Statistical checks shared by the tests. All bands are five standard errors wide or more, and all
//! seeds are fixed: a failure is a defect, not bad luck.

use polyview_random::{ChaCha8Rng, StreamKey};

/// Generator of one test.
pub fn rng(seed: u64) -> ChaCha8Rng {
    StreamKey::new(seed).block(0x7e57).rng()
}

/// `n` draws.
pub fn draws(n: usize, mut draw: impl FnMut() -> f64) -> Vec<f64> {
    (0..n).map(|_| draw()).collect()
}

/// Kolmogorov-Smirnov test: `sqrt(n) D < 2.7`, which a true sampler exceeds with probability 1e-6.
pub fn assert_ks(name: &str, mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) {
    sample.sort_by(f64::total_cmp);
    let n = sample.len() as f64;
    let mut distance = 0.0_f64;
    for (i, &x) in sample.iter().enumerate() {
        let f = cdf(x);
        assert!((-1e-9..=1.0 + 1e-9).contains(&f), "{name}: cdf({x}) = {f}");
        distance = distance.max(f - i as f64 / n).max((i + 1) as f64 / n - f);
    }
    assert!(
        distance * n.sqrt() < 2.7,
        "{name}: sqrt(n) D = {}",
        distance * n.sqrt()
    );
}

/// Sample mean within five standard errors.
pub fn assert_mean(name: &str, sample: &[f64], mean: f64, sd: f64) {
    let n = sample.len() as f64;
    let found = sample.iter().sum::<f64>() / n;
    let errors = (found - mean) / (sd / n.sqrt());
    assert!(
        errors.abs() < 5.0,
        "{name}: mean {found}, not {mean} ({errors} standard errors)"
    );
}

/// Sample variance within five standard errors, the error from the sample's fourth moment.
pub fn assert_variance(name: &str, sample: &[f64], mean: f64, variance: f64) {
    let n = sample.len() as f64;
    let moment = |k: i32| sample.iter().map(|x| (x - mean).powi(k)).sum::<f64>() / n;
    let (second, fourth) = (moment(2), moment(4));
    let errors = (second - variance) / ((fourth - second * second) / n).sqrt();
    assert!(
        errors.abs() < 5.0,
        "{name}: variance {second}, not {variance} ({errors} standard errors)"
    );
}

/// Distribution function of a density given by its logarithm, by Simpson's rule on a fine grid.
pub struct TabulatedCdf {
    lower: f64,
    step: f64,
    values: Vec<f64>,
}

impl TabulatedCdf {
    /// Table on `[lower, upper]`, where all the mass must be.
    pub fn new(lower: f64, upper: f64, ln_density: impl Fn(f64) -> f64) -> Self {
        let panels = 20_000;
        let step = (upper - lower) / f64::from(panels);
        let at = |i: i32| ln_density(lower + 0.5 * step * f64::from(i));
        let nodes: Vec<f64> = (0..=2 * panels).map(at).collect();
        let top = nodes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut values = vec![0.0];
        let mut sum = 0.0;
        for node in nodes.windows(3).step_by(2) {
            let [a, b, c] = [0, 1, 2].map(|k| (node[k] - top).exp());
            sum += a + 4.0 * b + c;
            values.push(sum);
        }
        for value in &mut values {
            *value /= sum;
        }
        Self {
            lower,
            step,
            values,
        }
    }

    /// Table around the mode of a log-concave density, out to where it has fallen by `e^-45`.
    pub fn around(mode: f64, ln_density: impl Fn(f64) -> f64) -> Self {
        let floor = ln_density(mode) - 45.0;
        let reach = |sign: f64| {
            let mut far = 1e-6;
            while ln_density(mode + sign * far) > floor {
                far *= 1.1;
            }
            mode + sign * far
        };
        Self::new(reach(-1.0), reach(1.0), ln_density)
    }

    pub fn at(&self, x: f64) -> f64 {
        let place = ((x - self.lower) / self.step).max(0.0);
        let cell = place as usize;
        match self.values.get(cell + 1) {
            Some(&next) => {
                let here = self.values[cell];
                here + (next - here) * (place - cell as f64)
            }
            None => 1.0,
        }
    }
}
