//! Projections of complete tables, by method.

use polyview_linalg::{Mat, MatRef};
use polyview_mva::{
    Balance, COST, Cca, Form, Metric, MvaError, Pca, RbCca, RbCcaOptions, Representer, Selection,
    Standard, Tuned, TuningOptions, balanced_accuracy, cca, class_indicators, classifier, counts,
    pca, squared_correlation, tuned_supervised,
};

use super::data::{Data, Labels, View};
use super::map::{ClassMap, MvaMap, TargetMap, ViewMap, rows};
use crate::args::{Cli, MvaArgs, MvaMethod, Select};
use crate::failure::{Failure, Outcome};
use crate::remarks::{note, warning};

/// Seed of bags and folds that nobody gave.
const SEED: u64 = 1;

/// A projection, and what is told of it.
pub struct Fitted {
    pub map: MvaMap,
    /// What `strengths` are: one for each component.
    pub strength: &'static str,
    pub strengths: Vec<f64>,
    /// What the penalty left of them, which was maximised, where that is another number.
    pub penalised: Option<Vec<f64>>,
    /// The penalty that was taken; none of pca.
    pub ridge: Option<f64>,
    pub tuned: Option<Tuned>,
    pub rb_cca: Option<RbCca>,
    /// Balanced accuracy on the samples themselves.
    pub accuracy: Option<f64>,
}

/// The samples of known class.
struct Known<'a> {
    labels: &'a Labels,
    /// Their rows.
    rows: Vec<usize>,
    /// Their classes.
    of: Vec<usize>,
}

impl<'a> Known<'a> {
    fn of(labels: &'a Labels) -> Self {
        let known = labels.of.iter().enumerate();
        let (rows, of) = known.filter_map(|(n, c)| Some((n, (*c)?))).unzip();
        Self { labels, rows, of }
    }
    fn values(&self, view: &View) -> Mat<f64> {
        Mat::from_fn(self.rows.len(), view.features.len(), |i, d| {
            view.values[(self.rows[i], d)]
        })
    }
    /// Says what is wrong by the names of classes.
    fn named(&self, view: &View, error: MvaError) -> Failure {
        match error {
            MvaError::Class {
                class,
                samples,
                least,
            } => Failure::Mva {
                path: self.labels.path.clone(),
                what: format!(
                    "class '{}' of column '{}' has too few samples in the views: {samples}, and {least} are needed; leave the cells of that class \
                     empty, or join it with another",
                    self.labels.names[class], self.labels.name
                ),
            },
            other => of_view(view, other),
        }
    }
}

fn of_view(view: &View, error: MvaError) -> Failure {
    match error {
        MvaError::NoVariance => Failure::Mva {
            path: view.path.clone(),
            what: format!("view '{}': no feature varies over the samples", view.name),
        },
        MvaError::Components { asked, most } => too_many(asked, most),
        out_of_range @ MvaError::OutOfRange { .. } => Failure::Usage(out_of_range.to_string()),
        other => Failure::Mva {
            path: view.path.clone(),
            what: format!("view '{}': {other}", view.name),
        },
    }
}

fn too_many(asked: usize, most: usize) -> Failure {
    Failure::Usage(format!(
        "--factors {asked}: these data have {most} components at most; give 1 to {most}"
    ))
}

/// The number of components: as asked, or ten or what there is.
fn components(args: &MvaArgs, most: usize, default: usize) -> Outcome<usize> {
    match args.factors {
        None => Ok(default.min(most)),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        Some(asked) => Err(too_many(asked, most)),
    }
}

fn standard(args: &MvaArgs, view: &View, x: MatRef<'_, f64>) -> Outcome<Standard> {
    let learnt = if args.raw {
        Standard::centre(x)
    } else {
        Standard::learn(x)
    };
    learnt.map_err(|e| of_view(view, e))
}

