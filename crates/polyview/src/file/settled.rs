//! What views were settled on, beside the joint fit.

use polyview_core::State;
use polyview_infer::Model;
use polyview_kernels::KernelParts;

use super::check::{Checked, Spread};
use super::container::{Container, Tensor};
use super::fault::Fault;
use super::header::{ModelHeader, ViewHeader};
use super::model::{check_view, push_state, to_state};
use crate::error::Error;
use crate::verbs::{BEHIND, MIXED_WAYS, OWN, features_of, regression_of, shares_of};

/// Where the file has what views were settled on.
const SETTLED: &str = "settled/";

pub(super) fn push_settled<'a>(
    tensors: &mut Vec<Tensor<'a>>,
    state: &'a State,
) -> Result<(), Fault> {
    let place = SETTLED;
    Checked { state, place }.finite()?;
    push_state(tensors, place, state)
}

/// What views were settled on, if it is beside the joint fit: earlier files have it in its place.
pub(super) fn take_settled(
    header: &ModelHeader,
    model: &mut Model,
    file: &mut Container<'_>,
) -> Result<State, Fault> {
    let place = SETTLED;
    let state = to_state(place, file.take_all(place))?;
    let checked = Checked {
        state: &state,
        place,
    };
    let mut again = State::new();
    for v in &mut model.views {
        let at = format!("views/{}/", v.name);
        let rows = v.weights.moments().explicit_rows();
        // a regression knows no components, each of which has predictors of its own
        let regressed = rows / v.term.shape().components.unwrap_or(1);
        let points = v.term.cut_points(None, 0).map(|own| own.len());
        let of = (v.name.as_str(), regressed, points);
        take_mixture(header, of, checked, &mut again)?;
        if !state.arrays().keys().any(|name| name.starts_with(&at)) {
            continue;
        }
        check_view(v, header.factors, Spread::Some, checked)?;
        v.load("", &state.reader()).map_err(Error::from)?;
        v.save("", &mut again);
        take_features(header, (&v.name, rows), checked, &mut again)?;
    }
    checked.finite()?;
    again.drop_local();
    checked.same_as(&again)?;
    Ok(again)
}

/// Takes over arrays, each of its shape.
fn take(
    checked: Checked<'_>,
    again: &mut State,
    names: impl IntoIterator<Item = (String, Vec<usize>)>,
) -> Result<(), Fault> {
    for (name, shape) in names {
        checked.expect(&name, &shape)?;
        again.put(&name, checked.state.arrays()[&name].clone());
    }
    Ok(())
}

/// What predicts a view beside factors, if it was settled on features.
fn take_features(
    header: &ModelHeader,
    (target, rows): (&str, usize),
    checked: Checked<'_>,
    again: &mut State,
) -> Result<(), Fault> {
    let at = |what: &str| format!("{}{what}", features_of(target));
    let arrays = checked.state.arrays();
    if !arrays.contains_key(&at("mean")) {
        return Ok(());
    }
    let directions = checked.columns(&at("mean"))?;
    let mut names = vec![(at("mean"), rows), (at("variance"), rows)];
    for view in header.views.iter().filter(|v| v.name != target) {
        let name = at(&format!("of/{}", view.name));
        if arrays.contains_key(&name) {
            names.push((name, view.features.len()));
        }
    }
    let names = names.into_iter();
    take(
        checked,
        again,
        names.map(|(name, rows)| (name, vec![rows, directions])),
    )?;
    if arrays[&at("variance")].values.iter().any(|v| *v < 0.0) {
        let name = format!("{}{}", checked.place, at("variance"));
        return Err(Fault::values(&name, "holds a negative variance"));
    }
    Ok(())
}

