//! Ranks of true values among posterior draws, and whether they are uniform
//! (Talts et al. 2018, "Validating Bayesian inference algorithms with
//! simulation-based calibration").

/// Posterior draws of a data set; the rank of the truth among them is one of
/// `DRAWS + 1`.
pub const DRAWS: usize = 31;
/// Bins of a rank histogram.
const BINS: usize = 16;
/// Largest chi-square of a histogram, 15 degrees of freedom: exceeded once in
/// ten thousand uniform ones.
pub const CHI_SQUARE: f64 = 44.26;
/// Largest standard score of the spread of the ranks.
pub const SPREAD: f64 = 4.0;

/// Ranks of one quantity, one a data set.
#[derive(Clone, Debug, Default)]
pub struct Ranks(Vec<usize>);

impl Ranks {
    /// Adds the rank of `truth` among `draws`.
    pub fn push(&mut self, truth: f64, draws: impl Iterator<Item = f64>) {
        self.0.push(draws.filter(|x| *x < truth).count());
    }
    /// Pearson's statistic of the histogram against the uniform one.
    pub fn chi_square(&self) -> f64 {
        let mut counts = [0.0; BINS];
        for r in &self.0 {
            counts[r * BINS / (DRAWS + 1)] += 1.0;
        }
        let expected = self.0.len() as f64 / BINS as f64;
        counts.iter().map(|c| (c - expected).powi(2)).sum::<f64>() / expected
    }
    /// Standard score of the mean squared distance from the middle: positive
    /// where the posterior is too narrow.
    pub fn spread(&self) -> f64 {
        let values = (DRAWS + 1) as f64;
        let of = |r: usize| ((r as f64 + 0.5) / values - 0.5).powi(2);
        let all: Vec<f64> = (0..=DRAWS).map(of).collect();
        let mean = all.iter().sum::<f64>() / values;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / values;
        let n = self.0.len() as f64;
        let found = self.0.iter().map(|&r| of(r)).sum::<f64>() / n;
        (found - mean) / (variance / n).sqrt()
    }
    /// Whether the ranks pass for uniform.
    pub fn uniform(&self) -> bool {
        self.chi_square() < CHI_SQUARE && self.spread().abs() < SPREAD
    }
}