/// Says how many features do not vary: they take no part.
fn note_constant(cli: &Cli, view: &View, x: MatRef<'_, f64>) {
    let constant = |d: &usize| x.col(*d).iter().all(|v| *v == x[(0, *d)]);
    let all: Vec<usize> = (0..view.features.len()).filter(constant).collect();
    if let Some(first) = all.first() {
        note(
            cli,
            format!(
                "view '{}': {} of {} features do not vary, first '{}'; they take no part",
                view.name,
                all.len(),
                view.features.len(),
                view.features[*first]
            ),
        );
    }
}

/// Learns the projection that the options ask for.
pub fn learn(cli: &Cli, args: &MvaArgs, method: MvaMethod, data: &Data) -> Outcome<Fitted> {
    let wants = match (method, data.views.len(), data.labels.is_some()) {
        (MvaMethod::Pca, 1, false)
        | (MvaMethod::RbCca | MvaMethod::Cca | MvaMethod::Opls, 1, true)
        | (MvaMethod::Cca | MvaMethod::Opls, 2, false) => None,
        (MvaMethod::Pca, ..) => Some("one --view and no --labels"),
        (MvaMethod::RbCca, ..) => Some("one --view and --labels"),
        (MvaMethod::Cca | MvaMethod::Opls, ..) => Some("two of --view, or one and --labels"),
    };
    if let Some(wants) = wants {
        return Err(Failure::Usage(format!(
            "--method {} takes {wants}; for more views at once fit a model, such as polyview fit --model sshiba",
            method.name()
        )));
    }
    refuse_others(args, method)?;
    match (method, &data.labels) {
        (MvaMethod::Pca, _) => principal(cli, args, &data.views[0]),
        (MvaMethod::RbCca, Some(labels)) => bagged(cli, args, &data.views[0], labels),
        (_, Some(labels)) => of_classes(cli, args, method, &data.views[0], labels),
        (MvaMethod::Cca, None) => canonical(cli, args, &data.views),
        (_, None) => of_view_by_view(cli, args, &data.views),
    }
}

/// Refuses options of other methods, which would have no effect.
fn refuse_others(args: &MvaArgs, method: MvaMethod) -> Outcome<()> {
    let bagged = method == MvaMethod::RbCca;
    let classes = args.labels.is_some();
    let solved = method == MvaMethod::Opls || method == MvaMethod::Cca && classes;
    let of_bags = "belongs to --method rb-cca";
    let of_classes = "belongs to methods with --labels";
    let options = [
        ("--select", args.select.is_some(), bagged, of_bags),
        ("--test-level", args.level.is_some(), bagged, of_bags),
        ("--bags", args.bags.is_some(), bagged, of_bags),
        ("--share", args.share.is_some(), bagged, of_bags),
        ("--bag-ridge", args.bag_ridge.is_some(), bagged, of_bags),
        ("--exact", args.exact, bagged, of_bags),
        ("--folds", args.folds.is_some(), classes, of_classes),
        ("--cost", args.cost.is_some(), classes, of_classes),
        ("--seed", args.seed.is_some(), classes, of_classes),
        ("--unbalanced", args.unbalanced, classes, of_classes),
        (
            "--ridge",
            args.ridge.is_some(),
            method != MvaMethod::Pca,
            "belongs to methods with a penalty, and pca has none",
        ),
        (
            "--form",
            args.form.is_some(),
            solved,
            "belongs to --method opls, and cca with --labels",
        ),
        (
            "--raw",
            args.raw,
            !bagged,
            "belongs to other methods: rb-cca always standardises features",
        ),
        (
            "--relevance",
            args.relevance.is_some(),
            bagged,
            "belongs to --method rb-cca: no other knows how relevant features are",
        ),
    ];
    match options.iter().find(|(_, given, fits, _)| *given && !fits) {
        Some((option, _, _, why)) => Err(Failure::Usage(format!("{option} {why}; leave it out"))),
        None => Ok(()),
    }
}

