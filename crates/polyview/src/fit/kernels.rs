//! Views with a kernel: what they are fitted as, and how tables get there (spec/thesis 7.1).

use std::collections::HashMap;

use polyview_core::{Dataset, Event, Journal, Table, View};
use polyview_kernels::{
    Family, KernelChoice, KernelMap, Learnt, learn_view, learn_view_against, learn_view_weighted,
};

use super::view_info::decimals;
use super::{ViewInfo, cut, widths};
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::spec::ViewChoices;

/// Maps by the names of their views, with the features that these do not look at.
pub(super) type Maps = HashMap<String, (Box<KernelMap>, Vec<String>)>;

/// The data with the columns of kernels in place of the features of views that have one, and the
/// maps, learnt of these data.
///
/// # Errors
/// [`ErrorKind::Kernel`].
pub(super) fn mapped(
    mut data: Dataset,
    composed: &Composed,
    choices: &[ViewChoices],
    journal: &mut Journal,
) -> Result<(Dataset, Maps)> {
    let (mut maps, seed) = (Maps::new(), composed.options.seed);
    let mut choices = choices.to_vec();
    let weights = widths::find(seed, &data, &mut choices, journal)?;
    let given = data.clone();
    let names: Vec<String> = data.views().iter().map(|v| v.name().to_owned()).collect();
    for (at, name) in names.into_iter().enumerate() {
        let (Some(choice), Some(view)) = (&choices[at].kernel, given.view(&name)) else {
            continue;
        };
        let table = table(view, data.samples());
        let kept = match choice.keep {
            None => None,
            Some(share) => {
                let (kept, note) = cut::kept(composed, &given, &choices, (at, share))?;
                journal.note(0, format!("data/{name}"), Event::Data { note });
                Some(kept)
            }
        };
        let learnt = match (&weights[at], &kept) {
            (Some(weights), kept) => {
                learn_view_weighted(&table, choice, weights, kept.as_deref(), seed)
            }
            (None, Some(kept)) => learn_view_against(&table, choice, kept),
            (None, None) => learn_view(&table, choice, seed),
        };
        let learnt = learnt.map_err(|source| ErrorKind::Kernel {
            view: name.clone(),
            source,
        })?;
        let (columns, with_holes) = columns(&name, &learnt.map, &table)?;
        for note in told(choice, &learnt, (table.samples.len(), with_holes)) {
            journal.note(0, format!("data/{name}"), Event::Data { note });
        }
        if learnt.unlike {
            let note = "every sample is similar to itself alone, so that nothing is found in the similarities: take a larger \
                        width (--kernel VIEW=rbf{width=auto})"
                .to_owned();
            journal.note(0, format!("data/{name}"), Event::Warning { note });
        }
        if let Some(note) = without_noise(choice, &learnt.map) {
            journal.note(0, format!("data/{name}"), Event::Warning { note });
        }
        let Learnt { map, left_out, .. } = learnt;
        data = data.with_view(columns)?;
        maps.insert(name, (Box::new(map), left_out));
    }
    Ok((data, maps))
}

/// What is to be said of a kernel that was learnt of so many samples, some of them with holes.
fn told(
    choice: &KernelChoice,
    learnt: &Learnt,
    (samples, with_holes): (usize, usize),
) -> Vec<String> {
    let (references, features) = (learnt.map.references().len(), learnt.map.features().len());
    let width = match (learnt.width, learnt.median) {
        (Some(width), Some(median)) => {
            let (times, width) = (decimals(width / median, 2), decimals(width, 4));
            format!(" of width {width} ({times} times the median distance of samples)")
        }
        _ => String::new(),
    };
    let against = if learnt.map.is_random() {
        format!("{references} random Fourier features stand for it")
    } else if references < samples {
        format!("{references} of {samples} samples are reference points")
    } else {
        format!("all {samples} samples are reference points")
    };
    let kernel = choice.family.name();
    let mut out = vec![if choice.family == Family::Precomputed {
        format!("a precomputed kernel: {against}")
    } else {
        format!("a kernel ({kernel}{width}) of {features} features: {against}")
    }];
    if let Some(first) = learnt.left_out.first() {
        out.push(format!(
            "{} feature(s) do not vary, first '{first}': the kernel does not look at them",
            learnt.left_out.len()
        ));
    }
    out.extend(holes(with_holes));
    out
}

