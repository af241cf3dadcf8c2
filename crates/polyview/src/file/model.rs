//! Between a [`Fit`] and its file.

use polyview_core::{
    FeatureScaling, Groups, Mask, Metadata, MetadataValues, Options, ParameterUncertainty, Role,
    Rounding, Scaling, State, Stateful, View,
};
use polyview_infer::{Model, ViewPart};
use polyview_kernels::KernelMap;
use polyview_linalg::Mat;

use super::check::{Checked, Rows, Spread};
use super::container::{Container, Sealed, Stored, Tensor, Values};
use super::fault::Fault;
use super::header::{ColumnValues, DataKind, Kind, ModelHeader, ViewHeader};
use super::json;
use super::ledger::{push_ledger, take_ledger};
use super::rounding::{push_rounding, take_rounding};
use super::scores::{push_scores, take_scores};
use super::sparse::{push_sparse, take_sparse};
use super::training::{push_training, take_training};
use crate::assemble;
use crate::compose::Composed;
use crate::error::{Error, ErrorKind};
use crate::fit::{Fit, FitRecord, TrainingScale, ViewInfo, saved_parameters, share};
use crate::registry::Registry;
use crate::spec::{EngineKind, ViewChoices};
use crate::verbs::{MIXED_WAYS, features_of, regression_of, shares_of};

/// The file of a fit.
pub(super) fn pack(fit: &Fit) -> Result<Sealed<'_>, Fault> {
    let mut tensors = Vec::new();
    for (i, state) in fit.components.iter().enumerate() {
        let place = format!("components/{i}/");
        Checked {
            state,
            place: &place,
        }
        .finite()?;
        push_state(&mut tensors, &place, state)?;
    }
    push_settled(&mut tensors, &fit.settled)?;
    if let Some(state) = &fit.sums {
        let place = SUMS;
        Checked { state, place }.finite()?;
        push_state(&mut tensors, place, state)?;
    }
    let mut kinds = vec![DataKind::None; fit.views.len()];
    for (i, view) in fit.data.iter().flatten().enumerate() {
        kinds[i] = push_data(&mut tensors, view);
    }
    for (view, rounding) in fit.views.iter().zip(&fit.rounding) {
        if !rounding.is_none() {
            push_rounding(&mut tensors, &view.name, rounding);
        }
    }
    for view in &fit.views {
        let Scaling { offset, scale, .. } = &view.scaling;
        for (name, v) in [("offset", offset), ("scale", scale)] {
            let name = format!("{name}/{}", view.name);
            tensors.push(Tensor::new(name, Values::Vector((&v[..]).into())));
        }
        if let Some(training) = &view.training {
            push_training(&mut tensors, &view.name, training);
        }
    }
    for view in &fit.views {
        if let Some(scores) = &view.scaling.scores {
            push_scores(&mut tensors, &view.name, scores);
        }
    }
    for view in &fit.views {
        let points = view
            .kernel
            .as_ref()
            .filter(|map| map.parts().extents().is_some());
        if let Some(map) = points {
            let name = format!("kernel/{}", view.name);
            tensors.push(Tensor::new(name, Values::Matrix(map.points())));
        }
    }
    for (i, column) in fit.metadata.iter().enumerate() {
        if let MetadataValues::Numbers(v) = &column.values {
            let name = format!("metadata/{i}");
            tensors.push(Tensor::new(name, Values::Vector((&v[..]).into())));
        }
    }
    for (i, ledger) in fit.record.ledgers.iter().enumerate() {
        push_ledger(&mut tensors, &format!("ledgers/{i}"), ledger)?;
    }
    let header = json::to_value(&ModelHeader::of(fit, &kinds))?;
    Sealed::new(&header, tensors)
}

/// Where the file has sums over the samples.
const SUMS: &str = "sums/";
/// Where the file has what views were settled on.
const SETTLED: &str = "settled/";

fn push_settled<'a>(tensors: &mut Vec<Tensor<'a>>, state: &'a State) -> Result<(), Fault> {
    let place = SETTLED;
    Checked { state, place }.finite()?;
    push_state(tensors, place, state)
}

