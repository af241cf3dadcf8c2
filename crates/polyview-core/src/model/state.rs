//! Everything a model must remember, as named arrays: the content of model
//! files and checkpoints.

use std::collections::BTreeMap;

use polyview_linalg::{Mat, MatRef};

use crate::error::NumericError;

/// What an array of a [`State`] is there for. Files do not hold roles: whoever reads
/// one has the parts write their state again ([`Stateful::save`]), which says them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// A part of the posterior: other samples need it, too.
    #[default]
    Parameter,
    /// It belongs to the training data alone, as latent scores and imputed cells do;
    /// a fit that has ended does not keep it.
    Local,
    /// A reference to the training data that predictions need, as the training values
    /// of ranks. Draws may have it in common.
    Shared,
}

/// One named array: shape and values, column-major.
#[derive(Clone, Debug, PartialEq)]
pub struct StateArray {
    /// One or two extents.
    pub shape: Vec<usize>,
    /// The values, column-major.
    pub values: Vec<f64>,
    /// What it is there for.
    pub role: Role,
}

/// Named arrays, ordered by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    arrays: BTreeMap<String, StateArray>,
    /// Of the arrays that are written next.
    role: Role,
    spare: Spare,
}

/// Memory of arrays that are gone, by name; no part of what a state says.
#[derive(Debug, Default)]
struct Spare(BTreeMap<String, Vec<f64>>);

impl Spare {
    /// An empty vector, with the memory of the array that had this name.
    fn take(&mut self, name: &str) -> Vec<f64> {
        self.0.remove(name).unwrap_or_default()
    }
}

impl Clone for Spare {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Spare {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl State {
    /// No arrays.
    pub fn new() -> Self {
        Self::default()
    }
    /// Drops all arrays, and keeps their memory for others of the same names.
    pub fn clear(&mut self) {
        for (name, array) in std::mem::take(&mut self.arrays) {
            let mut values = array.values;
            values.clear();
            self.spare.0.insert(name, values);
        }
    }
    /// Whatever `write` adds belongs to the training data alone ([`Role::Local`]).
    pub fn local(&mut self, write: impl FnOnce(&mut Self)) {
        self.in_role(Role::Local, write);
    }
    /// Whatever `write` adds is a reference to the training data ([`Role::Shared`]).
    pub fn shared(&mut self, write: impl FnOnce(&mut Self)) {
        self.in_role(Role::Shared, write);
    }
    fn in_role(&mut self, role: Role, write: impl FnOnce(&mut Self)) {
        let outside = std::mem::replace(&mut self.role, role);
        write(self);
        self.role = outside;
    }
    /// Adds a matrix.
    pub fn put_mat(&mut self, name: &str, m: MatRef<'_, f64>) {
        let mut values = self.spare.take(name);
        values.reserve_exact(m.nrows() * m.ncols());
        for j in 0..m.ncols() {
            match m.col(j).try_as_col_major() {
                Some(column) => values.extend_from_slice(column.as_slice()),
                None => values.extend(m.col(j).iter()),
            }
        }
        self.put_values(name, vec![m.nrows(), m.ncols()], values);
    }
    /// Adds a vector.
    pub fn put_vec(&mut self, name: &str, v: &[f64]) {
        let mut values = self.spare.take(name);
        values.reserve_exact(v.len());
        values.extend_from_slice(v);
        self.put_values(name, vec![v.len()], values);
    }
    /// Adds numbers that move: `shape` has one or two extents, the numbers are
    /// column-major.
    pub(super) fn put_values(&mut self, name: &str, shape: Vec<usize>, values: Vec<f64>) {
        let role = self.role;
        let array = StateArray {
            shape,
            values,
            role,
        };
        self.put(name, array);
    }
    /// Adds an array in the role that it has.
    pub fn put(&mut self, name: &str, array: StateArray) {
        self.arrays.insert(name.to_owned(), array);
    }
    /// Keeps the arrays that pass, by name and content.
    pub fn retain(&mut self, keep: impl Fn(&str, &StateArray) -> bool) {
        self.arrays.retain(|name, array| keep(name, array));
    }
    /// Drops what belongs to the training data alone ([`Role::Local`]).
    pub fn drop_local(&mut self) {
        self.retain(|_, array| array.role != Role::Local);
    }
    /// All arrays by name.
    pub fn arrays(&self) -> &BTreeMap<String, StateArray> {
        &self.arrays
    }
    /// A reader.
    pub fn reader(&self) -> StateReader<'_> {
        StateReader {
            state: self,
            base: None,
        }
    }
    /// A reader that looks in another state for what this one lacks.
    pub fn reader_over<'a>(&'a self, base: &'a Self) -> StateReader<'a> {
        StateReader {
            state: self,
            base: Some(base),
        }
    }
}

/// Reads arrays out of a [`State`], checking their shapes.
#[derive(Clone, Copy, Debug)]
pub struct StateReader<'a> {
    state: &'a State,
    base: Option<&'a State>,
}

