//! Every verb of a fit, of a model that polyview does not know.

use std::ops::Range;
use std::sync::Arc;

use polyview::prelude::*;
use polyview::{Path, fit};
use polyview_random::{ChaCha8Rng, StreamKey, standard_normal, uniform_open01};
use polyview_report::Report;
use student_t::MarkedFeatures;

const SAMPLES: usize = 60;
const FEATURES: usize = 12;

/// Marks the first four features of view a.
fn marked() -> MarkedFeatures {
    MarkedFeatures {
        markers: (0..4).map(|d| format!("a{d}")).collect(),
        trust: 9.0,
    }
}

fn registry() -> Registry {
    let standard = Registry::standard().clone();
    standard.with_composer(MarkedFeatures::NAME, MarkedFeatures::read)
}

fn normal(rows: usize, columns: usize, rng: &mut ChaCha8Rng) -> Mat<f64> {
    Mat::from_fn(rows, columns, |_, _| standard_normal(rng))
}

fn table(name: &str, samples: &Range<usize>, values: &Mat<f64>) -> Table {
    Table {
        name: name.to_owned(),
        samples: samples.clone().map(|n| format!("s{n}")).collect(),
        features: (0..FEATURES).map(|d| format!("{name}{d}")).collect(),
        values: values.subrows(samples.start, samples.len()).to_owned(),
        levels: Vec::new(),
    }
}

/// Two views of the same two factors, and of the first only `missing` of its cells not.
fn tables(samples: Range<usize>, missing: f64) -> [Table; 2] {
    let mut rng = StreamKey::new(5).rng();
    let z = normal(2 * SAMPLES, 2, &mut rng);
    let x = ["a", "b"].map(|_| {
        let (w, noise) = (
            normal(FEATURES, 2, &mut rng),
            normal(2 * SAMPLES, FEATURES, &mut rng),
        );
        &z * w.transpose() + noise * polyview_linalg::faer::Scale(0.4)
    });
    let mut a = x[0].clone();
    for d in 0..FEATURES {
        for n in 0..2 * SAMPLES {
            if uniform_open01(&mut rng) < missing {
                a[(n, d)] = f64::NAN;
            }
        }
    }
    [table("a", &samples, &a), table("b", &samples, &x[1])]
}

fn dataset(tables: impl IntoIterator<Item = Table>) -> Dataset {
    let builder = Dataset::builder();
    let builder = tables.into_iter().fold(builder, |b, t| b.view(t));
    builder.build().expect("views")
}

fn data(samples: Range<usize>, missing: f64) -> Dataset {
    dataset(tables(samples, missing))
}

fn options(factors: usize) -> RunOptions {
    let mut options = RunOptions {
        factors,
        ..RunOptions::default()
    };
    options.vb.max_sweeps = 60;
    options
}

fn composed(data: Dataset, options: RunOptions) -> Fit {
    let fitting = Fitting::composed(data, Arc::new(marked()), options).expect("a fit");
    fitting.to_the_end().expect("a posterior")
}

#[test]
fn it_computes_what_a_specification_does_where_both_say_the_same() {
    let data = data(0..SAMPLES, 0.1);
    let every = |v: &View| v.features().to_vec();
    let all = MarkedFeatures {
        markers: data.views().iter().flat_map(every).collect(),
        trust: 1.0,
    };
    let mut spec = models::bibfa(3);
    spec.path = Path::Streaming;
    spec.vb.max_sweeps = 20;
    let run = spec.run_options();
    let theirs = Fitting::composed(data.clone(), Arc::new(all), run).expect("a fit");
    let theirs = theirs.to_the_end().expect("a posterior");
    let ours = fit(data, spec).expect("a fit");
    let totals = |fit: &Fit| fit.record().ledgers[0].totals().collect::<Vec<f64>>();
    for (a, b) in totals(&ours).into_iter().zip(totals(&theirs)) {
        assert!((a - b).abs() < 1e-9 * a.abs(), "{a} {b}");
    }
    assert_eq!(ours.model_name(), "bibfa");
    assert_eq!(
        (theirs.model_name(), theirs.spec()),
        (MarkedFeatures::NAME, None)
    );
}

#[test]
fn marks_are_more_than_a_specification_says() {
    let few = 0..8;
    let bound = |trust: f64| {
        let composer = MarkedFeatures { trust, ..marked() };
        let fitting = Fitting::composed(data(few.clone(), 0.0), Arc::new(composer), options(2));
        let fit = fitting.expect("a fit").to_the_end().expect("a posterior");
        fit.record().bound.expect("a bound")
    };
    assert!((bound(1.0) - bound(100.0)).abs() > 0.1);
}

