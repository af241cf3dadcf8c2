//! How complete Gaussian data are swept: as they are, or compressed
//! (docs/decisions/0007-compression.md).
//!
//! The model does not notice an orthogonal change of the samples ($X \to
//! QX$), nor, with noise by view and a prior that is the same for all
//! features, of the features of a view ($X \to XQ$). With more samples than
//! features the data therefore shrink to as many rows as they have
//! independent columns, plus one for the constant vector; with more features
//! than samples to as many columns as they have independent rows. The rows or
//! columns that vanish have zero data: their posterior means are zero and
//! their covariances the shared one, which the moments count as implicit
//! rows. The iterates are those of the data themselves, to rounding.

use polyview_core::{Event, Groups, Journal, Mask, RowCov, RowMoments, Schedule, View};
use polyview_infer::{Model, ViewPart};
use polyview_likelihoods::{Compressed, Gaussian, MissingData, NoiseBy, ParameterUncertainty};
use polyview_linalg::{Mat, cross, sym_eigen, times_small};

use crate::assemble::{
    factor_block, gaussian_options, several, view_part, weight_block, without_samples,
};
use crate::compose::Composed;
use crate::error::{ErrorKind, Result};
use crate::spec::{Algorithm, ModelSpec, Path};

/// Sweeps that the cost model reckons with.
const SWEEPS: f64 = 100.0;
/// Eigenvalues below this share of the largest are rounding.
const RANK: f64 = 1e-13;

/// How a fit's data are swept.
pub(crate) enum Plan {
    Streaming,
    Samples(SampleCompression),
    Features(Vec<Option<FeatureCompression>>),
}

/// Left factor of all views' data: rows of `Λ^½ Vᵀ`, and what turns starts
/// into it.
pub(crate) struct SampleCompression {
    /// Compressed values of each view.
    values: Vec<Mat<f64>>,
    /// `V Λ^-½` by view: centred data times it are the orthonormal rows.
    turns: Vec<Mat<f64>>,
    means: Vec<Vec<f64>>,
    samples: usize,
}

/// Right factor of one view's data.
pub(crate) struct FeatureCompression {
    /// `U Λ^½`, samples × rank.
    values: Mat<f64>,
    /// `U Λ^-½`: its product with the data gives the orthonormal columns.
    turn: Mat<f64>,
    features: usize,
}

/// Floating-point operations of a whole fit by each path, where it can be
/// taken.
struct Costs {
    streaming: f64,
    samples: Option<f64>,
    features: Option<f64>,
}

fn costs(spec: &ModelSpec, groups: Option<&Groups>, views: &[View], k: usize) -> Result<Costs> {
    let n = views.first().map_or(0, View::n_samples) as f64;
    let d: f64 = views.iter().map(|v| v.n_features() as f64).sum();
    let k = k as f64;
    // samples that differ in anything but their data cannot be mixed; mofapy2
    // goes another way, which ends elsewhere
    let grouped = several(groups).is_some() && (spec.groups.noise || spec.groups.intercepts);
    let none = without_samples(groups);
    let plain = !grouped
        && factor_block(spec, none.as_ref(), Mat::zeros(0, spec.factors), 0)?.turns()
        && spec.algorithm == Algorithm::Corrected
        && (views.iter()).all(|v| spec.view(v.name()).own_weight().is_none());
    // compressed, sparse values would be dense
    let complete = plain
        && (views.iter()).all(|v| matches!(v.mask(), Mask::Complete) && v.sparse().is_none())
        && views
            .iter()
            .all(|v| spec.view(v.name()).likelihood == "gaussian");
    let by_view = views
        .iter()
        .all(|v| spec.view(v.name()).noise == NoiseBy::View);
    // features with precisions of their own cannot be mixed
    let mut alike = true;
    for v in views {
        let none = RowMoments::point(Mat::zeros(0, spec.factors));
        alike &= weight_block(spec, v.name(), none, &[])?.turns();
    }
    // an eigenvalue problem runs at about a tenth of the speed of a product
    let eigen = |m: f64| 100.0 * m.powi(3);
    let small = |m: f64| m <= 6000.0;
    Ok(Costs {
        streaming: SWEEPS * 4.0 * n * d * k,
        samples: (complete && d + 1.0 < n && small(d))
            .then(|| 2.0 * n * d * d + eigen(d) + SWEEPS * 4.0 * d * d * k),
        features: (complete
            && by_view
            && alike
            && views.iter().all(|v| v.n_features() as f64 > n)
            && small(n))
        .then(|| views.len() as f64 * (eigen(n) + SWEEPS * 4.0 * n * n * k) + 2.0 * n * n * d),
    })
}

