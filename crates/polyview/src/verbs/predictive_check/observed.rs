//! The data of a view beside a replicate of them.

use polyview_core::{Block, Predictor, View, ViewTerm};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, uniform_open01};

use super::super::discrepancies::{
    agreement, of_counts, of_numbers, separation, share_of, spread_out,
};
use super::{COLUMNS, mean};

/// Pairs of samples of a feature whose order is looked at.
const PAIRS: usize = 500;

/// A statistic of the data and of the replicate under one draw, column by column.
pub(super) struct Pair {
    pub(super) name: &'static str,
    pub(super) values: Vec<(f64, f64)>,
    /// The column that stands for all where their mean is always the same.
    pub(super) instead_of_mean: Option<usize>,
}

impl Pair {
    fn of(name: &'static str, values: Vec<(f64, f64)>) -> Self {
        Self {
            name,
            values,
            instead_of_mean: None,
        }
    }
    /// What all columns come to, of the data and of the replicate: the mean of those of which both are defined.
    pub(super) fn of_all(&self) -> (f64, f64) {
        if let Some(column) = self.instead_of_mean {
            return self.values[column];
        }
        let defined = self.values.iter().filter(|(x, y)| spread_out(*x, *y));
        let (x, y): (Vec<f64>, Vec<f64>) = defined.copied().unzip();
        (mean(&x), mean(&y))
    }
}

/// One view of the training data, as far as it is looked at.
pub(super) struct Observed<'a> {
    pub(super) view: &'a View,
    /// Places of the samples.
    pub(super) rows: &'a [u32],
    /// Successes out of trials, with those of these samples.
    pub(super) out_of_trials: Option<View>,
    /// How many features are left out since cells of them are censored.
    pub(super) cut: usize,
    /// Places of the columns.
    pub(super) columns: Vec<usize>,
    /// Of ranks the pairs of rows of each column, the smaller value first.
    pub(super) pairs: Vec<Vec<(usize, usize)>>,
}