#[test]
fn it_is_saved_and_read_by_who_knows_it() {
    let fitted = composed(data(0..SAMPLES, 0.1), options(3));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pv");
    fitted.save(&path, Overwrite::Refuse).expect("a file");
    let error = Fit::load(&path).err().expect("an unknown composer");
    let unknown = |kind: &ErrorKind| {
        matches!(kind, ErrorKind::UnknownComposer { name, known }
            if name == MarkedFeatures::NAME && known == &["spec"])
    };
    assert!(unknown(error.kind()), "{error}");
    assert!(
        error.to_string().contains("Registry::with_composer"),
        "{error}"
    );

    let read = Fit::load_with(&path, &registry()).expect("a model");
    assert_eq!(read.run_options(), fitted.run_options());
    assert_eq!(read.composer().describe(), fitted.composer().describe());
    assert_eq!(
        read.to_bytes().expect("bytes"),
        fitted.to_bytes().expect("bytes")
    );
    let new = data(SAMPLES..SAMPLES + 20, 0.1);
    let project = |fit: &Fit| {
        let factors = fit.project(&new, &ProjectOptions::default());
        factors.expect("factors").mean
    };
    assert_eq!(project(&fitted), project(&read));
}

#[test]
fn a_reader_that_cannot_use_the_options_says_so() {
    let fitted = composed(data(0..SAMPLES, 0.0), options(2));
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("model.pv");
    fitted.save(&path, Overwrite::Refuse).expect("a file");
    let wary = |_: &Options| MarkedFeatures::read(&Options::parse("trust=2").expect("options"));
    let registry = registry().with_composer(MarkedFeatures::NAME, wary);
    let error = Fit::load_with(&path, &registry).err().expect("no markers");
    assert!(error.to_string().contains("markers"), "{error}");
}

#[test]
fn it_predicts_imputes_explains_and_is_reported() {
    let fitted = composed(data(0..SAMPLES, 0.1), options(3));
    let truth = data(SAMPLES..SAMPLES + 20, 0.0);
    let [_, known] = tables(SAMPLES..SAMPLES + 20, 0.0);
    let predicted = fitted.predict(&dataset([known]), "a").expect("predictions");
    let (lower, upper) = predicted.interval(0.9).expect("intervals");
    let inside = (0..FEATURES)
        .flat_map(|d| (0..20).map(move |n| (n, d)))
        .filter(|&(n, d)| {
            let x = truth.views()[0].value(n, d).expect("complete");
            lower[(n, d)] < x && x < upper[(n, d)]
        })
        .count();
    assert!(inside * 10 > 20 * FEATURES * 8, "{inside}");

    let imputed = fitted.impute("a", 0.9).expect("imputed");
    assert!((0..FEATURES).all(|d| imputed.values.col(d).iter().all(|x| x.is_finite())));
    let explained = fitted.explain().expect("shares");
    assert!(explained.total.iter().all(|r2| *r2 > 0.5));
    assert_eq!(fitted.simulate(7, 1).expect("samples").n_samples(), 7);
    fitted
        .predictive_checks(&CheckOptions::default())
        .expect("checks");
    fitted
        .compare(&composed(data(0..SAMPLES, 0.1), options(4)))
        .expect("a comparison");
    let error = fitted.varimax().err().expect("horseshoe weights");
    assert!(matches!(error.kind(), ErrorKind::Incompatible { view, .. } if view == "b"));
    let hidden = hold_out(&data(0..SAMPLES, 0.0), 0.1, 5).expect("hidden cells");
    let scored = composed(hidden.data, options(3));
    let scores = scored
        .held_out_score(&data(0..SAMPLES, 0.0))
        .expect("scores");
    assert!(scores.iter().all(|s| s.r2 > 0.4));

    let page = polyview_report::render(&Report::from_fit(&fitted).expect("a report"));
    let page = page.expect("a page");
    assert!(page.contains(MarkedFeatures::NAME) && page.contains("trust"));
}

#[test]
fn it_is_sampled() {
    let mut options = options(3);
    options.engine = EngineKind::Gibbs;
    options.gibbs = GibbsOptions {
        chains: 2,
        warm_up: 30,
        sweeps: 30,
        thin: 3,
        ..GibbsOptions::default()
    };
    let fitted = composed(data(0..SAMPLES, 0.1), options);
    assert_eq!(fitted.n_components(), 20);
    let bytes = fitted.to_bytes().expect("bytes");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("draws.pv");
    std::fs::write(&path, bytes).expect("a file");
    let read = Fit::load_with(&path, &registry()).expect("a model");
    let new = data(SAMPLES..SAMPLES + 5, 0.1);
    let factors = read.project(&new, &ProjectOptions::default());
    assert_eq!(factors.expect("factors").mean.nrows(), 5);
    assert!(read.explain().expect("shares").total[0] > 0.5);
}

