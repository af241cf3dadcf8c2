//! Table 4.12: classes by a kernel for each of several views.

use std::error::Error;
use std::time::Instant;

use polyview::Settle;
use polyview_baselines::{parts, stratified};
use polyview_linalg::Mat;

use super::{cell, features, modelled, with_spread};
use crate::sheet::Printed;
use crate::table::data::{Half, classed};
use crate::table::judged::spectral_and_contextual;
use crate::table::linear::{self, Inputs};
use crate::table::options::Options;
use crate::table::python::{self, Peer};
use crate::table::score::Score;

/// Reference points of each kernel, unless others are asked for.
const REFERENCES: usize = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A kernel for each view, the joint fit.
    Kernels,
    /// Half of the reference points, those of most relevance.
    Sparse,
    Vectors,
    OnCanonical,
}

const WAYS: [Way; 4] = [Way::Kernels, Way::Sparse, Way::Vectors, Way::OnCanonical];

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Kernels => "a kernel for each view",
            Self::Sparse => "half of the reference points",
            Self::Vectors => "support vector machine",
            Self::OnCanonical => "CCA, support vector machine",
        }
    }
    /// The thesis' area.
    fn paper(self) -> f64 {
        match self {
            Self::Kernels | Self::Sparse => 0.983,
            Self::Vectors => 0.963,
            Self::OnCanonical => 0.980,
        }
    }
    /// Probabilities (of support vector machines an order), and the factors.
    fn said(
        self,
        (train, test): (&Half, &Half),
        o: &Options,
    ) -> Result<Option<(Mat<f64>, f64)>, Box<dyn Error>> {
        let references = o.references.unwrap_or(REFERENCES).min(train.len());
        if matches!(self, Self::Kernels | Self::Sparse) {
            let keep = if self == Self::Sparse {
                ", keep=0.5"
            } else {
                ""
            };
            let kernel = format!("rbf{{references={references}{keep}}}");
            let said = modelled((train, test), (&kernel, None), Settle::Not, o)?;
            return Ok(Some((said.values, said.factors)));
        }
        let Some(python) = o.python.as_deref() else {
            return Ok(None);
        };
        let [mut x, mut new] = features(train, test)?;
        if self == Self::OnCanonical {
            let y = train.indicators();
            (x, new) = linear::reduced(Inputs::Canonical, x, y.as_ref(), new)?;
        }
        let said = python::said((python, Peer::Vectors), train, [&x, &new], o.seed)?;
        Ok(Some((said, f64::NAN)))
    }
}

/// Landsat: area of the classes, weighted by their shares.
///
/// # Errors
/// What the set, a fit or Python refuses.
pub fn several_kernels(o: &Options, out: &mut Printed) -> Result<(), Box<dyn Error>> {
    let mut all = classed(&o.data.join("landsat"), "", &["pixels"], "class", None)?;
    all.inputs = spectral_and_contextual(&all.inputs[0])?;
    let fold = stratified(all.indicators().as_ref(), o.folds, o.seed)?;
    let title = format!(
        "Thesis table 4.12, landsat: {} folds of {} samples",
        o.folds,
        all.len()
    );
    out.head(
        &title,
        &[
            "way", "thesis", "AUC", "log loss", "accuracy", "factors", "seconds",
        ],
    )?;
    for way in WAYS {
        let ours = matches!(way, Way::Kernels | Way::Sparse);
        if !o.wants(way.name(), ours) {
            continue;
        }
        let clock = Instant::now();
        let (mut scores, mut factors) = (Vec::new(), Vec::new());
        for f in 0..o.folds {
            let (inside, outside) = parts(&fold, f);
            let (train, test) = (all.rows(&outside), all.rows(&inside));
            if let Some((said, k)) = way.said((&train, &test), o)? {
                scores.push(Score::of(&test, &said, ours)?);
                factors.push(k);
            }
        }
        if scores.is_empty() {
            continue;
        }
        let seconds = clock.elapsed().as_secs_f64() / o.folds as f64;
        let of = |score: fn(&Score) -> f64| -> Vec<f64> { scores.iter().map(score).collect() };
        out.row(vec![
            way.name().to_owned(),
            cell(way.paper(), 3),
            with_spread(&of(|s| s.auc), 4),
            with_spread(&of(|s| s.log_loss), 4),
            with_spread(&of(|s| s.accuracy), 4),
            with_spread(&factors, 0),
            cell(seconds, 1),
        ])?;
    }
    Ok(())
}