fn principal(cli: &Cli, args: &MvaArgs, view: &View) -> Outcome<Fitted> {
    let x = view.values.as_ref();
    note_constant(cli, view, x);
    let standard = standard(args, view, x)?;
    let x = standard.apply(x).map_err(|e| of_view(view, e))?;
    let most = view.features.len().min(x.nrows() - 1);
    let k = components(args, most, 10)?;
    let Pca {
        projection, shares, ..
    } = pca(x.as_ref(), k).map_err(|e| of_view(view, e))?;
    let map = ViewMap::new(
        view,
        &standard,
        &projection.directions().to_owned(),
        args.raw,
    );
    Ok(Fitted {
        map: MvaMap::new(MvaMethod::Pca.name(), vec![map]),
        strength: "share of the variance",
        strengths: shares,
        penalised: None,
        ridge: None,
        tuned: None,
        rb_cca: None,
        accuracy: None,
    })
}

fn ridge(args: &MvaArgs) -> Outcome<Option<f64>> {
    match args.ridge {
        Some(ridge) if ridge < 0.0 => Err(Failure::Usage(format!(
            "--ridge {ridge}: a penalty is 0 or larger"
        ))),
        other => Ok(other),
    }
}

fn canonical(cli: &Cli, args: &MvaArgs, views: &[View]) -> Outcome<Fitted> {
    let ridge = ridge(args)?.unwrap_or(0.0);
    let n = views[0].values.nrows();
    let mut standards = Vec::new();
    let mut tables = Vec::new();
    for view in views {
        note_constant(cli, view, view.values.as_ref());
        let standard = standard(args, view, view.values.as_ref())?;
        tables.push(
            standard
                .apply(view.values.as_ref())
                .map_err(|e| of_view(view, e))?,
        );
        standards.push(standard);
        if ridge == 0.0 && view.features.len() >= n - 1 {
            warning(
                cli,
                format!(
                    "view '{}' has {} features and {n} samples: without a penalty any other view correlates perfectly with it; give one with --ridge",
                    view.name,
                    view.features.len()
                ),
            );
        }
    }
    let most = views.iter().map(|v| v.features.len()).min().unwrap_or(0);
    let k = components(args, most.min(n - 1), 10)?;
    let Cca {
        correlations,
        singular_values,
        first,
        second,
    } = cca(tables[0].as_ref(), tables[1].as_ref(), k, ridge).map_err(|e| of_view(&views[0], e))?;
    let of = |i: usize, p: &polyview_mva::Projection| {
        ViewMap::new(
            &views[i],
            &standards[i],
            &p.directions().to_owned(),
            args.raw,
        )
    };
    Ok(Fitted {
        map: MvaMap::new(MvaMethod::Cca.name(), vec![of(0, &first), of(1, &second)]),
        strength: "correlation",
        strengths: correlations,
        penalised: (ridge > 0.0).then_some(singular_values),
        ridge: Some(ridge),
        tuned: None,
        rb_cca: None,
        accuracy: None,
    })
}

/// Where the projection of a view is solved, and the penalty where one is given.
fn form(args: &MvaArgs, view: &View, samples: usize) -> Outcome<(Form, Option<f64>)> {
    let features = view.features.len();
    let form = match args.form.as_deref() {
        Some("primal") => Form::Primal,
        Some(_) => Form::Dual,
        None if features > samples => Form::Dual,
        None => Form::Primal,
    };
    let ridge = ridge(args)?;
    if form == Form::Dual && ridge == Some(0.0) {
        return Err(Failure::Usage(format!(
            "--ridge 0: view '{}' ('{}', {features} features, {samples} samples) is solved in samples, which needs a \
             penalty above 0; give one, or --form primal",
            view.name,
            view.path.display()
        )));
    }
    Ok((form, ridge))
}