/// Warns of more columns than the feature space of the kernel has dimensions: some follow from
/// the others, without any noise.
fn without_noise(choice: &KernelChoice, map: &KernelMap) -> Option<String> {
    let (features, references) = (map.features().len(), map.references().len());
    // monomials of a degree, of so many variables
    let monomials = |variables: usize, degree: u32| {
        let factor = |i: u32| (variables as f64 - 1.0 + f64::from(i)) / f64::from(i);
        (1..=degree).map(factor).product::<f64>().round()
    };
    let (dimensions, mend) = match choice.family {
        Family::Linear => (
            features as f64,
            "leave the kernel out, and the features are fitted as they are".to_owned(),
        ),
        Family::Polynomial { degree, offset } => {
            let constant = usize::from(offset > 0.0);
            let all = monomials(features + constant, degree);
            (all, format!("ask for at most {all} (references={all})"))
        }
        _ => return None,
    };
    (dimensions < references as f64).then(|| {
        format!(
            "{references} reference points are more than the {dimensions} dimensions of this kernel's feature space: the columns \
             follow from each other without any noise, which makes a fit slow and its bound delicate; {mend}"
        )
    })
}

/// What is said of samples that lack some of the features.
fn holes(samples: usize) -> Option<String> {
    (samples > 0).then(|| {
        format!(
            "{samples} sample(s) lack some of the features: the kernel compares them by expected \
             distances, as if what they lack were at its mean, with its variance; what is predicted from them is told as \
             surely as from samples that lack as much as those of training, and intervals are too narrow where they lack more"
        )
    })
}

/// A view as a table.
pub(super) fn table(view: &View, samples: &[String]) -> Table {
    Table {
        name: view.name().to_owned(),
        samples: samples.to_vec(),
        features: view.features().to_vec(),
        levels: Vec::new(),
        values: view.to_values_with_nan(),
    }
}

/// The columns of a kernel for the samples of a table, and how many of these have holes.
fn columns(name: &str, map: &KernelMap, table: &Table) -> Result<(View, usize)> {
    let found = map.map(table).map_err(|source| ErrorKind::Kernel {
        view: name.to_owned(),
        source,
    })?;
    let references = map.references().to_vec();
    let mut view = View::from_values(name, references, found.table.values)?;
    if let Some(features) = found.features {
        view = view.with_behind(features)?;
    }
    Ok((view, found.with_holes))
}

impl ViewInfo {
    /// The columns of the kernel of this view for new samples, whose features have been matched to
    /// those that the kernel was learnt of; what is to be said of them goes to `notes`.
    ///
    /// # Errors
    /// [`ErrorKind::Kernel`].
    pub(crate) fn by_kernel(
        &self,
        view: View,
        samples: &[String],
        notes: &mut Vec<String>,
    ) -> Result<View> {
        let Some(map) = &self.kernel else {
            return Ok(view);
        };
        let (columns, with_holes) = columns(&self.name, map, &table(&view, samples))?;
        notes.extend(holes(with_holes).map(|note| format!("view '{}': {note}", self.name)));
        Ok(columns)
    }
    /// Refuses to tell features of a view whose kernel compares samples alone.
    ///
    /// # Errors
    /// [`ErrorKind::KernelFeatures`].
    pub(crate) fn tells_features(&self, what: &'static str) -> Result<()> {
        if self.kernel.is_none() {
            return Ok(());
        }
        Err(ErrorKind::KernelFeatures {
            view: self.name.clone(),
            what,
        }
        .into())
    }
}
