//! A composer of one's own: weights under a prior that knows some of the features by name.

use std::sync::Arc;

use polyview::prelude::*;
use polyview_core::{
    GammaPrior, Gammas, NumericError, PrecisionView, RotationSide, RotationTerm, ScalePrior, State,
    StateReader, Stateful,
};
use polyview_likelihoods::{Gaussian, GaussianOptions};
use polyview_priors::{ColumnPenalty, ColumnRotation, Fixed, FullRows, ThreeParameterBeta};
use polyview_random::StreamKey;
use serde::{Deserialize, Serialize};

/// Real numbers, of whose features some are marked: those that an earlier study has found, say.
/// Weights of a view that has any of them are [`Marked`], those of all others have a
/// horseshoe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MarkedFeatures {
    /// Names of the marked features.
    pub markers: Vec<String>,
    /// How many times larger than that of the others the variance of their weights is to
    /// begin with.
    pub trust: f64,
}

impl MarkedFeatures {
    /// Its name in files.
    pub const NAME: &'static str = "marked-features";

    /// Reads it from what a file has kept.
    ///
    /// # Errors
    /// [`ErrorKind::SpeciesOption`].
    pub fn read(options: &Options) -> polyview::Result<Arc<dyn Composer>> {
        match options.read::<Self>() {
            Ok(composer) => Ok(Arc::new(composer)),
            Err(source) => Err(ErrorKind::SpeciesOption {
                what: "composer",
                species: Self::NAME.to_owned(),
                source,
            }
            .into()),
        }
    }
    fn is_marked(&self, feature: &String) -> bool {
        self.markers.contains(feature)
    }
    /// Prior precisions of the weights of these features, up to that of the factor, where any
    /// of them is marked.
    fn precisions(&self, features: &[String]) -> Option<Vec<f64>> {
        let of = |feature: &String| {
            if self.is_marked(feature) {
                self.trust.recip()
            } else {
                1.0
            }
        };
        let any = features.iter().any(|f| self.is_marked(f));
        any.then(|| features.iter().map(of).collect())
    }
}

impl Composer for MarkedFeatures {
    fn describe(&self) -> (&'static str, Options) {
        (Self::NAME, Options::of(self).unwrap_or_default())
    }
    fn views(&self, data: &[View]) -> polyview::Result<Vec<ViewChoices>> {
        let refuse = |what: &str, with: &str| {
            Err(ErrorKind::Incompatible {
                view: String::new(),
                what: what.to_owned(),
                with: with.to_owned(),
            }
            .into())
        };
        if !(self.trust > 0.0 && self.trust.is_finite()) {
            return refuse(&format!("a trust of {}", self.trust), "a prior");
        }
        let marked = |v: &View| v.features().iter().any(|f| self.is_marked(f));
        if !data.iter().any(marked) {
            return refuse("these markers", "data that have none of them");
        }
        let choices = |v: &View| ViewChoices {
            likelihood: "gaussian".into(),
            selection: if marked(v) { "none" } else { "horseshoe" }.into(),
            ..ViewChoices::default()
        };
        Ok(data.iter().map(choices).collect())
    }
    fn model(&self, views: Vec<View>, cx: ModelContext<'_>) -> polyview::Result<Model> {
        let k = cx.start.ncols();
        let mut parts = Vec::with_capacity(views.len());
        for view in views {
            let (name, columns) = (view.name().to_owned(), view.n_features());
            let (block, start) = (format!("weights/{name}"), cx.weights(columns));
            let weights: Box<dyn RowBlock> = match self.precisions(view.features()) {
                Some(rows) => Box::new(FullRows::new(block, Marked::new(rows, k), start)),
                None => {
                    let horseshoe = ThreeParameterBeta::new(Default::default(), columns, k);
                    Box::new(FullRows::new(block, horseshoe, start))
                }
            };
            let term = Gaussian::new(view, GaussianOptions::default());
            let term = Box::new(term.with_prediction(cx.prediction));
            parts.push(ViewPart::new(name, term, weights));
        }
        let factors = FullRows::new("factors", Fixed::standard_normal(k), cx.factors());
        let schedule = Schedule::standard(parts.len());
        Ok(Model::new(Box::new(factors), parts, schedule))
    }
}

/// $w_{dk} \sim N(0, 1/(r_d\alpha_k))$ with known $r_d$ and a gamma precision $\alpha_k$ for each
/// factor.
#[derive(Clone, Debug)]
pub struct Marked {
    /// $r_d$.
    rows: Vec<f64>,
    alpha: Gammas,
}

impl Marked {
    /// Of these row precisions and so many factors.
    pub fn new(rows: Vec<f64>, k: usize) -> Self {
        let prior = GammaPrior::new(1e-6, 1e-6);
        Self {
            rows,
            alpha: Gammas::new(prior, k, 1.0),
        }
    }
    fn squares(&self, rows: &RowMoments) -> Vec<f64> {
        rows.column_squares(Some(&self.rows))
    }
    fn shape(&self) -> f64 {
        0.5 * self.rows.len() as f64
    }
}

impl ScalePrior for Marked {
    fn precision(&self) -> PrecisionView<'_> {
        PrecisionView::Outer {
            rows: &self.rows,
            columns: self.alpha.mean(),
        }
    }
    fn update(&mut self, rows: &RowMoments) {
        for (k, square) in self.squares(rows).into_iter().enumerate() {
            let (a, b) = self.alpha.posterior(self.shape(), 0.5 * square);
            self.alpha.set(k, a, b);
        }
    }
    fn draw(&mut self, rows: &RowMoments, key: StreamKey) {
        for (k, square) in self.squares(rows).into_iter().enumerate() {
            let (a, b) = self.alpha.posterior(self.shape(), 0.5 * square);
            self.alpha.draw(k, a, b, key.chunk(k as u32));
        }
    }
    fn draw_prior(&mut self, key: StreamKey) {
        let p = self.alpha.prior();
        for k in 0..self.alpha.len() {
            self.alpha.draw(k, p.shape, p.rate, key.chunk(k as u32));
        }
    }
    fn expected_log_density(&self, rows: &RowMoments) -> f64 {
        let known: f64 = self.rows.iter().map(|r| 0.5 * r.ln()).sum();
        let of = |(k, square): (usize, f64)| {
            known + self.shape() * self.alpha.mean_ln()[k] - 0.5 * self.alpha.mean()[k] * square
        };
        self.squares(rows).into_iter().enumerate().map(of).sum()
    }
    fn bound(&self) -> f64 {
        self.alpha.bound()
    }
    fn idle_column(&self, rows: &RowMoments) -> f64 {
        self.alpha.idle(rows.rows() as f64)
    }
    fn rotation_term(
        &self,
        rows: &RowMoments,
        side: RotationSide,
    ) -> Option<Box<dyn RotationTerm>> {
        let GammaPrior { shape, rate } = self.alpha.prior();
        let penalty = ColumnPenalty::Gamma {
            shape: shape + self.shape(),
            rate,
        };
        let second = rows.second_moment(Some(&self.rows));
        let term = ColumnRotation::new(rows.rows(), &second, side, penalty);
        Some(Box::new(term))
    }
    fn select(&mut self, keep: &[usize]) {
        self.alpha.select(keep);
    }
}

impl Stateful for Marked {
    // r comes from the composer
    fn save(&self, prefix: &str, state: &mut State) {
        self.alpha.save(&format!("{prefix}/alpha"), state);
    }
    fn load(&mut self, prefix: &str, state: &StateReader<'_>) -> Result<(), NumericError> {
        self.alpha.load(&format!("{prefix}/alpha"), state)
    }
}
