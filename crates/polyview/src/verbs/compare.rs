//! Two fits of the same data against each other: what they predict, and how sure
//! they are.

mod choices;
mod moments;

use std::collections::HashMap;

use polyview_core::Domain;
use polyview_infer::diagnostics::quantiles;

use moments::{predictors, squared_length};

use crate::assemble::has_prior_of_draws;
use crate::error::{ErrorKind, Result};
use crate::fit::{Fit, ViewInfo};
use crate::spec::ViewChoices;

/// Most cells of a view that are compared.
const CELLS: usize = 2000;
/// Most columns of a view that are compared.
const COLUMNS: usize = 40;

/// Ratios of posterior standard deviations, those of the first fit by those of the
/// second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spreads {
    /// Quantities that both fits are unsure of.
    pub quantities: usize,
    /// Median of the ratios; `NaN` without quantities, like its kin.
    pub median: f64,
    /// Their 5 % quantile.
    pub lower: f64,
    /// Their 95 % quantile.
    pub upper: f64,
}

impl Spreads {
    /// Below this median the first fit is said to be too sure.
    pub const SMALL: f64 = 0.8;

    /// Whether the median is below [`Spreads::SMALL`].
    pub fn is_small(&self) -> bool {
        self.median < Self::SMALL
    }

    fn of(ratios: &[f64]) -> Self {
        let [lower, median, upper] = match quantiles(ratios, &[0.05, 0.5, 0.95]) {
            Ok(q) => [q[0], q[1], q[2]],
            Err(_) => [f64::NAN; 3],
        };
        Self {
            quantities: ratios.len(),
            median,
            lower,
            upper,
        }
    }
}

/// Posterior means and standard deviations of the same quantities in two fits.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparedMoments {
    /// Means in the first fit.
    pub mean: Vec<f64>,
    /// Standard deviations in the first fit.
    pub sd: Vec<f64>,
    /// Means in the second fit.
    pub other_mean: Vec<f64>,
    /// Standard deviations in the second fit.
    pub other_sd: Vec<f64>,
}

impl ComparedMoments {
    /// Ratios where both are unsure.
    fn spreads(&self) -> Spreads {
        let ratios: Vec<f64> = self
            .sd
            .iter()
            .zip(&self.other_sd)
            .filter(|(a, b)| **a > 0.0 && **b > 0.0)
            .map(|(a, b)| a / b)
            .filter(|r| r.is_finite())
            .collect();
        Spreads::of(&ratios)
    }
}

/// One view in two fits.
#[derive(Clone, Debug, PartialEq)]
pub struct ComparedView {
    /// The view.
    pub view: String,
    /// What it predicts.
    pub kind: Domain,
    /// The linear predictor at cells, in the working units of the first fit: the
    /// score, where the data are labels. Cells are spread over samples and
    /// features, two thousand at most.
    pub predictor: ComparedMoments,
    /// Correlation of the posterior means of the predictor, each column about its
    /// own mean over the cells; `NaN` where nothing varies.
    pub correlation: f64,
    /// Ratios of the spread of the predictor.
    pub predictor_spread: Spreads,
    /// Squared length of the weights of features, $|w\_d|^2$, in squared working
    /// units of the first fit. Nothing where components have weights of their own,
    /// whose numbering differs from draw to draw.
    pub weights: ComparedMoments,
    /// Ratios of the spread of the squared lengths.
    pub weight_spread: Spreads,
}

/// Two fits against each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Samples that both have.
    pub samples: usize,
    /// Views that both have, in the order of the first fit.
    pub views: Vec<ComparedView>,
    /// What should be known to read the numbers.
    pub notes: Vec<String>,
}

/// What is compared of a view: places in a fit.
struct Places {
    view: usize,
    samples: Vec<usize>,
    columns: Vec<usize>,
}

/// Running moments over the components of a fit.
struct Running {
    parts: f64,
    mean: Vec<f64>,
    spread: Vec<f64>,
}

impl Running {
    fn new(len: usize) -> Self {
        Self {
            parts: 0.0,
            mean: vec![0.0; len],
            spread: vec![0.0; len],
        }
    }
    fn add(&mut self, moments: impl Iterator<Item = (f64, f64)>) {
        self.parts += 1.0;
        let to = self.mean.iter_mut().zip(&mut self.spread);
        for ((mean, spread), (m, v)) in to.zip(moments) {
            add(self.parts, mean, spread, m, v);
        }
    }
    /// Means and standard deviations.
    fn finish(self) -> (Vec<f64>, Vec<f64>) {
        let count = self.parts.max(1.0);
        let sd = self.spread.iter().map(|s| (s / count).max(0.0).sqrt());
        let sd = sd.collect();
        (self.mean, sd)
    }
}