impl Observed<'_> {
    /// Which part of so many features and samples is looked at, where not all.
    pub(super) fn part(&self, features: usize, samples: usize) -> Option<String> {
        let left = |kept: usize, of: usize, most: usize, what: &str| {
            (kept < of && kept >= most).then(|| format!("{kept} of {of} {what}, evenly spread"))
        };
        let rows = self.rows.len();
        let features = left(self.columns.len(), features, COLUMNS, "features");
        let samples = left(rows, samples, rows, "samples");
        let pairs = (!self.pairs.is_empty())
            .then(|| format!("{PAIRS} pairs of samples of each feature, at most"));
        let cut = (self.cut > 0).then(|| match self.columns.len() {
            0 => "no feature: all have censored cells, with which replicates cannot be compared"
                .to_owned(),
            _ => format!(
                "features without censored cells alone ({} have some)",
                self.cut
            ),
        });
        let parts: Vec<String> = [cut, features, samples, pairs]
            .into_iter()
            .flatten()
            .collect();
        (!parts.is_empty()).then(|| parts.join("; "))
    }
    /// Values of a column of the data and of a replicate where there are data.
    fn column(&self, column: usize, replicate: &Mat<f64>) -> (Vec<f64>, Vec<f64>) {
        let cells = self.rows.iter().enumerate();
        cells
            .filter_map(|(i, &n)| {
                Some((self.view.value(n as usize, column)?, replicate[(i, column)]))
            })
            .unzip()
    }
    /// Statistics of columns of numbers.
    fn of_columns<const S: usize>(
        &self,
        names: [&'static str; S],
        replicate: &Mat<f64>,
        of: fn(&[f64]) -> [f64; S],
    ) -> Vec<Pair> {
        let mut out = names.map(|name| Pair::of(name, Vec::with_capacity(self.columns.len())));
        for &d in &self.columns {
            let (x, y) = self.column(d, replicate);
            let both = of(&x).into_iter().zip(of(&y));
            for (pair, both) in out.iter_mut().zip(both) {
                pair.values.push(both);
            }
        }
        out.into_iter().collect()
    }
    pub(super) fn numbers(&self, replicate: &Mat<f64>) -> Vec<Pair> {
        let names = ["standard deviation", "skewness", "largest distance"];
        self.of_columns(names, replicate, of_numbers)
    }
    pub(super) fn counts(&self, replicate: &Mat<f64>) -> Vec<Pair> {
        let names = ["share of zeros", "variance over mean", "largest count"];
        self.of_columns(names, replicate, of_counts)
    }
    /// Draws the pairs of samples whose order is looked at: of different values.
    pub(super) fn draw_pairs(&mut self, key: StreamKey) {
        let count = self.rows.len();
        let of = |&d: &usize| {
            let mut rng = key.chunk(d as u32).rng();
            let mut below = || ((uniform_open01(&mut rng) * count as f64) as usize).min(count - 1);
            let mut out = Vec::with_capacity(PAIRS);
            // features with few values or many ties have fewer pairs
            for _ in 0..4 * PAIRS {
                let (i, j) = (below(), below());
                let value = |i: usize| self.view.value(self.rows[i] as usize, d);
                if let (Some(x), Some(y)) = (value(i), value(j))
                    && x != y
                {
                    out.push(if x < y { (i, j) } else { (j, i) });
                    if out.len() == PAIRS {
                        break;
                    }
                }
            }
            out
        };
        self.pairs = self.columns.iter().map(of).collect();
    }
    /// What a replicate keeps of the order of the data, and of that of another
    /// replicate under the same parameters.
    pub(super) fn ranks(&self, replicate: &Mat<f64>, second: &Mat<f64>) -> Vec<Pair> {
        let columns = self.columns.iter().zip(&self.pairs);
        let values = columns.map(|(&d, pairs)| {
            let (y, s) = (replicate.col_as_slice(d), second.col_as_slice(d));
            let kept = |ordered: &dyn Fn(usize, usize) -> f64| agreement(pairs, ordered, y);
            // the pairs are those of the data, the smaller value first
            (kept(&|_, _| -1.0), kept(&|i, j| s[i] - s[j]))
        });
        vec![Pair::of("order agreement", values.collect())]
    }
    pub(super) fn labels(
        &self,
        term: &dyn ViewTerm,
        p: &Predictor<'_>,
        replicate: &Mat<f64>,
    ) -> Vec<Pair> {
        let (mut shares, mut apart) = (Vec::new(), Vec::new());
        let rows = self.rows.len();
        for &d in &self.columns {
            let probability = term.law(p, &Block::new(0..rows, d..d + 1)).means();
            let (x, y) = self.column(d, replicate);
            let (q, _) = self.column_of(d, probability.col_as_slice(0));
            shares.push((share_of(1.0, &x), share_of(1.0, &y)));
            apart.push((separation(&x, &q), separation(&y, &q)));
        }
        vec![
            Pair::of("share of ones", shares),
            Pair::of("separation", apart),
        ]
    }
    /// Some numbers of the samples, and the values of a column, where there are
    /// data.
    fn column_of(&self, column: usize, of: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let cells = self.rows.iter().zip(of);
        cells
            .filter_map(|(&n, q)| Some((*q, self.view.value(n as usize, column)?)))
            .unzip()
    }
    pub(super) fn classes(
        &self,
        term: &dyn ViewTerm,
        p: &Predictor<'_>,
        replicate: &Mat<f64>,
    ) -> Vec<Pair> {
        let classes = self.view.levels().len();
        let probability = term.law(p, &Block::new(0..self.rows.len(), 0..1)).means();
        let (x, y) = self.column(0, replicate);
        let cells = self.rows.iter().enumerate();
        let known: Vec<usize> = cells
            .filter(|(_, n)| self.view.value(**n as usize, 0).is_some())
            .map(|(i, _)| i)
            .collect();
        let own = |codes: &[f64]| {
            let of = |(i, c): (&usize, &f64)| probability[(*i, *c as usize)];
            known.iter().zip(codes).map(of).sum::<f64>() / known.len() as f64
        };
        let share = |c: usize| (share_of(c as f64, &x), share_of(c as f64, &y));
        let shares: Vec<(f64, f64)> = (0..classes).map(share).collect();
        // the first of the most frequent ones
        let most = (1..classes).fold(0, |m, c| if shares[c].0 > shares[m].0 { c } else { m });
        vec![
            Pair {
                instead_of_mean: Some(most).filter(|m| *m < classes),
                ..Pair::of("share of the class", shares)
            },
            Pair::of("probability of the own class", vec![(own(&x), own(&y))]),
        ]
    }
}
