//! A view that is predicted by a regression on the features of others: what is kept of it, and what it says.

use std::sync::Arc;

use polyview_core::{Bias, RowGroups, RowMoments, State, StateReader, View};
use polyview_linalg::{Mat, times_small};

use super::curved::Curved;
use super::filled::{Filled, is_filled};
use super::holes::Holes;
use super::laws::Part;
use crate::error::Result;
use crate::fit::{ComponentView, Fit};

/// What predicts a view from the features of others alone: linear predictors
/// $s\_{nc} = a\_c + \sum\_d (x\_{nd} - m\_d)b\_{dc}$, with a variance where a sample lacks cells ([`Filled`]).
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Regressed {
    /// Of each view of the fit that it is predicted from the coefficients, columns × predictors of the target, per working unit; then those of the
    /// features behind the kernel of each.
    pub(super) of_view: Vec<Option<Source>>,
    /// What bends, if anything does.
    pub(super) curved: Option<Curved>,
    /// Of each predictor.
    pub(super) intercept: Vec<f64>,
    /// What its law has beside the predictors.
    pub(super) parameters: Parameters,
}

/// What the law of a view has beside its linear predictors.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Parameters {
    /// Of numbers the variance about the predictors of each, of samples that were held out; else empty.
    pub(super) noise: Vec<f64>,
    /// Of ordered levels the cut points of each feature, units of the noise, which add up to zero; else empty.
    pub(super) cuts: Vec<Vec<f64>>,
}

impl Parameters {
    fn save(&self, at: &str, state: &mut State) {
        if !self.noise.is_empty() {
            state.put_vec(&format!("{at}noise"), &self.noise);
        }
        if let Some(first) = self.cuts.first() {
            let cuts = Mat::from_fn(first.len(), self.cuts.len(), |k, d| self.cuts[d][k]);
            state.put_mat(&format!("{at}cuts"), cuts.as_ref());
        }
    }
    fn load(at: &str, state: &StateReader<'_>) -> Result<Self> {
        let (noise, cuts) = (format!("{at}noise"), format!("{at}cuts"));
        let mut out = Self::default();
        if state.has(&noise) {
            out.noise = state.vec(&noise)?;
        }
        if state.has(&cuts) {
            let cuts = state.mat(&cuts)?;
            out.cuts = cuts
                .col_iter()
                .map(|c| c.iter().copied().collect())
                .collect();
        }
        Ok(out)
    }
}

/// What one view is multiplied by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    /// Columns of the view for a linear model × predictors of the target.
    pub(super) coefficients: Mat<f64>,
    /// Means of the columns over the training samples.
    pub(super) means: Vec<f64>,
}

/// Linear predictors of samples, samples × predictors.
pub(super) struct Scores {
    pub(super) mean: Mat<f64>,
    /// Of what samples lack, and of what bends where no sample of training was near; `None` where there is neither.
    pub(super) variance: Option<Mat<f64>>,
}

/// What the state says of a view that is compared: its own columns are, or the features behind its kernel.
pub(crate) const OWN: f64 = 1.0;
pub(crate) const BEHIND: f64 = 2.0;

/// Where the state has it.
pub(crate) fn place(target: &str) -> String {
    format!("regression/{target}/")
}

/// Where there the coefficients of each view are, and the means of its columns; then those of the features behind it.
fn places(fit: &Fit) -> impl Iterator<Item = [String; 2]> {
    ["", "-behind"].into_iter().flat_map(|behind| {
        let each = fit.views().iter();
        each.map(move |info| ["of", "means"].map(|what| format!("{what}{behind}/{}", info.name)))
    })
}

