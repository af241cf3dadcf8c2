//! What follows from the domain, and the ways that are not refused.

use polyview_core::{Block, TermContext, View, ViewTerm, Way};
use polyview_linalg::{Mat, Repeats, SparseColumns};

use super::Finding;
use super::subject::{DataCase, Point, Subject, numeric, refresh};

/// Data sets that are simulated, and standard errors that their means may be off.
const SIMULATED: u64 = 600;
const SCORE: f64 = 5.5;
/// Components of a mixture.
const COMPONENTS: usize = 2;
/// Sweeps of the fits that are compared, and the largest relative difference of bounds.
const SWEEPS: usize = 3;
const ROUNDING: f64 = 1e-9;

pub(super) fn findings(s: &Subject<'_>) -> Vec<Finding> {
    let mut out = Vec::new();
    match s.term_of(DataCase::Complete) {
        Ok(mut term) => {
            out.extend(columns(s, term.as_mut()));
            out.extend(predicted(s, term.as_mut()).err());
        }
        // said before
        Err(_) => return out,
    }
    for way in [Way::Components, Way::Sparse] {
        if s.refusal(way).is_none() {
            let tested = match way {
                Way::Components => components(s),
                _ => sparse(s),
            };
            out.extend(tested.err().map(|why| Finding::Way { way, why }));
        }
    }
    out
}

fn columns(s: &Subject<'_>, term: &mut dyn ViewTerm) -> Vec<Finding> {
    let (shape, domain) = (term.shape(), s.species.domain());
    let wanted = [
        ("its number of samples", shape.samples, s.view.n_samples()),
        (
            "its number of data columns",
            shape.observed_columns,
            s.view.n_features(),
        ),
        (
            "its number of predictor columns",
            shape.predictor_columns,
            s.predictor_columns(),
        ),
    ];
    let mut out: Vec<Finding> = (wanted.into_iter())
        .filter(|(_, found, expected)| found != expected)
        .map(|(what, found, expected)| Finding::Shape {
            what,
            found,
            expected,
        })
        .collect();
    if term.domain() != domain {
        out.push(Finding::Capability {
            what: "the domain that its species says",
        });
    }
    out
}

/// Predicted means, samples × predicted columns, at a known predictor.
fn means(term: &dyn ViewTerm, p: &polyview_core::Predictor<'_>) -> Mat<f64> {
    let shape = term.shape();
    let block = Block::new(0..shape.samples, 0..shape.observed_columns);
    term.law(p, &block).means()
}

/// What a datum adds to the mean of a predicted column.
fn seen(s: &Subject<'_>, values: &Mat<f64>, sample: usize, column: usize) -> f64 {
    let domain = s.species.domain();
    if domain.has_classes() {
        return f64::from(u8::from(values[(sample, 0)] == column as f64));
    }
    values[(sample, column)] / s.view.trials_of(sample, column)
}

/// Predicted means are those of simulated data. Ranks have no unit.
fn predicted(s: &Subject<'_>, term: &mut dyn ViewTerm) -> Result<(), Finding> {
    if s.species.domain().is_ranked() {
        return Ok(());
    }
    let shape = term.shape();
    let point = Point::new(shape.samples, shape.predictor_columns, s.key.block(70));
    let p = point.predictor();
    refresh(term, &p).map_err(numeric(DataCase::Complete, "a prediction"))?;
    let expected = means(term, &p);
    let (rows, columns) = expected.shape();
    let [mut sum, mut squares] = [(); 2].map(|()| Mat::<f64>::zeros(rows, columns));
    for i in 0..SIMULATED {
        let at = s.key.sweep(i);
        let values = term.simulate(&p, at.block(71), at.block(72));
        for d in 0..columns {
            for n in 0..rows {
                let x = seen(s, &values, n, d) - expected[(n, d)];
                sum[(n, d)] += x;
                squares[(n, d)] += x * x;
            }
        }
    }
    let count = SIMULATED as f64;
    for column in 0..columns {
        for sample in 0..rows {
            let off: f64 = sum[(sample, column)] / count;
            let spread: f64 = squares[(sample, column)] / count;
            // labels that were never seen have no spread
            let score = off.abs() / (spread.max(1.0 / count) / count).sqrt();
            if !matches!(score.partial_cmp(&SCORE), Some(std::cmp::Ordering::Less)) {
                let predicted = expected[(sample, column)];
                return Err(Finding::Predicted {
                    sample,
                    column,
                    predicted,
                    simulated: predicted + off,
                    score,
                });
            }
        }
    }
    Ok(())
}

/// Columns by component.
fn components(s: &Subject<'_>) -> Result<(), String> {
    let cx = TermContext {
        components: Some(COMPONENTS),
        ..s.context(DataCase::Complete)
    };
    let mut term = s.term_with(&s.view, &cx).map_err(|e| e.to_string())?;
    let shape = term.shape();
    if shape.components != Some(COMPONENTS) || term.as_by_component().is_none() {
        return Err("its term has no columns by component (TermContext::components)".to_owned());
    }
    let expected = COMPONENTS * s.view.n_features();
    if shape.predictor_columns != expected {
        return Err(format!(
            "{COMPONENTS} components have {} predictor columns and not {expected}",
            shape.predictor_columns
        ));
    }
    Ok(())
}

/// Data that are stored sparse are the same data.
fn sparse(s: &Subject<'_>) -> Result<(), String> {
    if s.view.trials().is_some() || !s.view.levels().is_empty() {
        return Ok(());
    }
    let bound = |view: &View| {
        let term = s.term_with(view, &s.context(DataCase::Complete));
        let term = term.map_err(|e| e.to_string())?;
        let run = s.fitted(s.model(term, None), SWEEPS);
        Ok::<f64, String>(run.map_err(|e| e.to_string())?.model_mut().bound())
    };
    let (rows, columns) = (s.view.n_samples(), s.view.n_features());
    let cells = (0..columns).flat_map(|d| (0..rows).map(move |n| (n, d)));
    let entries: Vec<(u32, u32, f64)> = cells
        .map(|(n, d)| (n as u32, d as u32, s.view.value(n, d).unwrap_or_default()))
        .filter(|e| e.2 != 0.0)
        .collect();
    let entries = SparseColumns::from_triplets(rows, columns, &entries, Repeats::Refuse);
    let entries = entries.map_err(|e| e.to_string())?;
    let stored = View::from_sparse(s.view.name(), s.view.features().to_vec(), entries);
    let (dense, sparse) = (bound(&s.view)?, bound(&stored.map_err(|e| e.to_string())?)?);
    if (dense - sparse).abs() <= ROUNDING * dense.abs() {
        return Ok(());
    }
    Err(format!(
        "its bound is {sparse} on sparse data and {dense} on the same data stored dense"
    ))
}
