//! The objective by named term.

use serde::{Deserialize, Serialize};

/// Named contributions of one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms(pub Vec<(&'static str, f64)>);

impl Terms {
    /// One term.
    pub fn one(name: &'static str, value: f64) -> Self {
        Self(vec![(name, value)])
    }
    /// Sum of all terms.
    pub fn sum(&self) -> f64 {
        compensated(self.0.iter().map(|t| t.1))
    }
}

/// The objective of one sweep: terms in a fixed order, named
/// `kind/view`, such as `likelihood/genes`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LedgerRow {
    /// The sweep, from 1; 0 is the start.
    pub sweep: usize,
    /// Number of factors then.
    pub factors: usize,
    /// One value a name of the [`Ledger`].
    pub values: Vec<f64>,
    /// Compensated sum of the values: the bound (variational Bayes) or the log
    /// joint density (Gibbs), in nats.
    pub total: f64,
}

/// The objective by named term, one row a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Names of the terms.
    pub names: Vec<String>,
    /// One row a sweep.
    pub rows: Vec<LedgerRow>,
}

impl Ledger {
    /// Adds a row. The names are taken from the first one.
    pub fn push(&mut self, sweep: usize, factors: usize, terms: Vec<(String, f64)>) -> f64 {
        let values: Vec<f64> = terms.iter().map(|t| t.1).collect();
        if self.names.is_empty() {
            self.names = terms.into_iter().map(|t| t.0).collect();
        }
        let total = compensated(values.iter().copied());
        self.rows.push(LedgerRow {
            sweep,
            factors,
            values,
            total,
        });
        total
    }
    /// The last total, in nats.
    pub fn last(&self) -> Option<f64> {
        self.rows.last().map(|r| r.total)
    }
    /// All totals in order.
    pub fn totals(&self) -> impl Iterator<Item = f64> + '_ {
        self.rows.iter().map(|r| r.total)
    }
}

/// Neumaier's compensated sum.
pub fn compensated(values: impl IntoIterator<Item = f64>) -> f64 {
    let (mut sum, mut rest) = (0.0_f64, 0.0_f64);
    for x in values {
        let t = sum + x;
        rest += if sum.abs() >= x.abs() {
            (sum - t) + x
        } else {
            (x - t) + sum
        };
        sum = t;
    }
    sum + rest
}
