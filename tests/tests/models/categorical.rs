//! Categorical views in whole models (spec/sshiba 1.5, 2.3, 4.4).

use polyview_core::{
    Context, DataError, Dataset, GammaPrior, Journal, RowMoments, Schedule, State, Stateful, Step,
    Table, UnknownClass, View, ViewTerm,
};
use polyview_infer::{
    GibbsChain, Model, PruneRule, Rotate, Vb, VbOptions, VbRun, ViewPart, run_steps, update_factors,
};
use polyview_likelihoods::{
    CategoricalProbit, CategoricalProbitOptions, Gaussian, GaussianOptions, MissingData, NoiseBy,
    ParameterUncertainty,
};
use polyview_linalg::{Mat, Threads};
use polyview_priors::{Ard, Fixed, FullRows};
use polyview_random::StreamKey;
use polyview_tests::categorical::{draw_codes, part, random_view, view_of_codes};
use polyview_tests::{assemble, normal};

const K: usize = 2;

/// A real view and a class that depend on the same two factors.
struct Study {
    real: View,
    codes: Vec<f64>,
    classes: usize,
}

fn study(samples: usize, features: usize, classes: usize, seed: u64) -> Study {
    let mut rng = StreamKey::new(seed).rng();
    let z = normal(samples, K, &mut rng);
    let w = normal(features, K, &mut rng);
    let x = &z * w.transpose() + 0.5 * normal(samples, features, &mut rng);
    let names = (0..features).map(|d| format!("f{d}")).collect();
    let v = 2.0 * normal(classes, K, &mut rng);
    let bias = vec![0.0; classes];
    Study {
        real: View::from_values("real", names, x).expect("finite"),
        codes: draw_codes(&z, &v, &bias, 0.0, seed),
        classes,
    }
}

impl Study {
    fn view(&self, hidden: impl Fn(usize) -> bool) -> View {
        let codes: Vec<f64> = self
            .codes
            .iter()
            .enumerate()
            .map(|(n, &c)| if hidden(n) { f64::NAN } else { c })
            .collect();
        view_of_codes("classes", &codes, self.classes)
    }
    fn parts(&self, view: &View, options: CategoricalProbitOptions) -> Vec<ViewPart> {
        let d = self.real.n_features();
        let gaussian = GaussianOptions {
            noise: NoiseBy::View,
            prior: GammaPrior::new(1.0, 1.0),
            ..GaussianOptions::default()
        };
        vec![
            ViewPart {
                name: "real".into(),
                term: Box::new(Gaussian::new(self.real.clone(), gaussian)),
                weights: Box::new(FullRows::new(
                    "weights/real",
                    Ard::new(GammaPrior::new(1.0, 1.0), K),
                    RowMoments::isotropic(Mat::zeros(d, K), 1.0, 0),
                )),
                bias: polyview_core::Bias::gaussian(d, 0, 1.0),
            },
            part(view, options, K, Some(1.0)),
        ]
    }
    fn model(&self, view: &View, options: CategoricalProbitOptions) -> Model {
        let start = normal(self.codes.len(), K, &mut StreamKey::new(9).rng());
        assemble(self.parts(view, options), start)
    }
}

fn sweeps(model: Model, count: usize, rotate: Rotate) -> (VbRun, f64) {
    let options = VbOptions {
        max_sweeps: count,
        tolerance: 1e-300,
        prune: PruneRule::never(),
        rotate,
        ..VbOptions::default()
    };
    let mut run = VbRun::new(model, options, StreamKey::new(1), Journal::default());
    let mut bound = f64::NEG_INFINITY;
    for _ in 0..count {
        bound = run.sweep().expect("a sweep").bound;
    }
    (run, bound)
}

/// Class probabilities of all samples, samples × classes.
fn probabilities(model: &Model) -> Mat<f64> {
    let v = &model.views[1];
    let p = polyview_core::Predictor {
        factors: model.factors.moments(),
        weights: v.weights.moments(),
        bias: &v.bias,
    };
    let shape = v.term.shape();
    let block = polyview_core::Block::new(0..shape.samples, 0..1);
    v.term.law(&p, &block).means()
}

fn plain() -> CategoricalProbitOptions {
    CategoricalProbitOptions::default()
}

