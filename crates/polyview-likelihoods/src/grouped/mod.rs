//! Views whose groups of samples have noise, parameters or intercepts of their
//! own (spec/mofa B.1, B.2, C.3).
//!
//! Samples of group $g$ have a data term of their own with the same weights:
//!
//! $$x\_{nd} \sim p(x \mid z\_n w\_d^\top + b\_{g(n)d}, \tau\_{g(n)d}).$$
//!
//! | equations | are |
//! |---|---|
//! | of the weights | the sum over the groups; with noise by group and feature $P\_d = \sum\_g\tau\_{gd}\langle Z\_g^\top Z\_g\rangle$ |
//! | of the factors | those of each sample's group: one precision a pattern of views **and group** |
//! | of the intercepts | those of each group, or their sum where groups share them |
//!
//! Where the samples of a group follow one another, its term looks at a range of
//! the view's own values ([`View::subset`]); else it has a copy of its rows.
//!
//! The bound is the sum. Each group's term sees the rows of its samples only;
//! these are gathered once a state of the factors, so that the groups' own
//! caches stay valid, and sample block by sample block in a pass over
//! incomplete data.

mod capable;
mod combine;
mod gibbs;
mod parts;
mod term;

use std::sync::{Arc, Mutex};

use polyview_core::{Capabilities, DataError, Gammas, Mask, RowGroups, RowMoments, View, ViewTerm};
use polyview_linalg::SymPacked;

use parts::Parts;

/// Whether groups have noise of their own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupNoise {
    /// One noise precision for each group and feature, or group and view.
    #[default]
    Own,
    /// Groups share the noise precisions. Parameters of other likelihoods, such
    /// as the sizes of counts, are those of each group all the same.
    Shared,
}

/// Data term of a view in groups of samples: one inner term a group.
///
/// With one group it is the inner term itself, to rounding.
///
/// It is not for ranks, which compare samples of one group with those of others
/// and have neither noise nor intercepts that a group could have, nor for
/// [`Experts`](crate::Experts): terms that can do what groups cannot pass on are
/// refused ([`Capabilities::kept`]).
/// [`Equations::prepare_samples`](polyview_core::Equations::prepare_samples) is not passed on either: the samples
/// of a block are others in each group, whose terms make their sums when they are
/// asked for equations.
pub struct Grouped {
    groups: RowGroups,
    /// Rows of each group, ascending.
    rows: Vec<Vec<u32>>,
    inner: Vec<Box<dyn ViewTerm>>,
    /// The groups' masks put together.
    mask: Option<Mask>,
    /// The noise precisions that groups share.
    shared: Option<Gammas>,
    /// The groups' parts of the blocks, as they were last seen.
    parts: Mutex<Parts>,
    /// What the common parts of the weights' precision are made of.
    weight_grams: Vec<combine::WeightGram>,
    /// Common precision of each group's samples that patterns cannot carry.
    loose: Vec<Option<SymPacked>>,
    /// Incomplete views: the groups' factors in a pass over the samples, as far
    /// as they are final.
    pass: Option<Arc<Vec<RowMoments>>>,
    /// Whether equations are tangents at the present factors.
    tangents: bool,
    /// Whether those of columns hang together.
    coupled: bool,
    /// Whether they are kept for a whole sweep.
    held: bool,
}

