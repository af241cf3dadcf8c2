//! The tables and the picture of a projection.

use std::path::Path;

use polyview::{Metadata, MetadataValues};
use polyview_io::write_atomic;
use polyview_linalg::{Mat, MatRef};
use polyview_mva::{RbCca, Tuned};
use polyview_report::{Factors, Grid, Options, draw_factor_histogram, draw_factor_pair};

use super::data::Labels;
use super::map::MvaMap;
use crate::failure::{Failure, Outcome};
use crate::written::{overwrite, shortest, write, write_columns, write_rows};

/// Components of samples, of one view or of several side by side.
pub struct Scores<'a> {
    samples: &'a [String],
    names: Vec<String>,
    values: Mat<f64>,
    /// Components of a view.
    each: usize,
}

fn component(k: usize) -> String {
    format!("Component {}", k + 1)
}

impl<'a> Scores<'a> {
    pub fn new(samples: &'a [String], views: &[(&str, Mat<f64>)]) -> Self {
        let each = views.first().map_or(0, |v| v.1.ncols());
        let mut names = Vec::new();
        for (view, _) in views {
            names.extend((0..each).map(|k| match views.len() {
                1 => component(k),
                _ => format!("{view} {}", component(k)),
            }));
        }
        let values = Mat::from_fn(samples.len(), names.len(), |n, k| {
            views[k / each.max(1)].1[(n, k % each.max(1))]
        });
        Self {
            samples,
            names,
            values,
            each,
        }
    }
    fn of_first(&self) -> MatRef<'_, f64> {
        self.values.subcols(0, self.each)
    }
}

pub fn scores(path: &Path, found: &Scores<'_>, force: bool) -> Outcome<()> {
    let (samples, names) = (found.samples, &found.names);
    write(path, "sample", samples, names, found.values.as_ref(), force)
}

pub fn weights(path: &Path, map: &MvaMap, name: &str, force: bool) -> Outcome<()> {
    let Some(view) = map.views.iter().find(|v| v.name == name) else {
        let names: Vec<&str> = map.views.iter().map(|v| v.name.as_str()).collect();
        return Err(Failure::Usage(format!(
            "--weights: there are no directions of a view '{name}', but of {}",
            names.join(", ")
        )));
    };
    let columns: Vec<String> = (0..view.components()).map(component).collect();
    let directions = view.directions();
    write(
        path,
        "feature",
        &view.features,
        &columns,
        directions.as_ref(),
        force,
    )
}

/// Predicted classes with the scores of their machines, or the predicted view.
pub fn predicted(path: &Path, map: &MvaMap, found: &Scores<'_>, force: bool) -> Outcome<()> {
    if let Some(target) = &map.target {
        let values = target.predict(&found.of_first().to_owned());
        return write(
            path,
            "sample",
            found.samples,
            &target.features,
            values.as_ref(),
            force,
        );
    }
    let machine = map.classes.as_ref().and_then(|c| Some((c, c.machine()?)));
    let Some((classes, machine)) = machine else {
        return Err(Failure::Usage(format!(
            "--predicted: {} of these data predicts nothing; give --labels, or --method opls with two views",
            map.method
        )));
    };
    let said = machine
        .predict(found.of_first())
        .map_err(|e| Failure::Mva {
            path: path.to_owned(),
            what: e.to_string(),
        })?;
    let column = said.iter().map(|c| Some(classes.names[*c].clone()));
    write_columns(
        path,
        found.samples,
        vec![(classes.name.clone(), column.collect())],
        force,
    )
}

/// How relevant each feature is for each class, and whether it is kept.
pub fn relevance(path: &Path, map: &MvaMap, fit: &RbCca, force: bool) -> Outcome<()> {
    let (Some(classes), Some(view)) = (&map.classes, map.views.first()) else {
        return Ok(());
    };
    let mut header = vec!["feature".to_owned(), "kept".to_owned()];
    header.extend(classes.names.iter().map(|c| format!("relevance {c}")));
    header.extend(classes.names.iter().map(|c| format!("passes {c}")));
    let found = fit.bagging().relevance();
    let yes = |is: bool| u8::from(is).to_string();
    let passes = |c: usize, d: usize| {
        let own = fit.selected_for(c);
        own.is_some_and(|all| all.binary_search(&d).is_ok())
    };
    let rows: Vec<Vec<String>> = (view.features.iter().enumerate())
        .map(|(d, feature)| {
            let kept = fit.selected().binary_search(&d).is_ok();
            let mut row = vec![feature.clone(), yes(kept)];
            row.extend((0..classes.names.len()).map(|c| shortest(found[(d, c)])));
            row.extend((0..classes.names.len()).map(|c| yes(passes(c, d))));
            row
        })
        .collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    write_rows(path, &header, &rows, force)
}

/// What was tried on folds.
pub fn tuning(path: &Path, found: &Tuned, force: bool) -> Outcome<()> {
    let header = [
        "candidate",
        "features",
        "penalty",
        "balanced accuracy",
        "standard error",
        "chosen",
    ];
    let mut rows = Vec::new();
    for i in 0..found.accuracy.nrows() {
        for (j, penalty) in found.penalties.iter().enumerate() {
            rows.push(vec![
                (rows.len() + 1).to_string(),
                found
                    .counts
                    .get(i)
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                shortest(*penalty),
                shortest(found.accuracy[(i, j)]),
                shortest(found.error[(i, j)]),
                u8::from((i, j) == found.chosen).to_string(),
            ]);
        }
    }
    write_rows(path, &header, &rows, force)
}

/// Samples by their first two components, coloured by class; by one where there is no second.
pub fn picture(
    path: &Path,
    map: &MvaMap,
    found: &Scores<'_>,
    labels: Option<&Labels>,
    force: bool,
) -> Outcome<()> {
    let k = found.names.len();
    let mut cells = Vec::with_capacity(found.samples.len() * k);
    for n in 0..found.samples.len() {
        cells.extend(found.values.row(n).iter());
    }
    let factors = Factors {
        samples: found.samples.to_vec(),
        names: found.names.clone(),
        means: Grid::new(found.samples.len(), k, cells)?,
        sds: None,
    };
    let column = labels.map(|l| Metadata {
        name: l.name.clone(),
        values: MetadataValues::Categories(
            l.of.iter().map(|c| c.map(|c| l.names[c].clone())).collect(),
        ),
    });
    // of two views the first component of each: what correlates
    let second = if map.views.len() > 1 && k > found.each {
        found.each
    } else {
        1
    };
    let drawn = if second < k {
        draw_factor_pair(&factors, (0, second), column.as_ref(), &Options::default())?
    } else {
        draw_factor_histogram(&factors, 0)?
    };
    let svg = drawn.to_svg();
    Ok(write_atomic(path, overwrite(force), |w| {
        w.write_all(svg.as_bytes())
    })?)
}