impl StateReader<'_> {
    /// Whether there is an array of that name.
    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
    fn find(&self, name: &str) -> Option<&StateArray> {
        let own = self.state.arrays.get(name);
        own.or_else(|| self.base?.arrays.get(name))
    }
    fn array(&self, name: &str, dims: usize) -> Result<&StateArray, NumericError> {
        self.find(name)
            .filter(|a| {
                a.shape.len() == dims
                    && a.shape.iter().try_fold(1usize, |p, &n| p.checked_mul(n))
                        == Some(a.values.len())
            })
            .ok_or_else(|| NumericError::BadState {
                name: name.to_owned(),
            })
    }
    /// The matrix of that name.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when absent or not a matrix.
    pub fn mat(&self, name: &str) -> Result<Mat<f64>, NumericError> {
        Ok(self.columns(name)?.to_owned())
    }
    /// As [`StateReader::mat`], without a copy.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when absent or not a matrix.
    pub fn columns(&self, name: &str) -> Result<MatRef<'_, f64>, NumericError> {
        let a = self.array(name, 2)?;
        Ok(MatRef::from_column_major_slice(
            &a.values, a.shape[0], a.shape[1],
        ))
    }
    /// The vector of that name.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when absent or not a vector.
    pub fn vec(&self, name: &str) -> Result<Vec<f64>, NumericError> {
        Ok(self.array(name, 1)?.values.clone())
    }
    /// The vector of that name and length.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when absent, not a vector or of another
    /// length.
    pub fn vec_of(&self, name: &str, len: usize) -> Result<Vec<f64>, NumericError> {
        let v = self.vec(name)?;
        if v.len() == len {
            Ok(v)
        } else {
            Err(NumericError::BadState {
                name: name.to_owned(),
            })
        }
    }
    /// The number of that name.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when absent or not a single number.
    pub fn scalar(&self, name: &str) -> Result<f64, NumericError> {
        Ok(self.vec_of(name, 1)?[0])
    }
}

/// A part of a model that can be written to and read from a [`State`].
pub trait Stateful {
    /// Writes everything the part needs to go on, bit for bit.
    fn save(&self, prefix: &str, state: &mut State);
    /// Reads what [`Stateful::save`] wrote.
    ///
    /// # Errors
    /// [`NumericError::BadState`] when an array is absent or misshapen.
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError>;
}

#[cfg(test)]
mod tests {
    use polyview_linalg::{PackedRows, SymPacked};

    use super::*;
    use crate::model::moments::{RowCov, RowMoments};

    fn packed(rows: usize) -> PackedRows {
        let mut out = PackedRows::zeros(rows, 3);
        for (i, x) in out.as_mut_slice().iter_mut().enumerate() {
            *x = 0.1 * i as f64;
        }
        out
    }

    #[test]
    fn what_is_written_inside_a_role_has_it() {
        let (mut state, mut copied) = (State::new(), State::new());
        state.put_vec("a", &[1.0]);
        state.local(|state| {
            state.put_vec("b", &[2.0]);
            state.shared(|state| state.put_mat("c", Mat::<f64>::zeros(1, 1).as_ref()));
            state.put_values("d", vec![1], vec![3.0]);
        });
        state.put_vec("e", &[4.0]);
        let roles: Vec<Role> = state.arrays().values().map(|a| a.role).collect();
        let (p, l, s) = (Role::Parameter, Role::Local, Role::Shared);
        assert_eq!(roles, [p, l, s, l, p]);
        // a copy keeps its role, wherever it is written
        copied.local(|copied| copied.put("c", state.arrays()["c"].clone()));
        assert_eq!(copied.arrays()["c"].role, s);
        state.drop_local();
        let left: Vec<&str> = state.arrays().keys().map(String::as_str).collect();
        assert_eq!(left, ["a", "c", "e"]);
    }

    #[test]
    fn what_a_state_lacks_is_read_from_the_one_below() {
        let (mut own, mut base) = (State::new(), State::new());
        own.put_vec("a", &[1.0]);
        base.put_vec("a", &[2.0]);
        base.put_vec("b", &[3.0]);
        let reader = own.reader_over(&base);
        assert_eq!(reader.scalar("a").expect("its own"), 1.0);
        assert_eq!(reader.scalar("b").expect("the other's"), 3.0);
        assert!(reader.has("b") && !own.reader().has("b"));
        assert!(reader.scalar("c").is_err());
    }

    #[test]
    fn moments_given_up_are_the_moments_saved() {
        let matrix = |rows, columns| Mat::from_fn(rows, columns, |i, j| (7 * i + j) as f64);
        let covs = [
            RowCov::Zero,
            RowCov::Shared(SymPacked::identity(3)),
            RowCov::Basis {
                vectors: matrix(3, 4),
                scales: matrix(5, 4),
            },
            RowCov::Patterns {
                cov: packed(2),
                of_row: vec![0, 1, 1, 0, 1],
            },
            RowCov::PerRow(packed(5)),
            RowCov::Diagonal(matrix(5, 3)),
        ];
        for cov in covs {
            let moments = RowMoments::new(matrix(5, 3), cov.clone(), -2.5, 4);
            let (mut saved, mut given) = (State::new(), State::new());
            moments.save("w", &mut saved);
            moments.give_up("w", &mut given);
            assert_eq!(saved, given);
            let again = RowMoments::load("w", &given.reader()).expect("what was saved");
            assert_eq!(*again.cov(), cov);
        }
    }
}