impl Grouped {
    /// The term of a view whose samples belong to `groups`, with the inner
    /// terms that `make` makes of the view of each group's samples. The view of
    /// group g is called `name(g)`, in errors and in the journal.
    ///
    /// # Errors
    /// What `make` says; [`DataError::LengthMismatch`] when there is not one
    /// group for each sample; [`DataError::LostCapability`] for a term that groups cannot
    /// pass on whole.
    pub fn new<E: From<DataError>>(
        view: &View,
        groups: RowGroups,
        noise: GroupNoise,
        name: impl Fn(usize) -> String,
        make: impl Fn(View) -> Result<Box<dyn ViewTerm>, E>,
    ) -> Result<Self, E> {
        check(view, &groups)?;
        if !view.levels().is_empty() {
            // a class may be absent from a group, but not from the whole view
            make(view.clone())?;
        }
        let rows = groups.rows_of_groups();
        let mut inner = Vec::with_capacity(rows.len());
        for (g, rows) in rows.iter().enumerate() {
            let part = view.subset(name(g), rows);
            let poor = part.n_samples() > 0 && (part.n_observed() == 0 || is_one_class(&part));
            inner.push(if poor {
                // parameters, then the data, which it would refuse alone
                make(part.subset(name(g), &[]))?.rebind(&part)?
            } else {
                make(part)?
            });
        }
        let inside = Capabilities::of_all(&mut inner);
        let out = Self::assemble(groups, rows, inner, noise);
        Ok(inside.kept(view.name(), out)?)
    }
    fn assemble(
        groups: RowGroups,
        rows: Vec<Vec<u32>>,
        mut inner: Vec<Box<dyn ViewTerm>>,
        noise: GroupNoise,
    ) -> Self {
        let tangents = inner.iter_mut().any(|t| t.as_tangents().is_some());
        let couples =
            |t: &mut Box<dyn ViewTerm>| t.as_tangents().is_some_and(|t| t.couples_columns());
        let coupled = inner.iter_mut().any(couples);
        let shared = match (noise, &inner[..]) {
            (GroupNoise::Shared, [first, ..]) => {
                first.as_noise().and_then(|n| n.precisions().cloned())
            }
            _ => None,
        };
        Self {
            weight_grams: Vec::new(),
            loose: rows.iter().map(|_| None).collect(),
            mask: whole_mask(&groups, &rows, &inner),
            parts: Mutex::default(),
            pass: None,
            tangents,
            coupled,
            held: false,
            groups,
            rows,
            inner,
            shared,
        }
    }
    /// Whether groups share their noise precisions.
    pub fn group_noise(&self) -> GroupNoise {
        if self.shared.is_some() {
            GroupNoise::Shared
        } else {
            GroupNoise::Own
        }
    }
    /// The data term of one group.
    ///
    /// # Panics
    /// If there is no such group.
    pub fn of_group(&self, group: usize) -> &dyn ViewTerm {
        self.inner[group].as_ref()
    }
    /// The only inner term, where there is one.
    fn only(&self) -> Option<&dyn ViewTerm> {
        match &self.inner[..] {
            [only] => Some(only.as_ref()),
            _ => None,
        }
    }
    /// Gives the noise precisions that groups share to each of them.
    fn hand_out_noise(&mut self) {
        if let Some(noise) = &self.shared {
            for term in &mut self.inner {
                if let Some(own) = term.as_noise_mut() {
                    own.share(noise);
                }
            }
        }
    }
}

/// The groups' masks put together; `None` where no group has one.
fn whole_mask(groups: &RowGroups, rows: &[Vec<u32>], inner: &[Box<dyn ViewTerm>]) -> Option<Mask> {
    let masks: Vec<Option<&Mask>> = inner.iter().map(|t| t.mask()).collect();
    let columns = inner.first().map_or(0, |t| t.shape().predictor_columns);
    let mut place = vec![0; groups.rows()];
    for rows in rows {
        for (i, &r) in rows.iter().enumerate() {
            place[r as usize] = i;
        }
    }
    let of_row = groups.of_row();
    let observed = |n: usize, d: usize| {
        let mask = masks.get(of_row[n] as usize).copied().flatten();
        mask.is_none_or(|m| m.is_observed(place[n], d))
    };
    masks
        .iter()
        .any(Option::is_some)
        .then(|| Mask::from_fn(groups.rows(), columns, observed))
}

/// Whether all observed samples of a view with class names are of one class.
fn is_one_class(view: &View) -> bool {
    let classes = view.classes();
    let mut seen = classes.iter().flatten();
    let first = seen.next();
    !view.levels().is_empty() && first.is_some() && seen.all(|c| Some(c) == first)
}

fn check(view: &View, groups: &RowGroups) -> Result<(), DataError> {
    if groups.rows() == view.n_samples() {
        return Ok(());
    }
    Err(DataError::LengthMismatch {
        view: view.name().to_owned(),
        what: "groups of samples",
        expected: view.n_samples(),
        found: groups.rows(),
    })
}