/// Partial least squares of a view that another one is predicted from.
fn of_view_by_view(cli: &Cli, args: &MvaArgs, views: &[View]) -> Outcome<Fitted> {
    let [x, y] = [&views[0], &views[1]];
    for view in views {
        note_constant(cli, view, view.values.as_ref());
    }
    let (of_x, of_y) = (
        standard(args, x, x.values.as_ref())?,
        standard(args, y, y.values.as_ref())?,
    );
    let seen = of_x.apply(x.values.as_ref()).map_err(|e| of_view(x, e))?;
    let target = of_y.apply(y.values.as_ref()).map_err(|e| of_view(y, e))?;
    let (form, ridge) = form(args, x, seen.nrows())?;
    let ridge = match (ridge, form) {
        (Some(ridge), _) => ridge,
        (None, Form::Primal) => 0.0,
        (None, Form::Dual) => 1.0,
    };
    let most = seen.ncols().min(target.ncols()).min(seen.nrows() - 1);
    let k = components(args, most, 10)?;
    let found = form
        .solve(seen.as_ref(), target.as_ref(), k, Metric::Identity, ridge)
        .map_err(|e| of_view(x, e))?;
    let map = ViewMap::new(
        x,
        &of_x,
        &found.projection.directions().to_owned(),
        args.raw,
    );
    let mut map = MvaMap::new(MvaMethod::Opls.name(), vec![map]);
    map.target = Some(TargetMap {
        name: y.name.clone(),
        features: y.features.clone(),
        means: of_y.mean().to_vec(),
        scales: of_y.scale().to_vec(),
        loadings: rows(&found.targets),
    });
    Ok(Fitted {
        map,
        strength: "eigenvalue",
        strengths: found.eigenvalues,
        penalised: None,
        ridge: Some(ridge),
        tuned: None,
        rb_cca: None,
        accuracy: None,
    })
}

fn tuning(args: &MvaArgs) -> Outcome<TuningOptions> {
    let standard = TuningOptions::default();
    let folds = args.folds.unwrap_or(standard.folds);
    if folds < 2 {
        return Err(Failure::Usage(
            "--folds 1: nothing would be left out; give 2 or more".to_owned(),
        ));
    }
    Ok(TuningOptions {
        folds,
        cost: cost(args)?,
        seed: args.seed.unwrap_or(SEED),
        ..standard
    })
}

/// The cost of an error of the classifier.
fn cost(args: &MvaArgs) -> Outcome<f64> {
    match args.cost {
        Some(cost) if cost <= 0.0 => Err(Failure::Usage(format!(
            "--cost {cost}: the cost of an error is above 0"
        ))),
        other => Ok(other.unwrap_or(COST)),
    }
}

/// Says of folds that there are fewer than asked for.
fn note_folds(cli: &Cli, asked: usize, tuned: &Tuned) {
    if tuned.folds < asked {
        note(
            cli,
            format!(
                "{} folds were made: the smallest class has no more samples",
                tuned.folds
            ),
        );
    }
}

/// The map of one view with its classifier, and how it does on the samples themselves.
fn with_classes(
    args: &MvaArgs,
    method: MvaMethod,
    view: &View,
    map: ViewMap,
    known: &Known<'_>,
) -> Outcome<(MvaMap, f64)> {
    let labels = known.labels;
    let all = map.scores(view)?;
    let seen = Mat::from_fn(known.rows.len(), all.ncols(), |i, k| {
        all[(known.rows[i], k)]
    });
    let machine = classifier(seen.as_ref(), &known.of, cost(args)?, !args.unbalanced)
        .map_err(|e| known.named(view, e))?;
    let said = machine
        .predict(seen.as_ref())
        .map_err(|e| known.named(view, e.into()))?;
    let mut out = MvaMap::new(method.name(), vec![map]);
    out.classes = Some(ClassMap {
        name: labels.name.clone(),
        names: labels.names.clone(),
        coefficients: rows(&machine.coefficients().to_owned()),
    });
    Ok((out, balanced_accuracy(&known.of, &said)))
}