impl Regressed {
    pub(super) fn save(&self, fit: &Fit, target: &str, state: &mut State) {
        let at = place(target);
        state.put_vec(&format!("{at}intercept"), &self.intercept);
        self.parameters.save(&at, state);
        if let Some(curved) = &self.curved {
            curved.save(fit, &format!("{at}curved/"), state);
        }
        for (own, [of, means]) in self.of_view.iter().zip(places(fit)) {
            if let Some(own) = own {
                state.put_mat(&format!("{at}{of}"), own.coefficients.as_ref());
                state.put_vec(&format!("{at}{means}"), &own.means);
            }
        }
    }
    fn load(fit: &Fit, target: &str, state: &StateReader<'_>) -> Result<Self> {
        let at = place(target);
        let mut of_view = Vec::new();
        for [of, means] in places(fit) {
            let name = format!("{at}{of}");
            of_view.push(if state.has(&name) {
                Some(Source {
                    coefficients: state.mat(&name)?,
                    means: state.vec(&format!("{at}{means}"))?,
                })
            } else {
                None
            });
        }
        Ok(Self {
            of_view,
            curved: Curved::load(&format!("{at}curved/"), state)?,
            intercept: state.vec(&format!("{at}intercept"))?,
            parameters: Parameters::load(&at, state)?,
        })
    }
    /// Linear predictors of so many samples, of which `views` are known.
    ///
    /// # Errors
    /// [`ErrorKind::Kernel`](crate::ErrorKind::Kernel) where similarities are out of range; what [`Filled::new`] says.
    pub(super) fn scores(
        &self,
        fit: &Fit,
        views: &[Option<View>],
        samples: usize,
    ) -> Result<Scores> {
        let sources: Vec<usize> = (0..self.views()).filter(|v| self.is_of(*v)).collect();
        self.scores_of(&Filled::new(fit, &sources, views, samples)?)
    }
    /// Linear predictors of samples with these features.
    pub(super) fn scores_of(&self, x: &Filled<'_>) -> Result<Scores> {
        let mut mean = Mat::from_fn(x.samples, self.intercept.len(), |_, c| self.intercept[c]);
        for (v, own) in self.of_view.iter().enumerate() {
            if let (Some(own), Some(x)) = (own, x.of(v)) {
                mean += own.part(x);
            }
        }
        let mut variance = None;
        if let Some(curved) = &self.curved {
            variance = curved.add_with_variance(&x.of_view, &mut mean)?;
        }
        if let Some(variance) = &mut variance {
            for (c, noise) in self.parameters.noise.iter().enumerate() {
                (variance.col_as_slice_mut(c).iter_mut()).for_each(|v| *v *= noise);
            }
        }
        let Some(holes) = &x.holes else {
            return Ok(Scores { mean, variance });
        };
        let (own, spread) = self.over(holes, x)?;
        let mut variance = variance.unwrap_or_else(|| Mat::zeros(x.samples, self.intercept.len()));
        for c in 0..variance.ncols() {
            for (i, &n) in holes.rows.iter().enumerate() {
                mean[(n, c)] = own[(i, c)];
                // beside what bends is known by at the means
                variance[(n, c)] += spread[(i, c)];
            }
        }
        Ok(Scores {
            mean,
            variance: Some(variance),
        })
    }
    /// Means and variances of the predictors of samples that lack something: between the points and within each, where what is
    /// in proportion to cells that are off their means is known and what bends is drawn.
    fn over(&self, holes: &Holes<'_>, x: &Filled<'_>) -> Result<(Mat<f64>, Mat<f64>)> {
        let (rows, predictors) = (holes.rows.len(), self.intercept.len());
        let mut at_points = Vec::with_capacity(holes.points());
        let mut variance = Mat::zeros(rows, predictors);
        for point in 0..holes.points() {
            let mut own = Mat::from_fn(rows, predictors, |_, c| self.intercept[c]);
            let at = x.at(holes, point);
            for (source, cells) in self.of_view.iter().zip(&at) {
                let (Some(source), Some(cells)) = (source, cells) else {
                    continue;
                };
                own += source.part(&cells.mean);
                if let Some(spread) = &cells.variance {
                    variance += times_small(spread.as_ref(), source.squares().as_ref());
                }
            }
            if let Some(curved) = &self.curved {
                curved.add_to(&holes.drawn(point, &at), &mut own)?;
            }
            at_points.push(own);
        }
        let count = at_points.len() as f64;
        let mut mean = Mat::zeros(rows, predictors);
        for own in &at_points {
            mean += own;
        }
        mean.col_iter_mut()
            .for_each(|c| c.iter_mut().for_each(|x| *x /= count));
        for c in 0..predictors {
            for n in 0..rows {
                let off = at_points
                    .iter()
                    .map(|own| (own[(n, c)] - mean[(n, c)]).powi(2));
                variance[(n, c)] = (variance[(n, c)] + off.sum::<f64>()) / count;
            }
        }
        Ok((mean, variance))
    }
    /// What is to be said of predictors that go by similarities to training samples.
    pub(crate) fn says_of_similar(&self) -> Option<String> {
        let curved = self.curved.as_ref()?;
        let (own, all) = (curved.predictors(), self.intercept.len());
        let which = if own == all {
            "the regression goes".to_owned()
        } else {
            format!("{own} of {all} regressions go")
        };
        Some(format!(
            "; {which} by similarities to {} training samples, whose features the model keeps (linear-mixture keeps none)",
            curved.points()
        ))
    }
    /// How many linear predictors there are.
    pub(super) fn predictors(&self) -> usize {
        self.intercept.len()
    }
    /// How many views the fit has.
    fn views(&self) -> usize {
        self.of_view.len() / 2
    }
    /// Whether it is made on a view, or on the features behind it.
    pub(super) fn is_of(&self, view: usize) -> bool {
        let of = self.views();
        self.of_view[view].is_some()
            || self.of_view[of + view].is_some()
            || (self.curved.as_ref()).is_some_and(|own| own.is_of(view, of))
    }
    /// Views that it is made on and that some of these samples have nothing of, and of how many samples: those that are filled in
    /// or those that are not.
    pub(super) fn lacking(
        &self,
        (fit, filled): (&Fit, bool),
        views: &[Option<View>],
        samples: &[usize],
    ) -> (Vec<usize>, usize) {
        let lacks = |v: &usize, n: usize| !knows(views[*v].as_ref(), n);
        let own: Vec<usize> = (0..self.views())
            .filter(|v| self.is_of(*v) && is_filled(fit, *v) == filled)
            .filter(|v| samples.iter().any(|n| lacks(v, *n)))
            .collect();
        let count = samples.iter().filter(|n| own.iter().any(|v| lacks(v, **n)));
        let count = count.count();
        (own, count)
    }
    /// Whether each sample has something of a view that it is made on, and of every one of which nothing else says what it may
    /// be: there is no view of mean features.
    pub(super) fn serves(&self, fit: &Fit, views: &[Option<View>], samples: usize) -> Vec<bool> {
        let sources: Vec<(Option<&View>, bool)> = (views.iter().enumerate())
            .filter(|(v, _)| self.is_of(*v))
            .map(|(v, view)| (view.as_ref(), is_filled(fit, v)))
            .collect();
        let serves = |n: usize| {
            let has = |(view, _): &(Option<&View>, bool)| knows(*view, n);
            sources.iter().any(has) && sources.iter().all(|own| own.1 || has(own))
        };
        (0..samples).map(serves).collect()
    }
}