/// Adds the arrays of a state.
pub(super) fn push_state<'a>(
    tensors: &mut Vec<Tensor<'a>>,
    place: &str,
    state: &'a State,
) -> Result<(), Fault> {
    for (name, array) in state.arrays() {
        let name = format!("{place}{name}");
        let tensor = Tensor::of_state(name.clone(), array)
            .ok_or_else(|| Fault::values(&name, "is neither vector nor matrix"))?;
        tensors.push(tensor);
    }
    Ok(())
}

fn push_data<'a>(tensors: &mut Vec<Tensor<'a>>, view: &'a View) -> DataKind {
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

/// The fit in a file. Everything is checked before anything is built.
pub(super) fn unpack(bytes: &[u8], registry: &Registry) -> Result<Fit, Fault> {
    let mut file = Container::read(bytes)?;
    let header = std::mem::take(&mut file.header);
    Kind::Model.expect(&header)?;
    let mut header: ModelHeader = json::from_value(header)?;
    header.bring_up_to_date();
    let composed = header.resolve(registry)?;
    header.check(&composed)?;
    let (components, mut model) = take_components(&header, &composed, &mut file)?;
    let settled = take_settled(&header, &mut model, &mut file)?;
    let sums = take_sums(&mut file)?;
    let groups = header.groups.as_ref().map_or(0, |g| g.names.len());
    let mut views = Vec::with_capacity(header.views.len());
    let mut data = Vec::with_capacity(header.views.len());
    let mut rounding = Vec::with_capacity(header.views.len());
    for view in &header.views {
        let mut info = take_view(view, groups, &mut file)?;
        if let Some(own) = take_data(view, header.samples.len(), &mut file)? {
            // earlier files leave it to the data
            let unobserved = own.unobserved_features();
            if !info.unobserved.is_empty() && info.unobserved != unobserved {
                return Err(Fault::Record("numbers of the features without a value"));
            }
            info.unobserved = unobserved;
            if info.training.is_none() {
                let likelihood = &info.choices.likelihood;
                info.training = TrainingScale::of_working(likelihood, &own, &info.scaling, None);
            }
            rounding.push(match view.rounding {
                Some(header) => take_rounding(&own, header, &mut file)?,
                None => Rounding::default(),
            });
            data.push(own);
        } else if view.rounding.is_some() {
            return Err(Fault::Record("what was rounded of data that are not there"));
        }
        views.push(info);
    }
    for info in &mut views {
        info.training = info
            .training
            .take()
            .or_else(|| TrainingScale::of_scaling(info));
    }
    if !data.is_empty() && data.len() != views.len() {
        return Err(Fault::Count {
            what: "views with data",
            expected: views.len(),
            found: data.len(),
        });
    }
    let metadata = take_metadata(&header, &mut file)?;
    let mut ledgers = Vec::new();
    for (i, names) in header.record.ledgers.iter().enumerate() {
        ledgers.push(take_ledger(names, &format!("ledgers/{i}"), &mut file)?);
    }
    file.finish()?;
    let ModelHeader {
        samples,
        groups,
        reading,
        record,
        ..
    } = header;
    let fit = Fit {
        composed,
        samples,
        views,
        data: (!data.is_empty()).then_some(data),
        rounding,
        components,
        settled,
        sums,
        record: FitRecord {
            outcome: record.outcome,
            sweeps: record.sweeps,
            bound: record.bound,
            restart_bounds: record.restart_bounds,
            ledgers,
            journal: record.journal,
            seconds: record.seconds,
            diagnostics: record.diagnostics,
            optimum: record.optimum,
            moving: None,
        },
        groups: groups.map(|g| Groups {
            names: g.names,
            of_sample: g.of_sample,
        }),
        metadata,
        reading: reading.unwrap_or_default(),
    };
    fit.check_sums()?;
    Ok(fit)
}