/// Canonical correlation, or partial least squares, of a view and classes.
fn of_classes(
    cli: &Cli,
    args: &MvaArgs,
    method: MvaMethod,
    view: &View,
    labels: &Labels,
) -> Outcome<Fitted> {
    let known = Known::of(labels);
    let metric = match method {
        MvaMethod::Opls => Metric::Identity,
        _ => Metric::Correlation,
    };
    let own = known.values(view);
    note_constant(cli, view, own.as_ref());
    let (form, given) = form(args, view, own.nrows())?;
    let classes = labels.names.len();
    let most = (classes - 1).min(own.ncols()).min(own.nrows() - 1);
    let k = components(args, most, most)?;
    let choices = tuning(args)?;
    let (ridge, tuned) = if let Some(ridge) = given {
        (ridge, None)
    } else {
        let tuned = tuned_supervised(
            own.as_ref(),
            &known.of,
            (form, metric, k),
            !args.raw,
            !args.unbalanced,
            &choices,
        )
        .map_err(|e| known.named(view, e))?;
        note_folds(cli, choices.folds, &tuned);
        (tuned.penalty(), Some(tuned))
    };
    let standard = standard(args, view, own.as_ref())?;
    let found = standard
        .apply(own.as_ref())
        .and_then(|x| {
            let y = class_indicators(&known.of, classes)?;
            form.solve(x.as_ref(), y.as_ref(), k, metric, ridge)
        })
        .map_err(|e| known.named(view, e))?;
    let map = ViewMap::new(
        view,
        &standard,
        &found.projection.directions().to_owned(),
        args.raw,
    );
    let scores = map.scores(view)?;
    let (map, accuracy) = with_classes(args, method, view, map, &known)?;
    let (strength, strengths, penalised) = if method == MvaMethod::Opls {
        ("eigenvalue", found.eigenvalues, None)
    } else {
        let own = (0..scores.ncols()).map(|k| {
            let own: Vec<f64> = known.rows.iter().map(|n| scores[(*n, k)]).collect();
            squared_correlation(&own, &known.of).map_err(|e| known.named(view, e))
        });
        let penalised = (ridge > 0.0).then_some(found.eigenvalues);
        (
            "squared correlation",
            own.collect::<Outcome<_>>()?,
            penalised,
        )
    };
    Ok(Fitted {
        map,
        strength,
        strengths,
        penalised,
        ridge: Some(ridge),
        tuned,
        rb_cca: None,
        accuracy: Some(accuracy),
    })
}

/// Regularised bagged CCA.
fn bagged(cli: &Cli, args: &MvaArgs, view: &View, labels: &Labels) -> Outcome<Fitted> {
    let known = Known::of(labels);
    let own = known.values(view);
    note_constant(cli, view, own.as_ref());
    let most = labels.names.len() - 1;
    let k = components(args, most, most)?;
    let standard = RbCcaOptions::default();
    let select = args.select.unwrap_or(Select::Test);
    let mut options = RbCcaOptions {
        bags: args.bags.unwrap_or(standard.bags),
        share: args.share.unwrap_or(standard.share),
        level: args.level.unwrap_or(standard.level),
        ridge: args.bag_ridge.unwrap_or(standard.ridge),
        selection: match select {
            Select::All => Selection::All,
            Select::Test | Select::Cv => Selection::Test,
        },
        components: Some(k),
        balance: if args.unbalanced {
            Balance::Samples
        } else {
            Balance::Classes
        },
        representer: if args.exact {
            Representer::Exact
        } else {
            Representer::Rows
        },
        seed: args.seed.unwrap_or(SEED),
        ..standard
    };
    let mut choices = tuning(args)?;
    if select == Select::Cv {
        choices.counts = counts(view.features.len());
    }
    let given = ridge(args)?;
    if let Some(ridge) = given {
        options.penalty = ridge;
        choices.penalties = vec![ridge];
    }
    let (fit, tuned) = if given.is_some() && choices.counts.is_empty() {
        let fit = RbCca::fit(own.as_ref(), &known.of, &options);
        (fit.map_err(|e| known.named(view, e))?, None)
    } else {
        let (fit, tuned) = RbCca::tuned(own.as_ref(), &known.of, &options, &choices)
            .map_err(|e| known.named(view, e))?;
        note_folds(cli, choices.folds, &tuned);
        options.penalty = tuned.penalty();
        (fit, Some(tuned))
    };
    let map = ViewMap::new(view, fit.standard(), &fit.directions(), false);
    let (map, accuracy) = with_classes(args, MvaMethod::RbCca, view, map, &known)?;
    Ok(Fitted {
        map,
        strength: "eigenvalue",
        penalised: None,
        strengths: fit.guided().eigenvalues.clone(),
        ridge: Some(options.penalty),
        tuned,
        rb_cca: Some(fit),
        accuracy: Some(accuracy),
    })
}
