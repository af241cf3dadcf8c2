//! What is remarkable about data before a fit.

use polyview_core::{Event, Groups, Journal, RowGroups, View};

use super::ViewInfo;
use crate::build::several;
use crate::spec::{Likelihood, ModelSpec};

/// Notes the features of a view that do not vary, and those that were never
/// observed.
pub(super) fn note_features(info: &ViewInfo, journal: &mut Journal) {
    let mut note = |note: String| {
        journal.note(0, format!("data/{}", info.name), Event::Data { note });
    };
    let constant = info.scaling.constant.iter().filter(|d| info.knows(**d));
    let constant: Vec<usize> = constant.copied().collect();
    if let Some(&first) = constant.first() {
        note(format!(
            "{} feature(s) do not vary, first '{}': kept, but they carry no information",
            constant.len(),
            info.features[first]
        ));
    }
    if let Some(unobserved) = info.unobserved_note() {
        note(unobserved);
    }
}

/// Counts above this are more often something else: sums, areas, or numbers
/// that were scaled.
const LARGE_COUNT: f64 = 1e6;

/// What is to be said of counts above a million, if there are any.
pub(super) fn large_counts(info: &ViewInfo, view: &View, samples: &[String]) -> Option<String> {
    if !info.choices.likelihood.is_count() {
        return None;
    }
    let (mut cells, mut largest) = (0usize, (0.0, 0, 0));
    let mut column = vec![0.0; view.n_samples()];
    for d in 0..view.n_features() {
        view.write_column(d, &mut column);
        for (n, &x) in column.iter().enumerate() {
            cells += usize::from(x > LARGE_COUNT);
            if x > largest.0 {
                largest = (x, n, d);
            }
        }
    }
    let (x, n, d) = largest;
    let better = match info.choices.likelihood {
        Likelihood::PoissonLogNormal => "",
        _ => "; poisson-log-normal may suit them better",
    };
    (cells > 0).then(|| {
        format!(
            "{cells} count(s) above 1000000, the largest {x} (sample '{}', feature '{}'): make sure that \
             they are counts{better}",
            samples[n], info.features[d]
        )
    })
}

/// Notes features that do not vary within a group whose noise is its own: the
/// model is all too sure of them there.
pub(super) fn note_constant_in_groups(
    spec: &ModelSpec,
    groups: Option<&Groups>,
    views: &[View],
    journal: &mut Journal,
) {
    let Some(groups) = several(groups).filter(|_| spec.groups.noise) else {
        return;
    };
    let rows = RowGroups::from(groups).rows_of_groups();
    for v in views
        .iter()
        .filter(|v| spec.view(v.name()).likelihood.is_real())
    {
        for (name, rows) in groups.names.iter().zip(&rows) {
            let constant = |d: &usize| {
                let mut seen = rows.iter().filter_map(|&n| v.value(n as usize, *d));
                let first = seen.next();
                first.is_some() && seen.all(|x| Some(x) == first)
            };
            let found: Vec<usize> = (0..v.n_features()).filter(constant).collect();
            if let Some(&first) = found.first() {
                let note = format!(
                    "{} feature(s) do not vary within group '{name}', first '{}': their noise \
                     there is next to none",
                    found.len(),
                    v.features()[first]
                );
                journal.note(0, format!("data/{}", v.name()), Event::Data { note });
            }
        }
    }
}
