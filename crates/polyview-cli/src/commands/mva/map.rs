//! What a fitted projection keeps for new samples.

use std::collections::HashMap;
use std::path::Path;

use polyview::TrainingScale;
use polyview_baselines::LinearSvm;
use polyview_linalg::{Mat, times_small};
use polyview_mva::Standard;
use serde::{Deserialize, Serialize};

use super::data::View;
use crate::failure::{Failure, Outcome};

/// Version of the file.
const FORMAT: u32 = 1;

/// Directions by view, and what is predicted from them.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MvaMap {
    polyview_mva: u32,
    /// The method.
    pub method: String,
    /// One view, of cca two.
    pub views: Vec<ViewMap>,
    /// Classes, where the projection knows them.
    pub classes: Option<ClassMap>,
    /// The view that opls predicts.
    pub target: Option<TargetMap>,
}

/// Directions of one view.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ViewMap {
    pub name: String,
    pub features: Vec<String>,
    pub means: Vec<f64>,
    pub scales: Vec<f64>,
    /// Standard deviations of the training values where `scales` are not these; absent in earlier
    /// files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub spreads: Vec<f64>,
    /// A row per feature.
    pub directions: Vec<Vec<f64>>,
}

/// Classes and the machines that tell them apart.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ClassMap {
    pub name: String,
    pub names: Vec<String>,
    /// The intercepts, then a row per component.
    pub coefficients: Vec<Vec<f64>>,
}

/// A view as a combination of components.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct TargetMap {
    pub name: String,
    pub features: Vec<String>,
    pub means: Vec<f64>,
    pub scales: Vec<f64>,
    /// A row per feature.
    pub loadings: Vec<Vec<f64>>,
}

/// A matrix as rows.
pub fn rows(m: &Mat<f64>) -> Vec<Vec<f64>> {
    let row = |i: usize| m.row(i).iter().copied().collect();
    (0..m.nrows()).map(row).collect()
}

fn matrix(rows: &[Vec<f64>]) -> Mat<f64> {
    let width = rows.first().map_or(0, Vec::len);
    Mat::from_fn(rows.len(), width, |i, j| rows[i][j])
}

impl ViewMap {
    /// That of a view with these units; `raw`: features stayed in their own.
    pub fn new(view: &View, standard: &Standard, directions: &Mat<f64>, raw: bool) -> Self {
        let learnt = raw.then(|| Standard::learn(view.values.as_ref()).ok());
        Self {
            spreads: learnt
                .flatten()
                .map_or_else(Vec::new, |s| s.scale().to_vec()),
            name: view.name.clone(),
            features: view.features.clone(),
            means: standard.mean().to_vec(),
            scales: standard.scale().to_vec(),
            directions: rows(directions),
        }
    }
    pub fn directions(&self) -> Mat<f64> {
        matrix(&self.directions)
    }
    pub fn components(&self) -> usize {
        self.directions.first().map_or(0, Vec::len)
    }
    /// Components of the samples of a view that has these features, in any order.
    pub fn scores(&self, view: &View) -> Outcome<Mat<f64>> {
        let place: HashMap<&str, usize> = (view.features.iter().enumerate())
            .map(|(d, f)| (f.as_str(), d))
            .collect();
        let mut columns = Vec::with_capacity(self.features.len());
        for feature in &self.features {
            let at = place.get(feature.as_str()).copied();
            columns.push(at.ok_or_else(|| Failure::Mva {
                path: view.path.clone(),
                what: format!(
                    "it has no column '{feature}', which the projection of view '{}' needs; give the features that it was fitted to",
                    self.name
                ),
            })?);
        }
        let x = Mat::from_fn(view.values.nrows(), columns.len(), |n, d| {
            (view.values[(n, columns[d])] - self.means[d]) / self.scales[d]
        });
        Ok(times_small(x.as_ref(), self.directions().as_ref()))
    }
    /// What is to be said of values that are not like those of training, as models say it of
    /// theirs.
    pub fn unlike_training(&self, view: &View, samples: &[String]) -> Vec<String> {
        // raw units of an earlier file are no measure
        if self.spreads.is_empty() && self.scales.iter().all(|s| *s == 1.0) {
            return Vec::new();
        }
        let place: HashMap<&str, usize> = (view.features.iter().enumerate())
            .map(|(d, f)| (f.as_str(), d))
            .collect();
        let directions = self.directions();
        // constant in training, or of no say
        let counts = |d: &usize| (0..directions.ncols()).any(|k| directions[(*d, k)] != 0.0);
        let (own, columns): (Vec<usize>, Vec<usize>) = (0..self.features.len())
            .filter(counts)
            .filter_map(|d| Some((d, *place.get(self.features[d].as_str())?)))
            .unzip();
        let sds = if self.spreads.is_empty() {
            &self.scales
        } else {
            &self.spreads
        };
        let scale = TrainingScale {
            mean: own.iter().map(|d| self.means[*d]).collect(),
            sd: own.iter().map(|d| sds[*d]).collect(),
            least: None,
            groups: None,
        };
        let names = own.iter().map(|d| self.features[*d].clone()).collect();
        let values = Mat::from_fn(view.values.nrows(), columns.len(), |n, d| {
            view.values[(n, columns[d])]
        });
        let of_model = polyview_core::View::from_values(&*self.name, names, values);
        of_model.map_or_else(
            |_| Vec::new(),
            |v| polyview::unlike_training(&scale, &v, samples),
        )
    }
    fn is_whole(&self) -> bool {
        let n = self.features.len();
        n > 0
            && (self.spreads.is_empty() || is_scale(&self.spreads, n))
            && self.means.len() == n
            && is_scale(&self.scales, n)
            && is_table(&self.directions, n, self.components())
            && self.components() > 0
            && finite(&self.means)
    }
}