#[test]
fn hidden_classes_are_predicted() {
    let s = study(500, 12, 4, 3);
    let hidden = |n: usize| n >= 300;
    let (run, _) = sweeps(s.model(&s.view(hidden), plain()), 60, Rotate::InLoop);
    let p = probabilities(run.model());
    let (mut right, mut loss) = (0.0, 0.0);
    for n in 300..500 {
        let best = (0..4).fold(0, |b, c| if p[(n, c)] > p[(n, b)] { c } else { b });
        right += f64::from(u8::from(best as f64 == s.codes[n]));
        loss -= p[(n, s.codes[n] as usize)].ln();
        let sum: f64 = (0..4).map(|c| p[(n, c)]).sum();
        assert!((sum - 1.0).abs() < 1e-14);
    }
    // a constant guess is right for about 0.4 of them and loses 1.3 nats
    assert!(right / 200.0 > 0.7, "{}", right / 200.0);
    assert!(loss / 200.0 < 0.75, "{}", loss / 200.0);
}

/// With factors that the real view pins down. Where they are uncertain the
/// mean-field bound punishes their variance at the full precision 1 of the
/// scores, and variational weights of classes come out too small.
#[test]
fn variational_bayes_agrees_with_gibbs() {
    let s = study(300, 60, 3, 5);
    let view = s.view(|n| n >= 250);
    let (run, _) = sweeps(s.model(&view, plain()), 60, Rotate::InLoop);
    let vb = probabilities(run.model());
    let (model, _) = run.into_parts();
    let mut chain = GibbsChain::new(model, StreamKey::new(2));
    let mut mean: Mat<f64> = Mat::zeros(300, 3);
    let (burn, draws) = (100, 400);
    for i in 0..burn + draws {
        chain.advance().expect("a sweep");
        if i >= burn {
            mean += probabilities(chain.model());
        }
    }
    let mut gap: f64 = 0.0;
    let mut total = 0.0;
    for c in 0..3 {
        for n in 0..300 {
            let d = (vb[(n, c)] - mean[(n, c)] / f64::from(draws)).abs();
            gap = gap.max(d);
            total += d / 900.0;
        }
    }
    assert!(total < 0.03 && gap < 0.15, "{total} {gap}");
}

#[test]
fn a_missing_class_is_an_absent_row() {
    let s = study(40, 5, 3, 7);
    let (_, plain_bound) = sweeps(s.model(&s.view(|_| false), plain()), 20, Rotate::Off);
    // the same study, and samples of which nothing is known
    let longer = |v: &View| {
        let x = v.to_values_with_nan();
        let y = Mat::from_fn(
            43,
            x.ncols(),
            |n, d| if n < 40 { x[(n, d)] } else { f64::NAN },
        );
        View::from_values(v.name(), v.features().to_vec(), y).expect("finite")
    };
    let mut padded = study(40, 5, 3, 7);
    padded.real = longer(&s.real);
    padded.codes.extend([f64::NAN; 3]);
    let z = normal(40, K, &mut StreamKey::new(9).rng());
    let start = Mat::from_fn(43, K, |n, k| if n < 40 { z[(n, k)] } else { 0.0 });
    let model = assemble(padded.parts(&padded.view(|_| false), plain()), start);
    let (_, bound) = sweeps(model, 20, Rotate::Off);
    assert!(
        (plain_bound - bound).abs() < 1e-8 * bound.abs(),
        "{plain_bound} {bound}"
    );
}

#[test]
fn marginal_equals_impute_on_complete_data_and_is_above_it_elsewhere() {
    let s = study(60, 5, 4, 8);
    let imputing = CategoricalProbitOptions {
        missing: MissingData::Impute,
        ..plain()
    };
    let of = |view: &View, options| sweeps(s.model(view, options), 25, Rotate::InLoop).1;
    let complete = s.view(|_| false);
    assert_eq!(
        of(&complete, plain()).to_bits(),
        of(&complete, imputing).to_bits()
    );
    let holed = s.view(|n| n % 3 == 2);
    assert!(of(&holed, plain()) > of(&holed, imputing));
}