impl Plan {
    /// Chooses the path and compresses the data if it says so. Whether data may be
    /// compressed is known of the parts of a specification alone.
    ///
    /// # Errors
    /// [`ErrorKind::Incompatible`] when a compressing path was asked for and
    /// cannot be taken.
    pub(crate) fn choose(
        composed: &Composed,
        groups: Option<&Groups>,
        views: &[View],
        journal: &mut Journal,
    ) -> Result<Self> {
        let Some(spec) = composed.spec() else {
            return Ok(Self::Streaming);
        };
        if composed.adjustment.is_some() {
            // what is known of samples is not turned with them
            return Ok(Self::Streaming);
        }
        let costs = costs(spec, groups, views, spec.factors)?;
        let refused = |path: &str, why: &str| {
            Err(ErrorKind::Incompatible {
                view: String::new(),
                what: path.to_owned(),
                with: why.to_owned(),
            }
            .into())
        };
        let (path, reason) = match spec.path {
            Path::Streaming => (Path::Streaming, "asked for".to_owned()),
            Path::CompressSamples if costs.samples.is_none() => {
                return refused(
                    "compress-samples",
                    "these data: it needs complete Gaussian views that are not sparse, more samples than features, standard normal factors, nothing that groups have of their own, views that count once, and the corrected algorithm",
                );
            }
            Path::CompressFeatures if costs.features.is_none() => {
                return refused(
                    "compress-features",
                    "these data: it needs complete Gaussian views that are not sparse, noise by view, no selection of features, more features than samples in every view, standard normal factors, nothing that groups have of their own, views that count once, and the corrected algorithm",
                );
            }
            Path::CompressSamples => (Path::CompressSamples, "asked for".to_owned()),
            Path::CompressFeatures => (Path::CompressFeatures, "asked for".to_owned()),
            Path::Auto => cheapest(&costs),
        };
        let name = match path {
            Path::CompressSamples => "compressed samples",
            Path::CompressFeatures => "compressed features",
            _ => "streaming",
        };
        journal.note(
            0,
            "path",
            Event::Path {
                path: name.to_owned(),
                reason,
            },
        );
        Ok(match path {
            Path::CompressSamples => Self::Samples(SampleCompression::new(views)?),
            Path::CompressFeatures => Self::Features(
                views
                    .iter()
                    .map(|v| FeatureCompression::new(v).map(Some))
                    .collect::<Result<_>>()?,
            ),
            _ => Self::Streaming,
        })
    }

    /// The model to sweep, started at `start` (samples × k).
    ///
    /// # Errors
    /// When the data of a view do not suit its likelihood.
    pub(crate) fn model(
        &self,
        composed: &Composed,
        groups: Option<&Groups>,
        views: Vec<View>,
        start: Mat<f64>,
    ) -> Result<Model> {
        let Some(spec) = composed.spec() else {
            return composed.model(groups, views, start);
        };
        let k = start.ncols();
        let part = |name: &str,
                    values: &Mat<f64>,
                    ones: Vec<f64>,
                    samples,
                    features|
         -> Result<ViewPart> {
            let data = Compressed {
                values: values.clone(),
                ones,
                samples,
                features,
            };
            let implicit = features - data.values.ncols();
            let options = gaussian_options(spec, name, MissingData::Marginal, 1.0);
            view_part(
                spec,
                name,
                Box::new(Gaussian::compressed(name, data, options)),
                implicit,
                k,
            )
        };
        match self {
            Self::Streaming => composed.model(groups, views, start),
            Self::Samples(c) => {
                let start = c.start(&views, &start);
                let rows = start.nrows();
                let mut ones = vec![0.0; rows];
                ones[0] = (c.samples as f64).sqrt();
                let parts = views
                    .iter()
                    .zip(&c.values)
                    .map(|(v, x)| part(v.name(), x, ones.clone(), c.samples, v.n_features()))
                    .collect::<Result<_>>()?;
                Ok(Model::new(
                    factor_block(spec, groups, start, c.samples - rows)?,
                    parts,
                    Schedule::standard(views.len()),
                ))
            }
            Self::Features(all) => {
                let parts = views
                    .iter()
                    .zip(all)
                    .map(|(v, c)| match c {
                        Some(c) => part(
                            v.name(),
                            &c.values,
                            vec![1.0; v.n_samples()],
                            v.n_samples(),
                            c.features,
                        ),
                        None => crate::assemble::part(
                            spec,
                            groups,
                            v.clone(),
                            spec.missing,
                            ParameterUncertainty::Posterior,
                            k,
                        ),
                    })
                    .collect::<Result<_>>()?;
                Ok(Model::new(
                    factor_block(spec, groups, start, 0)?,
                    parts,
                    Schedule::standard(views.len()),
                ))
            }
        }
    }

