//! Projections of complete tables, by method.

use polyview_linalg::MatRef;
use polyview_mva::{Cca, Form, Metric, MvaError, Pca, RbCca, Standard, Tuned, cca, pca, rank};

use super::classes::{bagged, of_classes};
use super::data::{Data, View};
use super::map::{MvaMap, TargetMap, ViewMap, rows};
use crate::args::{Cli, MvaArgs, MvaMethod};
use crate::failure::{Failure, Outcome};
use crate::remarks::{note, warning};

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

pub(super) fn of_view(view: &View, error: MvaError) -> Failure {
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
pub(super) fn components(args: &MvaArgs, most: usize, default: usize) -> Outcome<usize> {
    match args.factors {
        None => Ok(default.min(most)),
        Some(asked) if (1..=most).contains(&asked) => Ok(asked),
        Some(asked) => Err(too_many(asked, most)),
    }
}

pub(super) fn standard(args: &MvaArgs, view: &View, x: MatRef<'_, f64>) -> Outcome<Standard> {
    let learnt = if args.raw {
        Standard::centre(x)
    } else {
        Standard::learn(x)
    };
    learnt.map_err(|e| of_view(view, e))
}

/// Says how many features do not vary: they take no part.
pub(super) fn note_constant(cli: &Cli, view: &View, x: MatRef<'_, f64>) {
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

/// Warns of two tables that vary in more directions together than centred samples do: without a penalty correlations of 1
/// tell nothing. `what` says which tables they are.
pub(super) fn warn_perfect(cli: &Cli, what: &str, ranks: [usize; 2], samples: usize) {
    let all = samples - 1;
    let certain = (ranks[0] + ranks[1]).saturating_sub(all);
    if certain > 0 {
        warning(
            cli,
            format!(
                "{what} vary in {} and {} directions, and {samples} samples in {all} at most: without a penalty {} whatever the \
                 data are; give one with --ridge",
                ranks[0],
                ranks[1],
                match certain {
                    1 => "the first correlation is 1".to_owned(),
                    many => format!("the first {many} correlations are 1"),
                }
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

pub(super) fn ridge(args: &MvaArgs) -> Outcome<Option<f64>> {
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
    }
    if ridge == 0.0 {
        let of = |i: usize| rank(tables[i].as_ref()).map_err(|e| of_view(&views[i], e));
        let what = format!("views '{}' and '{}'", views[0].name, views[1].name);
        warn_perfect(cli, &what, [of(0)?, of(1)?], n);
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
/// Says where that was not asked for.
pub(super) fn form(
    cli: &Cli,
    args: &MvaArgs,
    view: &View,
    samples: usize,
) -> Outcome<(Form, Option<f64>)> {
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
    if form == Form::Dual && args.form.is_none() {
        note(
            cli,
            format!(
                "view '{}' has {features} features and {samples} samples: it is solved in samples, with a penalty on their \
                 weights (--form dual; --form primal solves it in features)",
                view.name
            ),
        );
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
    let (form, ridge) = form(cli, args, x, seen.nrows())?;
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
