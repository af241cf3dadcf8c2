//! Whether saved arrays fit together, before a model is built from them.

use polyview_core::State;
use polyview_linalg::packed_len;

use super::fault::Fault;

/// Ways in which the covariances of rows are kept, by their arrays.
const COVARIANCES: [&[&str]; 5] = [
    &["cov_shared"],
    &["cov_vectors", "cov_scales"],
    &["cov_patterns", "pattern_of_row"],
    &["cov_rows"],
    &["variances"],
];

/// A state and where it stands in the file.
#[derive(Clone, Copy)]
pub(super) struct Checked<'a> {
    pub(super) state: &'a State,
    pub(super) place: &'a str,
}

/// Extents that a block of rows must have.
#[derive(Clone, Copy)]
pub(super) struct Rows {
    pub(super) count: usize,
    pub(super) factors: usize,
    pub(super) implicit: usize,
    pub(super) spread: Spread,
}

/// Whether a block of rows has covariances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spread {
    /// It must have: a variational posterior.
    Some,
    /// It must not: a draw.
    None,
    /// Either.
    Any,
}

impl Checked<'_> {
    fn shape(&self, name: &str) -> Result<&[usize], Fault> {
        let array = self.state.arrays().get(name);
        array
            .map(|a| &a.shape[..])
            .ok_or_else(|| Fault::Missing(format!("{}{name}", self.place)))
    }
    fn values(&self, name: &str) -> &[f64] {
        let array = self.state.arrays().get(name);
        array.map_or(&[], |a| &a.values)
    }
    pub(super) fn bad(&self, name: &str, what: &'static str) -> Fault {
        Fault::values(&format!("{}{name}", self.place), what)
    }
    /// An error unless the array has that shape.
    pub(super) fn expect(&self, name: &str, expected: &[usize]) -> Result<(), Fault> {
        let found = self.shape(name)?;
        if found == expected {
            Ok(())
        } else {
            Err(Fault::Shape {
                name: format!("{}{name}", self.place),
                expected: expected.to_vec(),
                found: found.to_vec(),
            })
        }
    }
    /// Columns of a matrix.
    pub(super) fn columns(&self, name: &str) -> Result<usize, Fault> {
        match self.shape(name)? {
            [_, columns] => Ok(*columns),
            _ => Err(self.bad(name, "is not a matrix")),
        }
    }
    /// The number of implicit rows or columns that a vector ends or begins
    /// with.
    fn implicit(&self, name: &str, expected: usize) -> Result<(), Fault> {
        if self.values(name).first() == Some(&(expected as f64)) {
            Ok(())
        } else {
            Err(self.bad(name, "counts other rows than the model has"))
        }
    }
    /// The moments of a block of rows.
    pub(super) fn moments(&self, prefix: &str, want: Rows) -> Result<(), Fault> {
        let at = |name: &str| format!("{prefix}/{name}");
        let (rows, k, packed) = (want.count, want.factors, packed_len(want.factors));
        self.expect(&at("mean"), &[rows, k])?;
        self.expect(&at("log_det"), &[1])?;
        self.expect(&at("implicit"), &[1])?;
        self.implicit(&at("implicit"), want.implicit)?;
        let mut kinds = COVARIANCES
            .iter()
            .filter(|names| {
                names
                    .iter()
                    .any(|n| self.state.arrays().contains_key(&at(n)))
            })
            .map(|names| names[0]);
        let kind = kinds.next();
        if kinds.next().is_some() {
            return Err(self.bad(&at("mean"), "has several kinds of covariances"));
        }
        match (kind, want.spread) {
            (None, Spread::Some) => {
                return Err(self.bad(&at("mean"), "lacks its covariances"));
            }
            (Some(_), Spread::None) => {
                return Err(self.bad(&at("mean"), "is a draw, yet has covariances"));
            }
            _ => {}
        }
        match kind {
            Some("cov_shared") => self.expect(&at("cov_shared"), &[packed]),
            Some("cov_vectors") => {
                // more vectors than factors where factors were removed since
                let vectors = self.columns(&at("cov_vectors"))?;
                if vectors < k {
                    return Err(self.bad(&at("cov_vectors"), "has too few columns"));
                }
                self.expect(&at("cov_vectors"), &[k, vectors])?;
                self.expect(&at("cov_scales"), &[rows, vectors])
            }
            Some("cov_patterns") => {
                let patterns = self.columns(&at("cov_patterns"))?;
                self.expect(&at("cov_patterns"), &[packed, patterns])?;
                self.expect(&at("pattern_of_row"), &[rows])?;
                let known = |p: &f64| *p >= 0.0 && *p < patterns as f64 && p.fract() == 0.0;
                if self.values(&at("pattern_of_row")).iter().all(known) {
                    Ok(())
                } else {
                    Err(self.bad(&at("pattern_of_row"), "names a pattern that is not there"))
                }
            }
            Some("cov_rows") => self.expect(&at("cov_rows"), &[packed, rows]),
            Some(_) => self.expect(&at("variances"), &[rows, k]),
            None => Ok(()),
        }
    }
    /// The intercepts of a view.
    pub(super) fn bias(&self, prefix: &str, columns: usize, implicit: usize) -> Result<(), Fault> {
        self.expect(&format!("{prefix}/mean"), &[columns])?;
        self.expect(&format!("{prefix}/variance"), &[columns])?;
        self.expect(&format!("{prefix}/rest"), &[4])?;
        self.implicit(&format!("{prefix}/rest"), implicit)
    }
    /// An error unless every number is finite.
    pub(super) fn finite(&self) -> Result<(), Fault> {
        for (name, array) in self.state.arrays() {
            if !array.values.iter().all(|x| x.is_finite()) {
                return Err(self.bad(name, "holds a value that is not finite"));
            }
        }
        Ok(())
    }
    /// An error unless the other state has the same arrays, bit for bit: what
    /// was read is all that there is.
    pub(super) fn same_as(&self, other: &State) -> Result<(), Fault> {
        let (here, there) = (self.state.arrays(), other.arrays());
        if let Some(name) = here.keys().find(|name| !there.contains_key(*name)) {
            return Err(Fault::Unknown(format!("{}{name}", self.place)));
        }
        for (name, b) in there {
            let same = here.get(name).is_some_and(|a| {
                let bits = |x: &f64| x.to_bits();
                a.shape == b.shape && a.values.iter().map(bits).eq(b.values.iter().map(bits))
            });
            if !same {
                return Err(self.bad(name, "does not belong to such a model"));
            }
        }
        Ok(())
    }
}