impl Fit {
    /// Compares this fit with another one of the same samples and views, such as
    /// variational Bayes with Gibbs sampling: whether they predict the same, and
    /// where one is surer than the other. Samples and features are matched by
    /// name; what only one of them has is left out. Everything that is compared
    /// stays the same under rotations and signs of the factors. Notes say which part of a view was looked at where that is
    /// not all of it, and which choices of all views are others.
    ///
    /// Variational Bayes takes what depends on one another for independent, so
    /// that its spread tends to be too small: ratios below one say where.
    ///
    /// # Errors
    /// [`ErrorKind::NothingInCommon`] when the two have no sample, or no view with
    /// a feature, in common; when a component's state is damaged.
    pub fn compare(&self, other: &Self) -> Result<Comparison> {
        let place: HashMap<&str, usize> = named(&other.samples);
        let samples: Vec<(usize, usize)> = common(&self.samples, &place);
        if samples.is_empty() {
            return Err(ErrorKind::NothingInCommon { what: "sample" }.into());
        }
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let mut notes = Vec::new();
        for (view, info) in self.views.iter().enumerate() {
            let Some(at) = other.views.iter().position(|v| v.name == info.name) else {
                notes.push(left_out(&info.name, "the second fit has no such view"));
                continue;
            };
            let theirs = &other.views[at];
            if info.choices.likelihood.is_similarity() {
                let why = "its latent dimensions may be turned between two fits";
                notes.push(left_out(&info.name, why));
                continue;
            }
            let columns = common(info.columns(), &named(theirs.columns()));
            if columns.is_empty() {
                let [own, theirs] = [info, theirs].map(|v| &v.choices.likelihood);
                let why = if own.has_classes() == theirs.has_classes() {
                    "the two fits have no feature of it in common".to_owned()
                } else {
                    format!("it is {own} in the first fit and {theirs} in the second")
                };
                notes.push(left_out(&info.name, &why));
                continue;
            }
            let joint = |v: &ViewInfo| ViewChoices {
                settle: None,
                ..v.choices.clone()
            };
            if joint(info) == joint(theirs) {
                let which = match (self.was_settled(info), other.was_settled(theirs)) {
                    (true, false) => Some(("first", self.holds_settled(view))),
                    (false, true) => Some(("second", other.holds_settled(at))),
                    _ => None,
                };
                notes.extend(which.map(|(which, beside)| {
                    let what = if beside {
                        "it was settled as well, which predictions of it from other views \
                         alone follow: what is compared is the joint fit"
                    } else {
                        "its weights are settled on factors that did not see it"
                    };
                    format!("{}: in the {which} of the fits {what}", info.name)
                }));
            } else {
                notes.push(format!(
                    "{}: the choices of the two fits differ, so that predictors may be on different scales",
                    info.name
                ));
            }
            let of_draws =
                |fit: &Self| (fit.spec()).is_some_and(|s| has_prior_of_draws(s, &info.name));
            if of_draws(self) != of_draws(other) {
                notes.push(format!(
                    "{}: its noise has the prior that draws have by default in one of the fits and not in the other; \
                     give both one (noise-prior of a study) to compare the engines alone",
                    info.name
                ));
            }
            let all = [samples.len(), columns.len()];
            let columns = thinned(&columns, COLUMNS);
            let rows = thinned(&samples, (CELLS / columns.len()).max(1));
            notes.extend(choices::part(&info.name, [rows.len(), columns.len()], all));
            notes.extend(self.other_data(other, (view, at), &rows, &columns));
            own.push(places(view, &rows, &columns, |p| p.0));
            others.push(places(at, &rows, &columns, |p| p.1));
        }
        if own.is_empty() {
            return Err(ErrorKind::NothingInCommon { what: "feature" }.into());
        }
        let alone = other.views.iter().map(|v| &v.name);
        let alone = alone.filter(|name| self.views.iter().all(|v| v.name != **name));
        notes.extend(alone.map(|name| left_out(name, "the first fit has no such view")));
        if self.samples.len() != samples.len() || other.samples.len() != samples.len() {
            notes.push(format!(
                "{} samples are in both fits, {} in the first, {} in the second",
                samples.len(),
                self.samples.len(),
                other.samples.len()
            ));
        }
        notes.extend(self.other_choices(other));
        let (mine, theirs) = (self.compared(&own)?, other.compared(&others)?);
        let mut views = Vec::with_capacity(own.len());
        for ((i, a), b) in mine.into_iter().enumerate().zip(theirs) {
            let (info, theirs) = (&self.views[own[i].view], &other.views[others[i].view]);
            let columns = own[i].columns.iter().zip(&others[i].columns);
            let rows = own[i].samples.len();
            // from the second fit's working units to those of the first
            let units: Vec<(f64, f64)> = columns
                .map(|(&d, &e)| {
                    let (own, theirs) = (&info.scaling, &theirs.scaling);
                    if info.choices.likelihood.is_real() {
                        let shift = theirs.offset[e] - own.offset[d];
                        (shift / own.scale[d], theirs.scale[e] / own.scale[d])
                    } else {
                        (0.0, 1.0)
                    }
                })
                .collect();
            let cells = |x: &[f64], f: &dyn Fn(usize, f64) -> f64| -> Vec<f64> {
                x.iter().enumerate().map(|(c, x)| f(c / rows, *x)).collect()
            };
            let predictor = ComparedMoments {
                mean: a.predictor.0,
                sd: a.predictor.1,
                other_mean: cells(&b.predictor.0, &|j, x| units[j].0 + units[j].1 * x),
                other_sd: cells(&b.predictor.1, &|j, x| units[j].1 * x),
            };
            let squared = |x: &[f64]| -> Vec<f64> {
                x.iter().zip(&units).map(|(x, (_, u))| u * u * x).collect()
            };
            let weights = ComparedMoments {
                other_mean: squared(&b.weights.0),
                other_sd: squared(&b.weights.1),
                mean: a.weights.0,
                sd: a.weights.1,
            };
            views.push(ComparedView {
                view: info.name.clone(),
                kind: a.kind,
                correlation: correlation(&predictor.mean, &predictor.other_mean, rows),
                predictor_spread: predictor.spreads(),
                weight_spread: weights.spreads(),
                predictor,
                weights,
            });
        }
        Ok(Comparison {
            samples: samples.len(),
            views,
            notes,
        })
    }

