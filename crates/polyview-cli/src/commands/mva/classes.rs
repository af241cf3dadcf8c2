//! Projections that tell classes apart.

use polyview_linalg::Mat;
use polyview_mva::{
    Balance, COST, Metric, MvaError, RbCca, RbCcaOptions, Representer, Selection, Tuned,
    TuningOptions, balanced_accuracy, class_indicators, classifier, counts, rank,
    squared_correlation, tuned_supervised,
};

use super::data::{Labels, View};
use super::fit::{Fitted, components, form, note_constant, of_view, ridge, standard, warn_perfect};
use super::map::{ClassMap, MvaMap, ViewMap, rows};
use crate::args::{Cli, MvaArgs, MvaMethod, Select};
use crate::failure::{Failure, Outcome};
use crate::output::counted;
use crate::remarks::{note, warning};

/// Seed of bags and folds that nobody gave.
const SEED: u64 = 1;

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
    /// Says how many samples take no part, as nobody knows their class.
    fn note(&self, cli: &Cli) {
        let without = self.labels.of.len() - self.rows.len();
        if without > 0 {
            note(
                cli,
                format!(
                    "{} of {} have no class in column '{}': they take no part in the projection",
                    without,
                    counted(self.labels.of.len(), "sample"),
                    self.labels.name
                ),
            );
        }
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
    let right = balanced_accuracy(&known.of, &said).map_err(|e| known.named(view, e))?;
    Ok((out, right))
}

/// Canonical correlation, or partial least squares, of a view and classes.
pub(super) fn of_classes(
    cli: &Cli,
    args: &MvaArgs,
    method: MvaMethod,
    view: &View,
    labels: &Labels,
) -> Outcome<Fitted> {
    let known = Known::of(labels);
    known.note(cli);
    let metric = match method {
        MvaMethod::Opls => Metric::Identity,
        _ => Metric::Correlation,
    };
    let own = known.values(view);
    note_constant(cli, view, own.as_ref());
    let (form, given) = form(cli, args, view, own.nrows())?;
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
    let x = (standard.apply(own.as_ref())).map_err(|e| known.named(view, e))?;
    if ridge == 0.0 {
        let spanned = rank(x.as_ref()).map_err(|e| known.named(view, e))?;
        let what = format!("view '{}' and the classes of '{}'", view.name, labels.name);
        warn_perfect(cli, &what, [spanned, classes - 1], x.nrows());
    }
    let found = class_indicators(&known.of, classes)
        .and_then(|y| form.solve(x.as_ref(), y.as_ref(), k, metric, ridge))
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

/// Warns where bags are so few that a sign which all of them share says nothing: of independent bags with
/// signs at random it comes with probability $2^{1-B}$.
fn warn_few_bags(cli: &Cli, bags: usize, level: f64) {
    let least = ((1.0 / level).log2().ceil() as usize).saturating_add(1);
    if bags < least {
        warning(
            cli,
            format!(
                "--bags {bags}: so few signs agree by chance, and features pass the test at level {level} that say \
                 nothing; give {least} or more, better some hundreds"
            ),
        );
    }
}

/// Regularised bagged CCA.
pub(super) fn bagged(cli: &Cli, args: &MvaArgs, view: &View, labels: &Labels) -> Outcome<Fitted> {
    let known = Known::of(labels);
    known.note(cli);
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
        ridge: args.bag_ridge.or(standard.ridge),
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
    if select != Select::All {
        warn_few_bags(cli, options.bags, options.level);
    }
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
