//! From a fitted model to a report.

use polyview::{
    ACTIVE_SHARE, Clusters, Comparison, ErrorKind, Event as FitEvent, Explained, Finding, Fit,
    HeldOut as FitHeldOut, Mat, Metadata, MetadataValues, PredictiveCheck, ViewInfo,
};
use polyview_core::Mask;

use crate::svg::number::percent;
use crate::{
    Against, BoundTrace, Chain, ChainTraces, Coverage, Event, EventKind, Factors, Grid,
    GroupFactors, HeldOut, HeldOutCells, Intervals, Options, Progress, Report, Summary,
    VarianceExplained, ViewInclusion, ViewRelevance, ViewSummary, ViewWeights,
};

mod choices;

use choices::options;

impl Report {
    /// Everything that a fitted model has to show. Parts that need the
    /// training data (overlap, variance explained) are absent when the model
    /// was saved without them.
    ///
    /// # Errors
    /// Those of the fit, when its posterior cannot be read.
    pub fn from_fit(fit: &Fit) -> polyview::Result<Self> {
        let explained = fit.data().ok().map(|_| fit.explain()).transpose()?;
        let clusters = match fit.clusters() {
            Err(e) if *e.kind() == ErrorKind::NoClusters => None,
            other => Some(other?),
        };
        let names: Vec<String> = (1..=fit.k()).map(|k| format!("Factor {k}")).collect();
        let factors = fit.factors()?;
        let weights = fit
            .views()
            .iter()
            .map(|v| {
                let w = fit.weights(&v.name)?;
                Ok(ViewWeights {
                    view: v.name.clone(),
                    features: fit.weight_rows(&v.name)?,
                    means: grid(&w.mean),
                    sds: Some(grid(&w.sd)),
                })
            })
            .collect::<polyview::Result<Vec<_>>>()?;
        let inclusion = fit
            .views()
            .iter()
            .filter(|v| v.choices.selection.finding() == Some(Finding::Inclusion))
            .map(|v| {
                // of a factor that does nothing in the view they say nothing
                let mut probability = fit.inclusion(&v.name)?;
                for (k, idle) in fit.idle(&v.name)?.into_iter().enumerate() {
                    if idle {
                        probability.col_mut(k).fill(f64::NAN);
                    }
                }
                Ok(ViewInclusion {
                    view: v.name.clone(),
                    features: v.weight_rows().into_owned(),
                    probability: grid(&probability),
                })
            })
            .collect::<polyview::Result<Vec<_>>>()?;
        let relevance = fit
            .views()
            .iter()
            .filter(|v| v.choices.selection.finding() == Some(Finding::Relevance))
            .map(|v| {
                Ok(ViewRelevance {
                    view: v.name.clone(),
                    features: v.features.clone(),
                    relevance: fit.relevance(&v.name)?,
                    shape: v.choices.shape,
                })
            })
            .collect::<polyview::Result<Vec<_>>>()?;
        Ok(Self {
            title: format!("{}: {} factors", fit.model_name(), fit.k()),
            introduction: String::new(),
            summary: summary(fit, explained.as_ref(), clusters.as_ref()),
            coverage: coverage(fit),
            progress: Some(progress(fit)),
            variance: explained.as_ref().map(|e| variance(e, &names)),
            groups: groups(fit, &names)?,
            factors: Some(Factors {
                samples: fit.samples().to_vec(),
                names,
                means: grid(&factors.mean),
                sds: Some(grid(&factors.sd)),
            }),
            metadata: (fit.metadata().iter().cloned())
                .chain(clusters.as_ref().map(cluster_column))
                .collect(),
            metadata_in_the_fit: (fit.metadata_in_the_fit().into_iter())
                .map(str::to_owned)
                .collect(),
            weights,
            inclusion,
            relevance,
            journal: fit.record().journal.clone(),
            options: Options {
                active_share: ACTIVE_SHARE,
                ..Options::default()
            },
            versions: vec![("polyview".into(), env!("CARGO_PKG_VERSION").into())],
            ..Self::default()
        })
    }