#[test]
fn projecting_a_training_row_is_its_posterior() {
    let s = study(80, 4, 3, 9);
    let (run, _) = sweeps(s.model(&s.view(|n| n % 5 == 4), plain()), 400, Rotate::Off);
    let trained = run.model();
    // new samples: every other one, classes by name in another order
    let pick: Vec<usize> = (0..80).step_by(2).collect();
    let real = s.real.to_values_with_nan();
    let real = View::from_values(
        "real",
        s.real.features().to_vec(),
        Mat::from_fn(pick.len(), 4, |n, d| real[(pick[n], d)]),
    )
    .expect("finite");
    let codes: Vec<f64> = pick
        .iter()
        .map(|&n| {
            if n % 5 == 4 {
                f64::NAN
            } else {
                2.0 - s.codes[n]
            }
        })
        .collect();
    let names = ["class2", "class1", "class0"].map(String::from).to_vec();
    let classes = View::from_values("classes", vec!["classes".into()], column(&codes))
        .and_then(|v| v.with_levels(names))
        .expect("codes");
    let parts: Vec<ViewPart> = trained
        .views
        .iter()
        .zip([real, classes])
        .map(|(v, view)| ViewPart {
            name: v.name.clone(),
            term: v.term.rebind(&view).expect("the same columns"),
            weights: Box::new(FullRows::new(
                "w",
                Fixed::standard_normal(K),
                v.weights.moments().clone(),
            )),
            bias: v.bias.clone(),
        })
        .collect();
    let factors = FullRows::new(
        "factors",
        Fixed::standard_normal(K),
        RowMoments::isotropic(Mat::zeros(pick.len(), K), 1e-2, 0),
    );
    let mut model = Model::new(Box::new(factors), parts, Schedule::standard(2));
    let mut journal = Journal::default();
    let mut cx = Context {
        key: StreamKey::new(1),
        sweep: 0,
        journal: &mut journal,
    };
    for _ in 0..300 {
        run_steps(&Vb::default(), &[vec![Step::Local(1)]], &mut model, &mut cx).expect("locals");
        update_factors(&Vb::default(), &mut model, &mut cx).expect("factors");
    }
    let (z, all) = (
        model.factors.moments().mean(),
        trained.factors.moments().mean(),
    );
    for (i, &n) in pick.iter().enumerate() {
        for k in 0..K {
            let gap = (z[(i, k)] - all[(n, k)]).abs();
            assert!(gap < 2e-5, "sample {n}: {} {}", z[(i, k)], all[(n, k)]);
        }
    }
}

fn column(codes: &[f64]) -> Mat<f64> {
    Mat::from_fn(codes.len(), 1, |n, _| codes[n])
}

#[test]
fn uncertain_scores_temper_probabilities() {
    let s = study(60, 3, 3, 10);
    let of = |prediction| {
        let options = CategoricalProbitOptions {
            prediction,
            ..plain()
        };
        let (run, _) = sweeps(s.model(&s.view(|n| n > 40), options), 30, Rotate::InLoop);
        let p = probabilities(run.model());
        (41..60)
            .map(|n| (0..3).map(|c| p[(n, c)]).fold(0.0, f64::max))
            .sum::<f64>()
    };
    assert!(of(ParameterUncertainty::Posterior) < of(ParameterUncertainty::PlugIn));
}

#[test]
fn many_classes() {
    let view = random_view(700, 300, 0.2, 4);
    let start = normal(700, 3, &mut StreamKey::new(4).rng());
    let model = assemble(vec![part(&view, plain(), 3, Some(1.0))], start);
    let mut last = f64::NEG_INFINITY;
    let (mut run, _) = sweeps(model, 1, Rotate::InLoop);
    for _ in 0..3 {
        let bound = run.sweep().expect("a sweep").bound;
        assert!(bound.is_finite() && bound >= last - 1e-9 * bound.abs());
        last = bound;
    }
}

#[test]
fn bits_do_not_depend_on_threads_and_survive_a_state() {
    let s = study(600, 6, 5, 11);
    let view = s.view(|n| n % 7 == 0);
    let states: Vec<State> = [1, 2, 3]
        .into_iter()
        .map(|t| {
            Threads::new(t).expect("a pool").install(|| {
                let (run, _) = sweeps(s.model(&view, plain()), 4, Rotate::InLoop);
                let (model, _) = run.into_parts();
                let mut chain = GibbsChain::new(model, StreamKey::new(3));
                for _ in 0..3 {
                    chain.advance().expect("a sweep");
                }
                let mut state = State::new();
                chain.model().save("", &mut state);
                state
            })
        })
        .collect();
    assert!(states.iter().all(|s| *s == states[0]));
    let mut model = s.model(&view, plain());
    model.load("", &states[0].reader()).expect("its own state");
    let mut again = State::new();
    model.save("", &mut again);
    assert_eq!(again, states[0]);
    // a term without samples takes the parameters alone; another number of
    // samples does not fit
    let rows =
        |n: usize| View::from_values("classes", vec!["c".into()], column(&vec![f64::NAN; n]));
    for (samples, fits) in [(0, true), (5, false)] {
        let view = rows(samples)
            .and_then(|v| v.with_levels((0..5).map(|c| format!("class{c}")).collect()))
            .expect("a view");
        let mut term = CategoricalProbit::new(&view, plain()).expect("nothing to object to");
        let loaded = term.load("views/classes/term", &states[0].reader());
        assert_eq!(loaded.is_ok(), fits);
    }
}

fn levelled(codes: &[f64], levels: &[&str]) -> Result<View, DataError> {
    View::from_values("diet", vec!["diet".into()], column(codes))?
        .with_levels(levels.iter().map(|l| (*l).to_owned()).collect())
}