    /// Moments of what is compared, over the components.
    fn compared(&self, places: &[Places]) -> Result<Vec<Compared>> {
        let mut running: Vec<(Running, Running)> = places
            .iter()
            .map(|p| {
                let local = self.views[p.view].choices.local;
                let weights = if local { 0 } else { p.columns.len() };
                let cells = p.samples.len() * p.columns.len();
                (Running::new(cells), Running::new(weights))
            })
            .collect();
        let mut kinds = vec![Domain::default(); places.len()];
        for i in 0..self.n_components() {
            let component = self.component(i)?;
            for ((p, (predictor, weights)), kind) in places.iter().zip(&mut running).zip(&mut kinds)
            {
                *kind = component.views[p.view].term.domain();
                predictor.add(predictors(&component, p).into_iter());
                let w = &component.views[p.view].weights;
                let columns = if weights.mean.is_empty() {
                    &[][..]
                } else {
                    &p.columns[..]
                };
                weights.add(columns.iter().map(|&d| squared_length(w, d)));
            }
        }
        let out = running.into_iter().zip(kinds);
        Ok(out
            .map(|((predictor, weights), kind)| Compared {
                kind,
                predictor: predictor.finish(),
                weights: weights.finish(),
            })
            .collect())
    }
}

/// What a fit says of the places of a view, means and standard deviations.
struct Compared {
    kind: Domain,
    predictor: (Vec<f64>, Vec<f64>),
    weights: (Vec<f64>, Vec<f64>),
}

fn named(names: &[String]) -> HashMap<&str, usize> {
    let places = names.iter().enumerate();
    places.map(|(i, n)| (n.as_str(), i)).collect()
}

/// That a view is not compared, and why.
fn left_out(view: &str, why: &str) -> String {
    format!("{view}: not compared: {why}")
}

/// Places of the names that both have.
fn common(names: &[String], other: &HashMap<&str, usize>) -> Vec<(usize, usize)> {
    let places = names.iter().enumerate();
    places
        .filter_map(|(i, n)| Some((i, *other.get(n.as_str())?)))
        .collect()
}

/// At most `most` of a list, evenly spread.
pub(super) fn thinned<T: Copy>(list: &[T], most: usize) -> Vec<T> {
    evenly(list.len(), most).map(|i| list[i]).collect()
}

/// At most `most` of the first `count` numbers, evenly spread.
pub(super) fn evenly(count: usize, most: usize) -> impl Iterator<Item = usize> {
    let kept = count.min(most);
    (0..kept).map(move |i| i * count / kept)
}

fn places(
    view: usize,
    rows: &[(usize, usize)],
    columns: &[(usize, usize)],
    of: fn(&(usize, usize)) -> usize,
) -> Places {
    Places {
        view,
        samples: rows.iter().map(of).collect(),
        columns: columns.iter().map(of).collect(),
    }
}

/// Correlation over cells, columns of `rows` cells each about its mean.
fn correlation(a: &[f64], b: &[f64], rows: usize) -> f64 {
    let (mut aa, mut bb, mut ab) = (0.0, 0.0, 0.0);
    for (a, b) in a.chunks(rows.max(1)).zip(b.chunks(rows.max(1))) {
        let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
        let (ma, mb) = (mean(a), mean(b));
        for (x, y) in a.iter().zip(b) {
            aa += (x - ma).powi(2);
            bb += (y - mb).powi(2);
            ab += (x - ma) * (y - mb);
        }
    }
    ab / (aa * bb).sqrt()
}

/// Adds component number `count` (from 1), of mean `m` and variance `v`, to a
/// running mean and a running `spread`, the sum of $v\_i + (m\_i - \bar m)^2$
/// (Welford's recursion). After `count` components the mixture's variance is
/// `spread / count`; a single component comes out as it went in.
fn add(count: f64, mean: &mut f64, spread: &mut f64, m: f64, v: f64) {
    let step = m - *mean;
    *mean += step / count;
    *spread += v + step * (m - *mean);
}