    /// Adds predictions of cells that were held out of the fit: numbers with
    /// their intervals, labels with their probabilities, classes as a table of
    /// true against predicted ones.
    ///
    /// # Errors
    /// When the fit has no view of that name.
    pub fn with_held_out(mut self, fit: &Fit, held_out: &[FitHeldOut]) -> polyview::Result<Self> {
        self.held_out = held_out
            .iter()
            .filter(|h| !h.pairs.truth.is_empty())
            .map(|h| {
                Ok(HeldOut {
                    view: h.view.clone(),
                    r2: (!h.kind.is_label() && h.r2.is_finite()).then_some(h.r2),
                    deviance_explained: h
                        .kind
                        .has_deviance()
                        .then_some(h.deviance_explained)
                        .filter(|d| d.is_finite()),
                    cells: held_out_cells(fit.view(&h.view)?.1, h),
                })
            })
            .collect::<polyview::Result<_>>()?;
        Ok(self)
    }

    /// Adds posterior predictive checks.
    #[must_use]
    pub fn with_checks(mut self, checks: &[PredictiveCheck]) -> Self {
        self.checks = checks.to_vec();
        self
    }

    /// Adds what [`Fit::compare`] found of `fit` against `other`; they are called by their engines
    /// where these differ.
    #[must_use]
    pub fn with_comparison(mut self, fit: &Fit, other: &Fit, found: &Comparison) -> Self {
        let names = match [engine(fit), engine(other)] {
            [one, two] if one == two => ["this fit", "the other fit"],
            engines => engines,
        };
        let [name, other] = names.map(str::to_owned);
        self.comparison = Some(Against {
            name,
            other,
            found: found.clone(),
        });
        self
    }
}

fn held_out_cells(view: &ViewInfo, h: &FitHeldOut) -> HeldOutCells {
    let codes = |x: &[f64]| x.iter().map(|c| *c as usize).collect();
    match h.kind {
        domain if domain.has_classes() => HeldOutCells::Classes {
            names: view.levels.clone(),
            truth: codes(&h.pairs.truth),
            predicted: codes(&h.pairs.predicted),
            probability: Some(Grid::from_fn(
                h.pairs.truth.len(),
                view.levels.len(),
                |i, c| {
                    let of_cell = h.pairs.probability.get(i);
                    of_cell.and_then(|p| p.get(c)).copied().unwrap_or(f64::NAN)
                },
            )),
        },
        domain if domain.is_label() => HeldOutCells::Binary {
            truth: h.pairs.truth.clone(),
            probability: h.pairs.predicted.clone(),
            labels: view.features.clone(),
            label: h.pairs.feature.clone(),
        },
        domain => HeldOutCells::Numeric {
            truth: h.pairs.truth.clone(),
            predicted: h.pairs.predicted.clone(),
            intervals: Some(Intervals {
                level: h.level,
                lower: h.pairs.lower.clone(),
                upper: h.pairs.upper.clone(),
            }),
            unit: if domain.is_count() { "counts" } else { "" }.to_owned(),
        },
    }
}

fn grid(m: &Mat<f64>) -> Grid {
    Grid::from_fn(m.nrows(), m.ncols(), |i, j| m[(i, j)])
}

/// Which cluster each sample most probably belongs to: something to colour
/// samples by.
fn cluster_column(clusters: &Clusters) -> Metadata {
    let names = clusters.labels().into_iter();
    Metadata {
        name: "cluster".to_owned(),
        values: MetadataValues::Categories(names.map(|t| Some((t + 1).to_string())).collect()),
    }
}

/// How it was fitted, in words.
fn engine(fit: &Fit) -> &'static str {
    if fit.is_sampled() {
        "Gibbs sampling"
    } else {
        "variational Bayes"
    }
}

