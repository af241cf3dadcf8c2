//! What a data term can do beyond what every term does: one trait for each
//! capability, one list of them for decorators.

use std::ops::Range;
use std::sync::Arc;

use polyview_linalg::{Mat, PackedRows};

use super::{Context, NoiseScope, ViewTerm};
use crate::error::{DataError, NumericError};
use crate::model::gammas::Gammas;
use crate::model::groups::RowGroups;
use crate::model::predictor::Predictor;

/// Noise precisions that are learnt ([`ViewTerm::as_noise`]).
pub trait Noise {
    /// What a noise precision is shared by.
    fn scope(&self) -> NoiseScope;
    /// The precisions: one for each column or one in all, by [`Noise::scope`]. `None`
    /// where each group of samples has its own.
    fn precisions(&self) -> Option<&Gammas>;
    /// Those of one group of samples; without groups the same for all.
    fn of_group(&self, group: usize) -> Option<&Gammas> {
        let _ = group;
        self.precisions()
    }
    /// Takes over noise precisions, as many as it has.
    fn share(&mut self, noise: &Gammas);
    /// Half the number of observed cells and half the expected sum of squared
    /// residuals for each noise precision of these columns (spec/sshiba U6). None
    /// where each group of samples has its own.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn sums(
        &mut self,
        columns: Range<usize>,
        p: &Predictor<'_>,
    ) -> Result<Vec<(f64, f64)>, NumericError>;
    /// Updates the noise precision of some columns ([`NoiseScope::Column`]) or
    /// of the view ([`NoiseScope::View`], all columns at once).
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn update(&mut self, columns: Range<usize>, p: &Predictor<'_>) -> Result<(), NumericError>;
}

/// Noise precisions of a term: those of each group of samples, or those of all; none where none are learnt.
pub fn noise_precisions(term: &dyn ViewTerm) -> Vec<&Gammas> {
    let groups = term.groups().map_or(1, RowGroups::count);
    (0..groups)
        .filter_map(|g| term.as_noise()?.of_group(g))
        .collect()
}

/// Local variables that depend on the factors, so that factors of given samples take
/// several rounds ([`ViewTerm::as_rounds`], spec/sshiba 4.1).
pub trait Rounds {
    /// Brings the local variables alone up to date, parameters of the term held: a
    /// round of a projection (spec/sshiba P2), in which new samples say nothing
    /// about the model.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn refresh_locals(
        &mut self,
        p: &Predictor<'_>,
        cx: &mut Context<'_>,
    ) -> Result<(), NumericError>;
    /// Whether rounds of local variables and factors may go to points
    /// extrapolated from the last few; not where several fixed points lie near one
    /// another.
    fn extrapolates(&mut self) -> bool {
        true
    }
    /// Tells the term, between rounds, which samples' factors have come to rest
    /// (`resting`, one for each sample): their local variables may stay as they are.
    fn rest(&mut self, resting: &[bool]) {
        let _ = resting;
    }
    /// Adds by how much the precision that
    /// [`Equations::factor_equations`](super::Equations::factor_equations) wrote
    /// exceeds the curvature of the bound in a sample's factors once local
    /// variables follow these, or less than that:
    /// $P - (-\partial^2\mathcal L/\partial z\_n\partial z\_n^\top)$, in nats per
    /// squared unit of the factors, positive semidefinite. `slack` has one row for each
    /// sample of `p`, a packed lower triangle of K × K; the factors of `p` are those
    /// that the local variables were brought up to date with. Rounds of a projection
    /// are Newton steps with it (docs/decisions/0034-projections.md). Nothing unless a term
    /// says more.
    fn slack(&mut self, p: &Predictor<'_>, slack: &mut PackedRows) {
        let _ = (p, slack);
    }
}

/// A term that couples samples, such as pairs of ranks: they are updated one after the
/// other, each given the present factors of the others ([`ViewTerm::as_coupled`]).
pub trait CoupledRows {
    /// Adds to the right-hand side of one sample what the **present** factors of
    /// other samples say about it. It comes after
    /// [`Equations::factor_equations`](super::Equations::factor_equations) of the
    /// sample's block, and right before the sample is updated; the precision does not
    /// depend on the order.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn couple(
        &mut self,
        sample: usize,
        p: &Predictor<'_>,
        rhs: &mut [f64],
    ) -> Result<(), NumericError>;
    /// Tells the term that the factors of this sample have just been updated.
    fn updated(&mut self, sample: usize, p: &Predictor<'_>);
}