impl ClassMap {
    pub fn machine(&self) -> Option<LinearSvm> {
        LinearSvm::from_coefficients(matrix(&self.coefficients)).ok()
    }
}

impl TargetMap {
    /// The predicted view, samples × features, in its own units.
    pub fn predict(&self, scores: &Mat<f64>) -> Mat<f64> {
        let loadings = matrix(&self.loadings);
        let out = times_small(scores.as_ref(), loadings.transpose());
        Mat::from_fn(out.nrows(), out.ncols(), |n, d| {
            self.means[d] + self.scales[d] * out[(n, d)]
        })
    }
}

fn finite(x: &[f64]) -> bool {
    x.iter().all(|x| x.is_finite())
}

fn is_scale(x: &[f64], n: usize) -> bool {
    x.len() == n && x.iter().all(|x| x.is_finite() && *x > 0.0)
}

fn is_table(rows: &[Vec<f64>], n: usize, width: usize) -> bool {
    rows.len() == n && rows.iter().all(|r| r.len() == width && finite(r))
}

impl MvaMap {
    pub fn new(method: &str, views: Vec<ViewMap>) -> Self {
        Self {
            polyview_mva: FORMAT,
            method: method.to_owned(),
            views,
            classes: None,
            target: None,
        }
    }

    /// Reads what `--save` wrote.
    pub fn read(path: &Path) -> Outcome<Self> {
        let wrong = |why: String| Failure::Mva {
            path: path.to_owned(),
            what: format!("{why}; give a file that 'polyview mva --save' wrote"),
        };
        let text = std::fs::read(path).map_err(|e| wrong(e.to_string()))?;
        let map: Self = serde_json::from_slice(&text).map_err(|e| {
            wrong(match e.classify() {
                serde_json::error::Category::Data => e.to_string(),
                _ => "it is no projection that was saved".to_owned(),
            })
        })?;
        if map.polyview_mva != FORMAT {
            return Err(wrong(format!(
                "it is of format {}, and this program reads format {FORMAT}",
                map.polyview_mva
            )));
        }
        if let Some(why) = map.fault() {
            return Err(wrong(why));
        }
        Ok(map)
    }

    /// What does not fit together.
    fn fault(&self) -> Option<String> {
        let broken = |what: &str| Some(format!("its {what} do not fit together"));
        let Some(first) = self.views.first() else {
            return Some("it has no view".to_owned());
        };
        let k = first.components();
        if !self
            .views
            .iter()
            .all(|v| v.is_whole() && v.components() == k)
        {
            return broken("directions");
        }
        if let Some(c) = &self.classes
            && (c.names.len() < 2 || !is_table(&c.coefficients, 1 + k, c.names.len()))
        {
            return broken("classes");
        }
        if let Some(t) = &self.target {
            let n = t.features.len();
            let fits = t.means.len() == n && finite(&t.means) && is_scale(&t.scales, n);
            if n == 0 || !fits || !is_table(&t.loadings, n, k) {
                return broken("predicted features");
            }
        }
        None
    }
}