    /// The posterior of the data themselves from that of the compressed ones.
    pub(crate) fn expand(
        &self,
        composed: &Composed,
        groups: Option<&Groups>,
        views: &[View],
        swept: Model,
    ) -> Result<Model> {
        use polyview_core::{Journal as J, Stateful};
        // what is compressed is complete: nothing of it is missing
        let full = |start| composed.model(groups, views.to_vec(), start);
        match self {
            Self::Streaming => Ok(swept),
            Self::Samples(c) => {
                let mut state = polyview_core::State::new();
                swept.save("", &mut state);
                let zeros = Mat::zeros(c.samples, swept.k());
                let mut full = full(zeros)?;
                full.load_views("", &state.reader())?;
                let mut journal = J::default();
                let mut cx = polyview_core::Context {
                    key: polyview_random::StreamKey::new(composed.options.seed),
                    sweep: 0,
                    journal: &mut journal,
                };
                polyview_infer::update_factors(&polyview_infer::Vb::default(), &mut full, &mut cx)?;
                Ok(full)
            }
            Self::Features(all) => {
                let start = Mat::zeros(views.first().map_or(0, View::n_samples), swept.k());
                let mut full = full(start)?;
                full.factors.set_moments(swept.factors.moments().clone());
                for (((view, part), target), c) in
                    views.iter().zip(&swept.views).zip(&mut full.views).zip(all)
                {
                    let mut state = polyview_core::State::new();
                    part.weights.save("w", &mut state);
                    part.term.save("t", &mut state);
                    target.term.load("t", &state.reader())?;
                    target.weights.load("w", &state.reader())?;
                    let Some(c) = c else {
                        part.bias.save("b", &mut state);
                        target.bias.load("b", &state.reader())?;
                        continue;
                    };
                    let w = part.weights.moments();
                    let cov = match w.cov() {
                        RowCov::Shared(s) => RowCov::Shared(s.clone()),
                        _ => RowCov::Zero,
                    };
                    let turned = times_small(c.turn.as_ref(), w.mean());
                    let mean = cross(view.values(), turned.as_ref());
                    target
                        .weights
                        .set_moments(RowMoments::new(mean, cov, w.log_det(), 0));
                    if part.bias.is_present() {
                        let b = Mat::from_fn(c.turn.ncols(), 1, |j, _| part.bias.mean()[j]);
                        let turned = times_small(c.turn.as_ref(), b.as_ref());
                        let mean = cross(view.values(), turned.as_ref());
                        let variance = part.bias.implicit().1;
                        target.bias.set(
                            (0..c.features).map(|d| mean[(d, 0)]).collect(),
                            vec![variance; c.features],
                        );
                    }
                }
                Ok(full)
            }
        }
    }
}

fn cheapest(costs: &Costs) -> (Path, String) {
    let mut best = (Path::Streaming, costs.streaming);
    for (path, cost) in [
        (Path::CompressSamples, costs.samples),
        (Path::CompressFeatures, costs.features),
    ] {
        if let Some(c) = cost
            && c < best.1
        {
            best = (path, c);
        }
    }
    let reason = if best.0 == Path::Streaming {
        match costs.samples.or(costs.features) {
            None => "the only way for these data".to_owned(),
            Some(c) => format!(
                "reckoned {:.1} times cheaper than compressing",
                c / costs.streaming
            ),
        }
    } else {
        format!(
            "reckoned {:.1} times cheaper than streaming over {SWEEPS} sweeps",
            costs.streaming / best.1
        )
    };
    (best.0, reason)
}