fn summary(fit: &Fit, explained: Option<&Explained>, clusters: Option<&Clusters>) -> Summary {
    let record = fit.record();
    let data = fit.data().ok();
    Summary {
        model: fit.model_name().to_owned(),
        engine: engine(fit).into(),
        views: fit
            .views()
            .iter()
            .enumerate()
            .map(|(i, v)| {
                let present = data.map_or(fit.samples().len(), |d| {
                    let m = d[i].mask();
                    (0..d[i].n_samples())
                        .filter(|&n| m.count_sample(n, d[i].n_features()) > 0)
                        .count()
                });
                let cells = (present * v.features.len()).max(1) as f64;
                ViewSummary {
                    name: v.name.clone(),
                    samples: present,
                    features: v.features.len(),
                    likelihood: match v.kernel_in_words() {
                        Some(kernel) => format!("{} (kernel {kernel})", v.choices.likelihood),
                        None => v.choices.likelihood.to_string(),
                    },
                    missing: (1.0 - v.observed as f64 / cells).clamp(0.0, 1.0),
                }
            })
            .collect(),
        samples: fit.samples().len(),
        factors_kept: fit.k(),
        factors_started: fit.run_options().factors,
        sweeps: Some(record.sweeps),
        outcome: fit.ending(),
        bound: record.bound,
        seconds: Some(record.seconds),
        seed: Some(fit.run_options().seed),
        version: env!("CARGO_PKG_VERSION").into(),
        extra: (fit.adjusted_for().into_iter())
            .map(|what| ("Adjusted for".to_owned(), what))
            .chain(explained.map(deviances).unwrap_or_default())
            .chain(explained.map(similarities).unwrap_or_default())
            .chain(explained.map(about_zero).unwrap_or_default())
            .chain(explained.map(adjusted).unwrap_or_default())
            .chain(clusters.map(cluster_sizes))
            .chain(seen_through(fit))
            .chain(kernel_relevances(fit))
            .chain(
                fit.counted()
                    .map(|how| ("Views that count more or less than once".to_owned(), how)),
            )
            .chain(fit.polished().map(|how| ("Polished".to_owned(), how)))
            .collect(),
        options: options(fit),
    }
}