/// The shares of the ways of which a view is mixed, and its regression on the features of others: of so many predictors, with as
/// many cut points of ordered levels.
fn take_mixture(
    header: &ModelHeader,
    (target, predictors, points): (&str, usize, Option<usize>),
    checked: Checked<'_>,
    again: &mut State,
) -> Result<(), Fault> {
    let arrays = checked.state.arrays();
    let name = shares_of(target);
    let Some(shares) = arrays.get(&name) else {
        return Ok(());
    };
    checked.expect(&name, &[MIXED_WAYS.len()])?;
    let whole = (shares.values.iter().sum::<f64>() - 1.0).abs() < 1e-6;
    if !whole || shares.values.iter().any(|s| *s < 0.0) {
        let name = format!("{}{name}", checked.place);
        return Err(Fault::values(&name, "holds no shares, which add up to 1"));
    }
    again.put(&name, shares.clone());
    let at = |what: &str| format!("{}{what}", regression_of(target));
    if shares.values[MIXED_WAYS.len() - 1] == 0.0 {
        return Ok(());
    }
    let mut names = vec![(at("intercept"), vec![predictors])];
    if arrays.contains_key(&at("noise")) {
        names.push((at("noise"), vec![predictors]));
    }
    if let Some(points) = points {
        names.push((at("cuts"), vec![points, predictors]));
    }
    for view in header.views.iter().filter(|v| v.name != target) {
        for (behind, columns) in [("", columns(view)), ("-behind", compared(view))] {
            let name = at(&format!("of{behind}/{}", view.name));
            if arrays.contains_key(&name) {
                names.push((name, vec![columns, predictors]));
                names.push((at(&format!("means{behind}/{}", view.name)), vec![columns]));
            }
        }
    }
    take(checked, again, names)?;
    take_curved(header, (target, predictors), checked, again)?;
    let noise = arrays.get(&at("noise"));
    if noise.is_some_and(|n| n.values.iter().any(|v| *v <= 0.0)) {
        let name = format!("{}{}", checked.place, at("noise"));
        return Err(Fault::values(&name, "holds a variance that is not above 0"));
    }
    if let (Some(cuts), Some(points)) = (arrays.get(&at("cuts")), points) {
        let mut each = cuts.values.chunks(points.max(1));
        if !each.all(|own| own.windows(2).all(|two| two[0] < two[1])) {
            return Err(checked.bad(&at("cuts"), "holds cut points that are out of order"));
        }
    }
    Ok(())
}

/// How many columns a view has for a linear model, and how many features its kernel compares.
fn columns(view: &ViewHeader) -> usize {
    view.features.len().max(view.levels.len())
}

fn compared(view: &ViewHeader) -> usize {
    let compared = view.kernel.as_ref().and_then(KernelParts::extents);
    compared.map_or(0, |(features, _)| features)
}

/// What of that regression goes by similarities to training samples.
fn take_curved(
    header: &ModelHeader,
    (target, predictors): (&str, usize),
    checked: Checked<'_>,
    again: &mut State,
) -> Result<(), Fault> {
    let arrays = checked.state.arrays();
    let at = |what: &str| format!("{}curved/{what}", regression_of(target));
    let Some(views) = arrays.get(&at("views")) else {
        return Ok(());
    };
    checked.expect(&at("views"), &[header.views.len()])?;
    let own = header.views.iter().zip(&views.values);
    let features: usize = own
        .map(|(view, source)| {
            if *source == OWN {
                columns(view)
            } else if *source == BEHIND {
                compared(view)
            } else {
                0
            }
        })
        .sum();
    let points = checked.columns(&at("points"))?;
    let names = [
        ("views", vec![header.views.len()]),
        ("means", vec![features]),
        ("sds", vec![features]),
        ("gamma", vec![1]),
        ("points", vec![features, points]),
        ("centres", vec![points]),
        ("coefficients", vec![points, predictors]),
    ];
    take(checked, again, names.map(|(what, shape)| (at(what), shape)))?;
    if let Some(priors) = arrays.get(&at("priors")) {
        take(checked, again, [(at("priors"), vec![predictors, 2])])?;
        if priors.values.iter().any(|x| *x < 0.0) {
            return Err(checked.bad(&at("priors"), "holds a variance below 0"));
        }
    }
    for what in ["sds", "gamma"] {
        if arrays[&at(what)].values.iter().any(|x| *x <= 0.0) {
            return Err(checked.bad(&at(what), "holds a number that is not above 0"));
        }
    }
    if points == 0 || features == 0 {
        return Err(checked.bad(&at("points"), "holds no points"));
    }
    Ok(())
}
