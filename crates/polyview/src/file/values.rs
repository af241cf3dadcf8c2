//! The training data of a view: values and which of them were observed, trials, ends, and what a kernel was computed of.

use polyview_core::{Mask, View};
use polyview_kernels::KernelParts;

use super::container::{Container, Tensor, Values};
use super::fault::Fault;
use super::header::{DataKind, ViewHeader};
use super::sparse::{push_sparse, take_sparse};
use crate::error::Error;

pub(super) fn push_data<'a>(tensors: &mut Vec<Tensor<'a>>, view: &'a View) -> DataKind {
    let name = view.name();
    if let Some(x) = view.sparse() {
        push_sparse(tensors, name, x);
    } else {
        let values = Values::Matrix(view.values());
        tensors.push(Tensor::new(format!("data/{name}"), values));
    }
    if view.trials().is_some() {
        // zero where they are not known: no count is out of none
        let known = (0..view.n_samples())
            .flat_map(|n| (0..view.n_features()).map(move |d| view.trials_of(n, d)))
            .map(|t| if t.is_nan() { 0.0 } else { t });
        let values = Values::Rows([view.n_samples(), view.n_features()], known.collect());
        tensors.push(Tensor::new(format!("trials/{name}"), values));
    }
    if let Some(ends) = view.ends() {
        let values = Values::Matrix(ends.as_ref().as_ref());
        tensors.push(Tensor::new(format!("ends/{name}"), values));
    }
    if let Some(features) = view.behind() {
        let values = Values::Matrix(features.as_ref().as_ref());
        tensors.push(Tensor::new(format!("behind/{name}"), values));
    }
    let (rows, columns) = (view.n_samples(), view.n_features());
    let (kind, shape, bytes) = match view.mask() {
        Mask::Complete => return DataKind::Complete,
        Mask::Rows(rows) => (
            DataKind::Samples,
            vec![rows.len()],
            rows.iter().map(|&r| u8::from(r)).collect::<Vec<u8>>(),
        ),
        Mask::Cells { by_sample, .. } => (
            DataKind::Cells,
            vec![rows, columns],
            (0..rows)
                .flat_map(|n| (0..columns).map(move |d| u8::from(by_sample.get(d, n))))
                .collect(),
        ),
    };
    let values = Values::Bytes(shape, bytes.into());
    tensors.push(Tensor::new(format!("mask/{name}"), values));
    kind
}

pub(super) fn take_data(
    view: &ViewHeader,
    samples: usize,
    file: &mut Container<'_>,
) -> Result<Option<View>, Fault> {
    if view.data == DataKind::None {
        return Ok(None);
    }
    let (name, columns) = (format!("data/{}", view.name), view.features.len());
    let mask = format!("mask/{}", view.name);
    let observed = match view.data {
        DataKind::None | DataKind::Complete => Mask::Complete,
        DataKind::Samples => {
            let bytes = file.take(&mask)?.bytes(&mask, &[samples])?;
            bits(&mask, bytes)?;
            Mask::from_fn(samples, columns, |n, _| bytes[n] == 1)
        }
        DataKind::Cells => {
            let bytes = file.take(&mask)?.bytes(&mask, &[samples, columns])?;
            bits(&mask, bytes)?;
            Mask::from_fn(samples, columns, |n, d| bytes[n * columns + d] == 1)
        }
    };
    let found = match &observed {
        Mask::Complete => DataKind::Complete,
        Mask::Rows(_) => DataKind::Samples,
        Mask::Cells { .. } => DataKind::Cells,
    };
    if found != view.data {
        return Err(Fault::values(&mask, "is not of the kind that was promised"));
    }
    if view.sparse {
        let data = take_sparse(view, samples, observed, file)?;
        Fault::unless_count("observed cells", view.observed, data.n_observed())?;
        return Ok(Some(data));
    }
    let mut values = file.take(&name)?.matrix(&name, samples, columns)?;
    for d in 0..columns {
        for n in 0..samples {
            let x = &mut values[(n, d)];
            if !x.is_finite() {
                return Err(Fault::values(&name, "holds a value that is not finite"));
            }
            if !observed.is_observed(n, d) {
                if *x != 0.0 {
                    return Err(Fault::values(&name, "holds a value in a missing cell"));
                }
                *x = f64::NAN;
            }
        }
    }
    let mut data =
        View::from_values(view.name.clone(), view.features.clone(), values).map_err(Error::from)?;
    if !view.levels.is_empty() {
        data = data.with_levels(view.levels.clone()).map_err(Error::from)?;
    }
    if view.trials {
        let name = format!("trials/{}", view.name);
        let mut trials = file.take(&name)?.matrix(&name, samples, columns)?;
        for d in 0..columns {
            for t in trials.col_as_slice_mut(d) {
                if *t == 0.0 {
                    *t = f64::NAN;
                }
            }
        }
        data = data.with_trials(trials).map_err(Error::from)?;
    }
    if view.ends {
        let name = format!("ends/{}", view.name);
        let ends = file.take(&name)?.matrix(&name, samples, columns)?;
        data = data.with_ends(ends).map_err(Error::from)?;
    }
    let compared = view.kernel.as_ref().and_then(KernelParts::extents);
    if let (true, Some((features, _))) = (view.behind, compared) {
        let name = format!("behind/{}", view.name);
        let features = file.take(&name)?.matrix(&name, samples, features)?;
        data = data.with_behind(features).map_err(Error::from)?;
    }
    Fault::unless_count("observed cells", view.observed, data.n_observed())?;
    Ok(Some(data))
}

fn bits(name: &str, bytes: &[u8]) -> Result<(), Fault> {
    if bytes.iter().all(|b| *b <= 1) {
        Ok(())
    } else {
        Err(Fault::values(name, "holds bytes other than 0 and 1"))
    }
}