/// Makes a state of arrays.
pub(super) fn to_state(place: &str, arrays: Vec<(String, Stored<'_>)>) -> Result<State, Fault> {
    let mut state = State::new();
    for (name, stored) in arrays {
        state.put(&name, stored.to_array(&format!("{place}{name}"))?);
    }
    Ok(state)
}

fn take_components(
    header: &ModelHeader,
    composed: &Composed,
    file: &mut Container<'_>,
) -> Result<(Vec<State>, Model), Fault> {
    let empty = (header.views.iter())
        .map(|v| assemble::empty_view(&v.name, &v.features, &v.levels))
        .collect::<Result<Vec<View>, Error>>()?;
    let groups = header.groups.as_ref().map(|g| Groups {
        names: g.names.clone(),
        of_sample: g.of_sample.clone(),
    });
    let prediction = ParameterUncertainty::Posterior;
    let mut model = composed.parameters(groups.as_ref(), empty, header.factors, prediction)?;
    let mut states = Vec::new();
    for i in 0..header.components {
        let place = format!("components/{i}/");
        let arrays = file.take_all(&place);
        if arrays.is_empty() {
            return Err(Fault::Missing(format!("{place}factors/mean")));
        }
        let state = to_state(&place, arrays)?;
        let checked = Checked {
            state: &state,
            place: &place,
        };
        check_component(header, &model, composed.options.engine, checked)?;
        states.push(state);
    }
    // the parts' own readers have the last word: whatever they do not write
    // again, bit for bit, is not theirs
    for i in 0..states.len() {
        let state = &states[i];
        let read = state.reader_over(&states[0]);
        model.load("", &read).map_err(Error::from)?;
        let mut again = saved_parameters(&model);
        // what the first draw has for all of them
        again.retain(|name, a| state.reader().has(name) || a.role != Role::Shared);
        Checked {
            state,
            place: &format!("components/{i}/"),
        }
        .same_as(&again)?;
        // the same numbers, and what they are there for
        states[i] = again;
    }
    share(&mut states);
    Ok((states, model))
}

/// Sums over the samples, if the file has them.
fn take_sums(file: &mut Container<'_>) -> Result<Option<State>, Fault> {
    let place = SUMS;
    let state = to_state(place, file.take_all(place))?;
    let state = Some(state).filter(|s| !s.arrays().is_empty());
    if let Some(state) = &state {
        Checked { state, place }.finite()?;
    }
    Ok(state)
}

/// What views were settled on, if it is beside the joint fit: earlier files have it in its place.
fn take_settled(
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
        take_mixture(header, (&v.name, rows), checked, &mut again)?;
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
    for (name, rows) in names {
        checked.expect(&name, &[rows, directions])?;
        again.put(&name, arrays[&name].clone());
    }
    if arrays[&at("variance")].values.iter().any(|v| *v < 0.0) {
        let name = format!("{}{}", checked.place, at("variance"));
        return Err(Fault::values(&name, "holds a negative variance"));
    }
    Ok(())
}

/// The shares of the ways of which a view is mixed, and its regression on the features of others.
fn take_mixture(
    header: &ModelHeader,
    (target, predictors): (&str, usize),
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
    for view in header.views.iter().filter(|v| v.name != target) {
        let name = at(&format!("of/{}", view.name));
        if arrays.contains_key(&name) {
            let columns = view.features.len().max(view.levels.len());
            names.push((name, vec![columns, predictors]));
            names.push((at(&format!("means/{}", view.name)), vec![columns]));
        }
    }
    for (name, shape) in names {
        checked.expect(&name, &shape)?;
        again.put(&name, arrays[&name].clone());
    }
    let noise = arrays.get(&at("noise"));
    if noise.is_some_and(|n| n.values.iter().any(|v| *v <= 0.0)) {
        let name = format!("{}{}", checked.place, at("noise"));
        return Err(Fault::values(&name, "holds a variance that is not above 0"));
    }
    Ok(())
}

/// Whether the arrays have the extents of the model that they are of.
fn check_component(
    header: &ModelHeader,
    model: &Model,
    engine: EngineKind,
    state: Checked<'_>,
) -> Result<(), Fault> {
    let spread = match engine {
        EngineKind::Vb | EngineKind::Stochastic => Spread::Some,
        EngineKind::Gibbs => Spread::None,
    };
    let factors = Rows {
        count: header.samples.len(),
        factors: header.factors,
        implicit: 0,
        spread,
    };
    state.moments("factors", factors)?;
    for v in &model.views {
        check_view(v, header.factors, spread, state)?;
    }
    state.finite()
}

/// As [`check_component`], of one view.
fn check_view(
    v: &ViewPart,
    factors: usize,
    spread: Spread,
    state: Checked<'_>,
) -> Result<(), Fault> {
    let at = format!("views/{}", v.name);
    let rows = Rows {
        count: v.weights.moments().explicit_rows(),
        factors,
        implicit: 0,
        spread,
    };
    state.moments(&format!("{at}/weights"), rows)?;
    state.bias(&format!("{at}/bias"), v.bias.mean().len(), 0)
}

fn take_view(
    view: &ViewHeader,
    groups: usize,
    file: &mut Container<'_>,
) -> Result<ViewInfo, Fault> {
    let mut vector = |kind: &str| -> Result<Vec<f64>, Fault> {
        let name = format!("{kind}/{}", view.name);
        let values = file.take(&name)?.numbers(&name, &[view.features.len()])?;
        if values.iter().all(|x| x.is_finite()) {
            Ok(values)
        } else {
            Err(Fault::values(&name, "holds a value that is not finite"))
        }
    };
    let (offset, scale) = (vector("offset")?, vector("scale")?);
    if scale.contains(&0.0) {
        let name = format!("scale/{}", view.name);
        return Err(Fault::values(&name, "holds a zero"));
    }
    let training = take_training(view, groups, file)?;
    let scores = (view.choices.scaling == FeatureScaling::NormalScores)
        .then(|| take_scores(view, file))
        .transpose()?;
    Ok(ViewInfo {
        name: view.name.clone(),
        features: view.features.clone(),
        levels: view.levels.clone(),
        choices: view
            .choices
            .clone()
            .folded(&ViewChoices::default(), |_| Options::new()),
        scaling: Scaling {
            offset,
            scale,
            constant: view.constant.clone(),
            scores,
        },
        observed: view.observed,
        unobserved: view.unobserved.clone(),
        left_out: view.left_out.clone(),
        selves: view.selves.clone(),
        kernel: take_kernel(view, file)?,
        training,
    })
}

/// The map of a view with a kernel.
fn take_kernel(
    view: &ViewHeader,
    file: &mut Container<'_>,
) -> Result<Option<Box<KernelMap>>, Fault> {
    let Some(parts) = &view.kernel else {
        return Ok(None);
    };
    let name = format!("kernel/{}", view.name);
    let points = match parts.extents() {
        Some((rows, columns)) => file.take(&name)?.matrix(&name, rows, columns)?,
        None => Mat::zeros(view.features.len(), 0),
    };
    let map = parts.clone().with_points(points).map_err(|source| {
        Error::from(ErrorKind::Kernel {
            view: view.name.clone(),
            source,
        })
    })?;
    if map.references() != view.features {
        return Err(Fault::Record("reference points of a kernel"));
    }
    Ok(Some(Box::new(map)))
}

fn take_data(
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

fn take_metadata(header: &ModelHeader, file: &mut Container<'_>) -> Result<Vec<Metadata>, Fault> {
    let mut out = Vec::with_capacity(header.metadata.len());
    for (i, column) in header.metadata.iter().enumerate() {
        let values = match &column.values {
            ColumnValues::Categories(c) => MetadataValues::Categories(c.clone()),
            ColumnValues::Numbers => {
                let name = format!("metadata/{i}");
                let values = file.take(&name)?.numbers(&name, &[header.samples.len()])?;
                MetadataValues::Numbers(values)
            }
        };
        out.push(Metadata {
            name: column.name.clone(),
            values,
        });
    }
    Ok(out)
}