/// A term whose predictions for others need the posterior of its training samples
/// ([`ViewTerm::as_conditioned`]).
pub trait Conditioned {
    /// Takes over the posterior of the training samples.
    fn condition(&mut self, training: &Predictor<'_>);
}

/// A term with a set of predictor columns for each component of the factors' prior
/// (local experts, [`ViewTerm::as_by_component`]).
pub trait ByComponent {
    /// Adds to `evidence`, samples × components, the expected log likelihood
    /// of each sample's data under the predictor columns of each component
    /// (spec/maxmargin-rank 5.5), local variables brought to their optimum
    /// first.
    ///
    /// # Errors
    /// [`NumericError`] on numbers that are not finite.
    fn evidence(&mut self, p: &Predictor<'_>, evidence: &mut Mat<f64>) -> Result<(), NumericError>;
    /// Takes over the probabilities that samples belong to components, samples
    /// × components: data count for a component's columns with that weight. A
    /// term without data of its own is told those of the samples that it is to
    /// predict.
    fn take_shares(&mut self, shares: &Arc<Mat<f64>>);
}

/// A term with parameters by group of samples ([`ViewTerm::as_by_group`]).
pub trait ByGroup {
    /// Says which groups the samples belong to that a term without data of its
    /// own is to predict.
    fn place(&mut self, groups: &RowGroups);
}

/// A term whose columns have learnt sizes, such as those of negative binomial counts
/// ([`ViewTerm::as_sizes`]).
pub trait Sizes {
    /// Size of a column in one group of samples; any number where there are no groups.
    fn size(&self, group: usize, column: usize) -> f64;
}

/// The capabilities of a term, by which a decorator is checked when it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capabilities(u16);

/// The names of all capabilities, as errors say them, and how one asks for each.
const ALL: [(&str, fn(&mut dyn ViewTerm) -> bool); 9] = [
    ("sampling", |t| t.as_augmented().is_some()),
    ("noise", |t| t.as_noise().is_some()),
    ("local variables", |t| t.as_rounds().is_some()),
    ("tangents", |t| t.as_tangents().is_some()),
    ("coupled samples", |t| t.as_coupled().is_some()),
    ("reference values", |t| t.as_conditioned().is_some()),
    ("columns by component", |t| t.as_by_component().is_some()),
    ("groups", |t| t.as_by_group().is_some()),
    ("sizes", |t| t.as_sizes().is_some()),
];

impl Capabilities {
    /// What a term can do.
    pub fn of(term: &mut dyn ViewTerm) -> Self {
        let mut bits = 0;
        for (i, (_, has)) in ALL.iter().enumerate() {
            bits |= u16::from(has(term)) << i;
        }
        Self(bits)
    }
    /// What any of several terms can do.
    pub fn of_all(terms: &mut [Box<dyn ViewTerm>]) -> Self {
        let each = terms.iter_mut().map(|t| Self::of(t.as_mut()).0);
        Self(each.fold(0, |all, own| all | own))
    }
    /// All but draws: of a decorator that has none, whose maker refuses engines that draw.
    #[must_use]
    pub fn but_sampling(self) -> Self {
        Self(self.0 & !1)
    }
    /// The names of what it can do.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        (ALL.iter().enumerate())
            .filter(move |(i, _)| self.0 >> i & 1 == 1)
            .map(|(_, (name, _))| *name)
    }
    /// Hands `outer` back if it passes on everything that the terms inside can do.
    /// Every decorator is made through here, so that a capability that one does not
    /// know of is refused and not lost.
    ///
    /// # Errors
    /// [`DataError::LostCapability`] with the name of the first that it would lose.
    pub fn kept<D: ViewTerm>(self, view: &str, mut outer: D) -> Result<D, DataError> {
        let lost = Self(self.0 & !Self::of(&mut outer).0);
        match lost.names().next() {
            None => Ok(outer),
            Some(what) => Err(DataError::LostCapability {
                view: view.to_owned(),
                what,
            }),
        }
    }
}