impl SampleCompression {
    fn new(views: &[View]) -> Result<Self> {
        let n = views.first().map_or(0, View::n_samples);
        let count = n as f64;
        let means: Vec<Vec<f64>> = views
            .iter()
            .map(|v| {
                polyview_linalg::column_sums(v.values())
                    .into_iter()
                    .map(|s| s / count)
                    .collect()
            })
            .collect();
        let sizes: Vec<usize> = views.iter().map(View::n_features).collect();
        let total: usize = sizes.iter().sum();
        let offsets: Vec<usize> = sizes
            .iter()
            .scan(0, |at, d| {
                let o = *at;
                *at += d;
                Some(o)
            })
            .collect();
        let mut gram: Mat<f64> = Mat::zeros(total, total);
        for (i, a) in views.iter().enumerate() {
            for (j, b) in views.iter().enumerate().take(i + 1) {
                let block = cross(a.values(), b.values());
                for c in 0..sizes[j] {
                    for r in 0..sizes[i] {
                        let x = block[(r, c)] - count * means[i][r] * means[j][c];
                        gram[(offsets[i] + r, offsets[j] + c)] = x;
                        gram[(offsets[j] + c, offsets[i] + r)] = x;
                    }
                }
            }
        }
        let (values, vectors) = sym_eigen(gram.as_ref())?;
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..total)
            .filter(|&i| values[i] > RANK * largest && values[i] > 0.0)
            .collect();
        let root: Vec<f64> = kept.iter().map(|&i| values[i].sqrt()).collect();
        let compressed = (0..views.len())
            .map(|m| {
                Mat::from_fn(1 + kept.len(), sizes[m], |r, d| match r {
                    0 => count.sqrt() * means[m][d],
                    r => root[r - 1] * vectors[(offsets[m] + d, kept[r - 1])],
                })
            })
            .collect();
        let turns = (0..views.len())
            .map(|m| {
                Mat::from_fn(sizes[m], kept.len(), |d, r| {
                    vectors[(offsets[m] + d, kept[r])] / root[r]
                })
            })
            .collect();
        Ok(Self {
            values: compressed,
            turns,
            means,
            samples: n,
        })
    }

    /// The image of starting factors.
    fn start(&self, views: &[View], start: &Mat<f64>) -> Mat<f64> {
        let k = start.ncols();
        let sums = polyview_linalg::column_sums(start.as_ref());
        let rows = self.turns.first().map_or(0, Mat::ncols);
        let mut out: Mat<f64> = Mat::zeros(1 + rows, k);
        for ((v, turn), means) in views.iter().zip(&self.turns).zip(&self.means) {
            // Vᵀ (X - 1 x̄ᵀ)ᵀ Z
            let mut xz = cross(v.values(), start.as_ref());
            for j in 0..k {
                for d in 0..xz.nrows() {
                    xz[(d, j)] -= means[d] * sums[j];
                }
            }
            let part = cross(turn.as_ref(), xz.as_ref());
            for j in 0..k {
                for r in 0..rows {
                    out[(1 + r, j)] += part[(r, j)];
                }
            }
        }
        for j in 0..k {
            out[(0, j)] = sums[j] / (self.samples as f64).sqrt();
        }
        out
    }
}

impl FeatureCompression {
    fn new(view: &View) -> Result<Self> {
        let n = view.n_samples();
        let mut gram: Mat<f64> = Mat::zeros(n, n);
        let width = 256;
        for start in (0..view.n_features()).step_by(width) {
            let len = width.min(view.n_features() - start);
            let rows = view.values().subcols(start, len).transpose().to_owned();
            let block = cross(rows.as_ref(), rows.as_ref());
            for j in 0..n {
                for i in 0..n {
                    gram[(i, j)] += block[(i, j)];
                }
            }
        }
        let (values, vectors) = sym_eigen(gram.as_ref())?;
        let largest = values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..n)
            .filter(|&i| values[i] > RANK * largest && values[i] > 0.0)
            .collect();
        if kept.is_empty() {
            // data that do not vary at all: one empty column stands for them
            return Ok(Self {
                values: Mat::zeros(n, 1),
                turn: Mat::zeros(n, 1),
                features: view.n_features(),
            });
        }
        let root: Vec<f64> = kept.iter().map(|&i| values[i].sqrt()).collect();
        Ok(Self {
            values: Mat::from_fn(n, kept.len(), |i, r| vectors[(i, kept[r])] * root[r]),
            turn: Mat::from_fn(n, kept.len(), |i, r| vectors[(i, kept[r])] / root[r]),
            features: view.n_features(),
        })
    }
}
