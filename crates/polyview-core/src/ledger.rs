//! The objective by named term.

use serde::{Deserialize, Serialize};

/// What a term of the objective adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Of {
    /// Parts of the samples: a batch of them has its share.
    Samples,
    /// Parameters, which are there once however many samples there are.
    Parameters,
}

/// A named part of the objective, in nats.
#[derive(Clone, Debug, PartialEq)]
pub struct Term<N = &'static str> {
    /// Name.
    pub name: N,
    /// What it adds up.
    pub of: Of,
    /// Value, nats.
    pub value: f64,
}

/// Named contributions of one block.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Terms(pub Vec<Term>);

impl Terms {
    /// One term that adds up parts of the samples (or rows).
    pub fn of_samples(name: &'static str, value: f64) -> Self {
        Self::default().with(name, Of::Samples, value)
    }
    /// One term more.
    #[must_use]
    pub fn with(mut self, name: &'static str, of: Of, value: f64) -> Self {
        self.0.push(Term { name, of, value });
        self
    }
    /// Sum of all terms.
    pub fn sum(&self) -> f64 {
        compensated(self.0.iter().map(|t| t.value))
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
    pub fn push(&mut self, sweep: usize, factors: usize, terms: Vec<Term<String>>) -> f64 {
        let values: Vec<f64> = terms.iter().map(|t| t.value).collect();
        if self.names.is_empty() {
            self.names = terms.into_iter().map(|t| t.name).collect();
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