#[test]
fn it_goes_batch_by_batch_in_memory_and_from_blocks() {
    let mut options = options(2);
    options.engine = EngineKind::Stochastic;
    (options.stochastic.batch, options.stochastic.epochs) = (0.5, 5);
    let data = data(0..SAMPLES, 0.0);
    let memory = composed(data.clone(), options.clone());
    let names = data.samples().to_vec();
    let blocks = Box::new(data.views().to_vec());
    let fitting = Fitting::composed_from_blocks(blocks, names, Arc::new(marked()), options);
    let blocks = fitting.expect("a fit").to_the_end().expect("a posterior");
    for fitted in [memory, blocks] {
        assert_eq!(fitted.factors().expect("factors").mean.nrows(), SAMPLES);
        assert!(fitted.record().bound.expect("a bound").is_finite());
    }
}

#[test]
fn it_goes_on_from_a_checkpoint() {
    let open = |trust: f64| {
        let composer = MarkedFeatures { trust, ..marked() };
        let fitting = Fitting::composed(data(0..SAMPLES, 0.1), Arc::new(composer), options(3));
        fitting.expect("a fit")
    };
    let mut begun = open(9.0);
    for _ in 0..5 {
        begun.step().expect("a sweep");
    }
    let checkpoint = begun.checkpoint().expect("a checkpoint");
    let mut again = open(9.0);
    again.resume(&checkpoint).expect("the same fit");
    let bound = |fitting: Fitting| fitting.to_the_end().expect("a posterior").record().bound;
    assert_eq!(bound(again), bound(begun));
    let error = open(3.0).resume(&checkpoint).expect_err("another trust");
    assert!(
        matches!(error.kind(), ErrorKind::OtherFit { .. }),
        "{error}"
    );
}

/// What a wrapper says of itself in place of what is in it.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// It has one number of factors.
    TwoFactors,
    /// It forgets a view.
    View,
    /// It has weights of one feature too many.
    Weights,
    /// It speaks of one view too few.
    Choices,
}

struct Wrapped(Fault);

impl Composer for Wrapped {
    fn describe(&self) -> (&'static str, Options) {
        ("wrapped", Options::new())
    }
    fn views(&self, data: &[View]) -> polyview::Result<Vec<ViewChoices>> {
        let mut choices = marked().views(data)?;
        if self.0 == Fault::Choices {
            choices.pop();
        }
        Ok(choices)
    }
    fn model(&self, views: Vec<View>, cx: ModelContext<'_>) -> polyview::Result<Model> {
        let k = cx.start.ncols();
        if self.0 == Fault::TwoFactors && k > 2 {
            return Err(ErrorKind::Incompatible {
                view: String::new(),
                what: format!("{k} factors"),
                with: "a model of two".to_owned(),
            }
            .into());
        }
        let columns = cx.weights(FEATURES + 1);
        let mut model = marked().model(views, cx)?;
        match (self.0, model.views.first_mut()) {
            (Fault::View, Some(_)) => drop(model.views.pop()),
            (Fault::Weights, Some(view)) => view.weights.set_moments(columns),
            _ => {}
        }
        Ok(model)
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let open =
        |fault| Fitting::composed(data(0..SAMPLES, 0.0), Arc::new(Wrapped(fault)), options(2));
    for fault in [Fault::View, Fault::Weights, Fault::Choices] {
        let error = open(fault).err().expect("a fault");
        let named = |kind: &ErrorKind| matches!(kind, ErrorKind::Composed { composer, .. } if composer == "wrapped");
        assert!(named(error.kind()), "{error}");
    }
    let strange = MarkedFeatures {
        markers: vec!["c1".to_owned()],
        trust: 2.0,
    };
    let refused = Fitting::composed(data(0..SAMPLES, 0.0), Arc::new(strange), options(2));
    let error = refused.err().expect("no such feature");
    assert!(
        matches!(error.kind(), ErrorKind::Incompatible { .. }),
        "{error}"
    );
    let mut none = options(2);
    none.restarts = 0;
    let refused = Fitting::composed(data(0..SAMPLES, 0.0), Arc::new(marked()), none);
    assert!(matches!(
        refused.err().expect("no start").kind(),
        ErrorKind::Option { .. }
    ));
}

#[test]
fn the_number_of_factors_is_chosen_unless_the_composer_has_one() {
    let which = ChooseKOptions {
        candidates: vec![1, 2],
        repeats: 2,
        restarts: 1,
        ..ChooseKOptions::default()
    };
    let choose = |composer: Arc<dyn Composer>, which: &ChooseKOptions| {
        choose_k_composed(
            data(0..SAMPLES, 0.0),
            composer,
            options(3),
            which,
            &mut |_| {},
        )
    };
    let chosen = choose(Arc::new(marked()), &which).expect("a number");
    assert_eq!(chosen.recommended, 2);
    let three = ChooseKOptions {
        candidates: vec![2, 3],
        ..which
    };
    let error = choose(Arc::new(Wrapped(Fault::TwoFactors)), &three).expect_err("two factors");
    assert!(error.to_string().contains("a model of two"), "{error}");
}
