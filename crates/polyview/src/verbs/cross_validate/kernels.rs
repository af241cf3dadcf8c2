//! Kernel ridge regression beside models with kernels.

use polyview_baselines::{Similarities, kernel_ridge};
use polyview_core::{Dataset, Table};
use polyview_kernels::{Family, KernelChoice, Width, learn_view};
use polyview_linalg::Mat;

use super::inputs::columns;
use super::plan::Plan;
use crate::error::{ErrorKind, Result};

/// Widths that are tried, as multiples of the median distance of samples.
const WIDTHS: [f64; 7] = [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0];

/// The kernels of the views that are no targets, as the first model with any has them: views
/// without one are compared by products of their standardised columns. `None` where no model has a
/// kernel.
pub(super) fn of_models(plan: &Plan<'_>) -> Result<Option<Vec<(String, KernelChoice)>>> {
    let views = plan.data.views();
    for model in plan.models {
        let samples = plan.data.n_samples();
        let choices = model.composed.views(views, samples, plan.data.groups())?;
        let of = views.iter().zip(&choices);
        let others = of.filter(|(v, _)| plan.others.contains(&v.name()));
        let own: Vec<_> = others
            .map(|(v, c)| (v.name().to_owned(), c.kernel))
            .collect();
        if own.iter().any(|(_, kernel)| kernel.is_some()) {
            let or_products = |kernel: Option<KernelChoice>| match kernel {
                // all training samples are compared
                Some(kernel) => KernelChoice {
                    references: None,
                    features: None,
                    ard: false,
                    ..kernel
                },
                None => Family::Linear.into(),
            };
            let own = own.into_iter().map(|(name, k)| (name, or_products(k)));
            return Ok(Some(own.collect()));
        }
    }
    Ok(None)
}

/// What kernel ridge regression says of a target, by the similarities of all views added up, each
/// about its centre and in units of its mean diagonal; all widths are the same multiple of the
/// median distances, chosen with the penalty.
pub(super) fn predicted(
    plan: &Plan<'_>,
    kernels: &[(String, KernelChoice)],
    [training, new]: [&Dataset; 2],
    (y, fold): (&Mat<f64>, &[usize]),
) -> Result<Mat<f64>> {
    let has_width = kernels.iter().any(|(_, k)| k.family.width().is_some());
    let widths = if has_width { &WIDTHS[..] } else { &WIDTHS[..1] };
    let all = widths.iter().map(|times| {
        let mut sum = Similarities {
            training: Mat::zeros(training.n_samples(), training.n_samples()),
            new: Mat::zeros(new.n_samples(), training.n_samples()),
        };
        for (name, kernel) in kernels {
            add(plan, name, (kernel, *times), [training, new], &mut sum)?;
        }
        Ok(sum)
    });
    let all: Vec<Similarities> = all.collect::<Result<_>>()?;
    Ok(kernel_ridge(&all, y.as_ref(), fold)?.predicted)
}

/// Adds the similarities of one view; samples without it are where its mean is.
fn add(
    plan: &Plan<'_>,
    name: &str,
    (kernel, times): (&KernelChoice, f64),
    [training, new]: [&Dataset; 2],
    sum: &mut Similarities,
) -> Result<()> {
    let table = |data: &Dataset| -> Option<Table> {
        let values = columns(data.view(name)?, plan.kind(name));
        let own = plan.data.view(name)?;
        Some(Table {
            name: name.to_owned(),
            samples: data.samples().to_vec(),
            features: if own.levels().is_empty() {
                own.features().to_vec()
            } else {
                own.levels().to_vec()
            },
            levels: Vec::new(),
            values,
        })
    };
    let (Some(seen), Some(new)) = (table(training), table(new)) else {
        return Ok(());
    };
    let refused = |source| ErrorKind::Kernel {
        view: name.to_owned(),
        source,
    };
    let learnt = learn_view(&seen, kernel, 1).map_err(refused)?;
    let median = learnt.median.unwrap_or(1.0);
    let family = kernel.family.with_width(Width::Is(times * median));
    let map = match kernel.family.width() {
        Some(_) => {
            let kernel = KernelChoice { family, ..*kernel };
            learn_view(&seen, &kernel, 1).map_err(refused)?.map
        }
        None => learnt.map,
    };
    let place = |name: &String| seen.samples.iter().position(|s| s == name);
    let places: Vec<Option<usize>> = map.references().iter().map(place).collect();
    let own = map.apply(&seen).map_err(refused)?.values;
    let of_new = map.apply(&new).map_err(refused)?.values;
    let on_diagonal = (places.iter().enumerate())
        .filter_map(|(r, n)| n.map(|n| own[(n, r)]))
        .sum::<f64>();
    let unit = on_diagonal / places.len() as f64;
    if unit.is_nan() || unit <= 0.0 {
        return Ok(());
    }
    for (r, to) in places.iter().enumerate() {
        let Some(to) = *to else { continue };
        for (from, out) in [(&own, &mut sum.training), (&of_new, &mut sum.new)] {
            for n in 0..from.nrows() {
                let x = from[(n, r)];
                if !x.is_nan() {
                    out[(n, to)] += x / unit;
                }
            }
        }
    }
    Ok(())
}
