//! Values of missing cells do not matter.

use polyview_core::View;
use polyview_linalg::Mat;

use super::Finding;
use super::subject::{DataCase, Subject, difference, numeric, saved};

/// Sweeps of the fits that are compared.
const SWEEPS: usize = 4;

pub(super) fn findings(s: &Subject<'_>) -> Vec<Finding> {
    let tested = [DataCase::Cells, DataCase::Samples].map(|case| unseen(s, case));
    tested.into_iter().filter_map(Result::err).collect()
}

fn unseen(s: &Subject<'_>, case: DataCase) -> Result<(), Finding> {
    let data = s.data(case);
    let [a, b] = [&data, &changed(s, &data, case)?].map(|view| {
        let model = s.model(s.term(view, case)?, None);
        let run = s.fitted(model, SWEEPS);
        let mut state = saved(run.map_err(numeric(case, "a fit"))?.model());
        state.drop_local();
        Ok(state)
    });
    match difference(&a?, &b?) {
        None => Ok(()),
        Some(array) => Err(Finding::HiddenValues { array }),
    }
}

/// The view with other values, and other trials, where cells are missing.
fn changed(s: &Subject<'_>, data: &View, case: DataCase) -> Result<View, Finding> {
    let (rows, columns) = (data.n_samples(), data.n_features());
    let seen = |n: usize, d: usize| data.is_observed(n, d);
    let values = Mat::from_fn(rows, columns, |n, d| {
        let other = s.other.value(n, d).unwrap_or_default();
        data.value(n, d).unwrap_or(other)
    });
    let of = |view: View| match data.trials() {
        None => Ok(view),
        Some(trials) => view.with_trials(Mat::from_fn(rows, columns, |n, d| {
            trials[(n, d)] + if seen(n, d) { 0.0 } else { 5.0 }
        })),
    };
    let view = s.view.with_values(values).and_then(of);
    let view = view.map_err(|source| Finding::Term { case, source })?;
    Ok(view.hiding(|n, d| !seen(n, d)))
}