#[test]
fn class_names_travel_by_name() {
    let trained = levelled(&[0.0, 1.0, 2.0], &["fish", "coconut", "sun"]).expect("codes");
    let new = levelled(&[1.0, 0.0, f64::NAN], &["sun", "fish"]).expect("codes");
    let matched = new
        .relevel(trained.levels(), UnknownClass::Error)
        .expect("known classes");
    assert_eq!(matched.view.classes(), [Some(0), Some(2), None]);
    assert_eq!(matched.view.levels(), trained.levels());
    assert!(matched.unknown.is_empty());
    let strange = levelled(&[0.0, 1.0, 0.0], &["lin", "fish"]).expect("codes");
    assert_eq!(
        strange.relevel(trained.levels(), UnknownClass::Error),
        Err(DataError::UnknownClass {
            view: "diet".into(),
            class: "lin".into(),
            samples: 2,
        })
    );
    let missing = strange
        .relevel(trained.levels(), UnknownClass::Missing)
        .expect("allowed");
    assert_eq!(missing.view.classes(), [None, Some(0), None]);
    assert_eq!(missing.unknown, [("lin".to_owned(), 2)]);
    // a class that no sample has needs no match
    let unused = levelled(&[1.0], &["lin", "fish"]).expect("codes");
    assert!(
        unused
            .relevel(trained.levels(), UnknownClass::Error)
            .is_ok()
    );
    let term = CategoricalProbit::new(&trained, plain()).expect("three classes");
    assert!(term.rebind(&new).is_ok());
    assert!(matches!(
        term.rebind(&strange).map(|_| ()),
        Err(DataError::UnknownClass { .. })
    ));
    let numbers = View::from_values("diet", vec!["diet".into()], column(&[1.0])).expect("finite");
    assert!(matches!(
        term.rebind(&numbers).map(|_| ()),
        Err(DataError::NotCategorical { .. })
    ));
}

#[test]
fn bad_classes_are_refused() {
    let of = |codes: &[f64], levels: &[&str]| levelled(codes, levels).expect_err("bad");
    assert!(matches!(
        of(&[0.5], &["a", "b"]),
        DataError::NotACode { sample: 0, .. }
    ));
    assert!(matches!(
        of(&[0.0, 2.0], &["a", "b"]),
        DataError::CodeOutOfRange { sample: 1, .. }
    ));
    assert!(matches!(
        of(&[-1.0], &["a", "b"]),
        DataError::CodeOutOfRange { .. }
    ));
    assert!(matches!(
        of(&[0.0], &["a", "a"]),
        DataError::DuplicateClass { .. }
    ));
    let one = levelled(&[1.0, f64::NAN, 1.0], &["a", "b"]).expect("codes");
    assert_eq!(
        CategoricalProbit::new(&one, plain()).map(|_| ()),
        Err(DataError::OneClass {
            view: "diet".into(),
            class: "b".into(),
        })
    );
    let two = Mat::from_fn(2, 2, |_, _| 0.0);
    let two = View::from_values("diet", vec!["x".into(), "y".into()], two).expect("finite");
    assert!(matches!(
        two.with_levels(vec!["a".into()]),
        Err(DataError::LengthMismatch { .. })
    ));
}

#[test]
fn joins_and_holds_carry_class_names() {
    let table = |codes: &[f64]| Table {
        name: "diet".into(),
        samples: ["p", "q", "r"].map(String::from).to_vec(),
        features: vec!["diet".into()],
        values: column(codes),
        levels: vec!["fish".into(), "sun".into()],
    };
    let other = Table {
        name: "x".into(),
        samples: ["r", "p"].map(String::from).to_vec(),
        features: vec!["a".into()],
        values: column(&[1.0, 2.0]),
        levels: Vec::new(),
    };
    let d = Dataset::builder()
        .view(other)
        .view(table(&[0.0, 1.0, f64::NAN]))
        .build()
        .expect("a data set");
    let v = d.view("diet").expect("the view");
    assert_eq!(v.levels(), ["fish", "sun"]);
    assert_eq!(v.classes(), [None, Some(0), Some(1)]);
    let held = v.hiding(|n, _| n == 1);
    assert_eq!((held.levels(), held.classes()[1]), (v.levels(), None));
    let scaling = polyview_core::Scaling::learn(
        v,
        polyview_core::Centring::Feature,
        polyview_core::FeatureScaling::Feature,
    );
    assert_eq!(scaling.apply(v.clone()), *v);
    assert!(matches!(
        Dataset::builder().view(table(&[0.0, 1.0, 7.0])).build(),
        Err(DataError::CodeOutOfRange { sample: 2, .. })
    ));
}
