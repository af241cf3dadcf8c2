//! Between a [`Fit`] and its file.

use polyview_core::{
    FeatureScaling, Groups, Metadata, MetadataValues, Options, ParameterUncertainty, Role,
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
use super::settled::{push_settled, take_settled};
use super::training::{push_training, take_training};
use super::values::{push_data, take_data};
use crate::assemble;
use crate::compose::Composed;
use crate::error::{Error, ErrorKind};
use crate::fit::{Fit, FitRecord, TrainingScale, ViewInfo, saved_parameters, share};
use crate::registry::Registry;
use crate::spec::{EngineKind, ViewChoices};

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
pub(super) fn check_view(
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