/// Views whose variance explained is that of something else than their data, and of what.
fn seen_through(fit: &Fit) -> Vec<(String, String)> {
    let of_scores = |v: &ViewInfo| v.scaling.scores.is_some() || v.choices.likelihood.is_rank();
    let similarity = |v: &ViewInfo| v.choices.likelihood.is_similarity();
    let of = |is: &dyn Fn(&ViewInfo) -> bool, what: &str| {
        let all = fit.views().iter().filter(|v| is(v));
        let names: Vec<&str> = all.map(|v| v.name.as_str()).collect();
        let what = format!("variance explained is that of {what}");
        (!names.is_empty()).then(|| (what, names.join(", ")))
    };
    [
        of(&of_scores, "normal scores"),
        of(
            &similarity,
            "samples' latent rows (that of the similarities is told by itself)",
        ),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Most features whose relevance is told.
const RELEVANCES: usize = 50;

/// What features behind kernels count, where they have weights of their own.
fn kernel_relevances(fit: &Fit) -> Vec<(String, String)> {
    let of = |v: &ViewInfo| {
        let all = v.kernel_relevances()?;
        let told = all.iter().take(RELEVANCES);
        let told: Vec<String> = told.map(|(f, x)| format!("{f} {x:.3}")).collect();
        let what = format!(
            "Relevance of features behind the kernel of {}, 1 on average",
            v.name
        );
        Some((what, told.join(", ")))
    };
    fit.views().iter().filter_map(of).collect()
}

/// Expected number of samples of each cluster.
fn cluster_sizes(clusters: &Clusters) -> (String, String) {
    let sizes: Vec<String> = clusters.sizes.iter().map(|s| format!("{s:.1}")).collect();
    ("Samples of the clusters".to_owned(), sizes.join(", "))
}

/// What covariates and offsets explain, apart from the factors; nothing where a fit has none.
fn adjusted(e: &Explained) -> Vec<(String, String)> {
    let of = |(what, shares): (&str, &[f64])| {
        let each = |(view, share): (&String, &f64)| {
            (*share != 0.0).then(|| {
                let name = format!("{what}, {view}");
                (
                    name,
                    format!("{} of its variance explained", percent(*share)),
                )
            })
        };
        let all = e.views.iter().zip(shares).filter_map(each);
        all.collect::<Vec<_>>()
    };
    let beside = [("Covariates", &e.covariates[..]), ("Offset", &e.offset)];
    (beside.into_iter())
        .chain([("Factors, covariates and offset together", &e.together[..])])
        .flat_map(of)
        .collect()
}

/// Similarities explained of the views that are such.
fn similarities(e: &Explained) -> Vec<(String, String)> {
    let all = e.views.iter().zip(&e.similarities);
    all.filter(|(_, share)| share.is_finite())
        .map(|(v, share)| {
            let what = format!(
                "{} explained, each pair once, about the mean of all, by what factors and intercepts alone expect",
                percent(*share)
            );
            (format!("Similarities of {v}"), what)
        })
        .collect()
}

/// Squares about zero explained of the views that the fit has no means of.
fn about_zero(e: &Explained) -> Vec<(String, String)> {
    let all = e.views.iter().zip(&e.about_zero);
    all.filter(|(_, share)| share.is_finite())
        .map(|(v, share)| {
            let what = format!(
                "{} explained; variance explained is about each feature's mean, of which the fit has none here",
                percent(*share)
            );
            (format!("Squares of {v} about zero"), what)
        })
        .collect()
}

/// Deviance explained of the views that are not numbers.
fn deviances(e: &Explained) -> Vec<(String, String)> {
    (e.views.iter().zip(&e.deviance).zip(&e.infinite))
        .filter_map(|((v, d), infinite)| {
            let told = match infinite {
                Some(feature) => {
                    format!("not known: expected counts of '{feature}' are beyond all numbers")
                }
                None if d.is_nan() => return None,
                None => format!("{} explained", percent(*d)),
            };
            Some((format!("Deviance of {v}"), told))
        })
        .collect()
}

fn coverage(fit: &Fit) -> Option<Coverage> {
    let data = fit.data().ok()?;
    let observed = Grid::from_fn(fit.samples().len(), data.len(), |n, m| {
        let v = &data[m];
        match v.mask() {
            Mask::Complete => 1.0,
            mask => mask.count_sample(n, v.n_features()) as f64 / v.n_features().max(1) as f64,
        }
    });
    Some(Coverage {
        views: fit.views().iter().map(|v| v.name.clone()).collect(),
        observed,
    })
}

fn progress(fit: &Fit) -> Progress {
    let record = fit.record();
    if fit.is_sampled() {
        return Progress::Chains(ChainTraces {
            quantity: "log joint density (nats)".into(),
            chains: record
                .ledgers
                .iter()
                .enumerate()
                .map(|(i, l)| Chain {
                    name: format!("chain {}", i + 1),
                    first_sweep: l.rows.first().map_or(1, |r| r.sweep),
                    values: l.totals().collect(),
                })
                .collect(),
            warm_up: fit.run_options().gibbs.warm_up,
            diagnostics: record.convergence(),
        });
    }
    let ledger = record.ledgers.first();
    let events = record
        .journal
        .entries
        .iter()
        .filter_map(|e| {
            let kind = match e.event {
                FitEvent::Pruned { .. } | FitEvent::Needless { .. } => EventKind::Pruned,
                FitEvent::Rotated { .. } => EventKind::Rotated,
                FitEvent::BoundFell { .. } => EventKind::Other,
                _ => return None,
            };
            Some(Event {
                sweep: e.sweep,
                kind,
            })
        })
        .collect();
    Progress::Bound(BoundTrace {
        first_sweep: ledger.and_then(|l| l.rows.first()).map_or(1, |r| r.sweep),
        values: ledger.map(|l| l.totals().collect()).unwrap_or_default(),
        events,
        terms: ledger
            .and_then(|l| {
                l.rows.last().map(|r| {
                    l.names
                        .iter()
                        .cloned()
                        .zip(r.values.iter().copied())
                        .collect()
                })
            })
            .unwrap_or_default(),
    })
}

fn variance(e: &Explained, names: &[String]) -> VarianceExplained {
    VarianceExplained {
        views: e.views.clone(),
        factors: names.to_vec(),
        marginal: grid(&e.marginal),
        joint: e.total.clone(),
        unique: Some(grid(&e.unique)),
    }
}

/// What factors do in groups of samples, where there are at least two.
fn groups(fit: &Fit, names: &[String]) -> polyview::Result<Option<GroupFactors>> {
    let Some(groups) = fit.groups().filter(|g| g.names.len() > 1) else {
        return Ok(None);
    };
    let within = |group: &String| Ok(variance(&fit.explain_group(group)?, names));
    let variance = match fit.data() {
        Ok(_) => groups
            .names
            .iter()
            .map(within)
            .collect::<polyview::Result<_>>()?,
        Err(_) => Vec::new(),
    };
    Ok(Some(GroupFactors {
        groups: groups.names.clone(),
        factors: names.to_vec(),
        activity: grid(&fit.group_activity()?.relative()),
        variance,
    }))
}