/// Whether a sample has something of a view.
pub(super) fn knows(view: Option<&View>, sample: usize) -> bool {
    view.is_some_and(|v| v.mask().count_sample(sample, v.n_features()) > 0)
}

impl Source {
    /// Squares of the coefficients.
    fn squares(&self) -> Mat<f64> {
        let own = &self.coefficients;
        Mat::from_fn(own.nrows(), own.ncols(), |d, c| own[(d, c)].powi(2))
    }
    /// What it adds to the predictors of samples of these columns.
    fn part(&self, x: &Mat<f64>) -> Mat<f64> {
        let mut x = x.clone();
        for (d, mean) in self.means.iter().enumerate() {
            for x in x.col_as_slice_mut(d) {
                *x = if x.is_nan() { 0.0 } else { *x - mean };
            }
        }
        times_small(x.as_ref(), self.coefficients.as_ref())
    }
}

/// The law of a view with these linear predictors, and these parameters beside them. Where components of the
/// factors have predictors of their own (spec/maxmargin-rank 2.5), all have these: the mixture of equal laws is that law,
/// whichever component a sample belongs to.
pub(super) fn known(mut view: ComponentView, scores: &Scores, parameters: &Parameters) -> Part {
    let Parameters { noise, cuts } = parameters;
    let (rows, predictors) = scores.mean.shape();
    let columns = predictors * view.term.shape().components.unwrap_or(1);
    let k = view.weights.k();
    // a group for each sample, and one that nobody is in where there is none
    let each = |of: &Mat<f64>| -> Vec<f64> {
        let cells = (0..rows.max(1)).flat_map(|n| (0..columns).map(move |c| (n, c)));
        let of = |(n, c)| {
            if n < rows {
                of[(n, c % predictors)]
            } else {
                0.0
            }
        };
        cells.map(of).collect()
    };
    let of_sample = (0..rows as u32).collect();
    if let Ok(own) = RowGroups::new(of_sample, rows.max(1)) {
        view.bias = Bias::known_by_group(columns, own, each(&scores.mean));
        if let Some(variance) = &scores.variance {
            view.bias.set(each(&scores.mean), each(variance));
        }
    }
    view.weights = RowMoments::point(Mat::zeros(columns, k));
    if !cuts.is_empty() {
        view.term.take_cut_points(cuts);
    }
    if !view.term.take_noise(noise)
        && let Some(own) = view.term.as_noise_mut()
        && let Some(mut gammas) = own.precisions().cloned()
    {
        for i in 0..gammas.len() {
            let variance = if gammas.len() == noise.len() {
                noise[i]
            } else {
                noise.iter().sum::<f64>() / noise.len().max(1) as f64
            };
            // of which the mean of the inverse is that variance
            let shape = gammas.shape()[i].max(2.0);
            gammas.set(i, shape, variance * (shape - 1.0));
        }
        own.share(&gammas);
    }
    let factors = RowMoments::point(Mat::zeros(rows, k));
    Part::new(Arc::new(factors), view)
}

impl Fit {
    /// What predicts a view from the features of others, if its mixture has that.
    pub(crate) fn regressed(&self, at: usize) -> Result<Option<Regressed>> {
        let name = &self.views[at].name;
        let reader = self.settled.reader();
        if !reader.has(&format!("{}intercept", place(name))) {
            return Ok(None);
        }
        Regressed::load(self, name, &reader).map(Some)
    }
}
