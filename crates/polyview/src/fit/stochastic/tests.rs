use std::ops::Range;

use polyview_core::{BlockSource, Dataset, SourceError, Table, View};
use polyview_linalg::Mat;
use polyview_random::{StreamKey, standard_normal, uniform_open01};

use crate::{
    EngineKind, ErrorKind, Fit, FitRecord, Fitting, GroupChoices, Likelihood, ModelSpec, Outcome,
    ProjectOptions, models,
};

const N: usize = 600;

/// Two views of three factors: numbers with holes, and zeros and ones.
fn tables(seed: u64) -> Vec<Table> {
    let key = StreamKey::new(seed);
    let mut rng = key.rng();
    let z = Mat::from_fn(N, 3, |_, _| standard_normal(&mut rng));
    let mut table = |name: &str, columns: usize, binary: bool| {
        let w = Mat::from_fn(columns, 3, |_, _| standard_normal(&mut rng));
        let values = Mat::from_fn(N, columns, |n, d| {
            let eta: f64 = (0..3).map(|k| z[(n, k)] * w[(d, k)]).sum();
            let x = 5.0 + 3.0 * (eta + 0.5 * standard_normal(&mut rng));
            if binary {
                f64::from(u8::from(x > 5.0))
            } else if uniform_open01(&mut rng) < 0.1 {
                f64::NAN
            } else {
                x
            }
        });
        Table {
            name: name.to_owned(),
            samples: (0..N).map(|n| format!("s{n}")).collect(),
            features: (0..columns).map(|d| format!("{name}{d}")).collect(),
            values,
            levels: Vec::new(),
        }
    };
    vec![table("a", 12, false), table("b", 8, true)]
}

fn dataset(tables: &[Table]) -> Dataset {
    let builder = tables
        .iter()
        .fold(Dataset::builder(), |b, t| b.view(t.clone()));
    builder.build().expect("data")
}

fn blocks(tables: &[Table]) -> Box<dyn BlockSource> {
    let views: Vec<View> = tables
        .iter()
        .map(|t| View::from_values(&t.name, t.features.clone(), t.values.clone()).expect("finite"))
        .collect();
    Box::new(views)
}

fn names() -> Vec<String> {
    (0..N).map(|n| format!("s{n}")).collect()
}

fn spec() -> ModelSpec {
    let mut spec = models::sshiba(5).with_likelihood("b", "bernoulli");
    spec.engine = EngineKind::Stochastic;
    (spec.stochastic.batch, spec.stochastic.epochs) = (0.1, 8);
    spec
}

fn end(mut fitting: Fitting) -> Fit {
    while !fitting.step().expect("an epoch").done {}
    fitting.finish().expect("a fit")
}

fn kind(result: crate::Result<Fitting>) -> ErrorKind {
    result.err().expect("an error").kind().clone()
}

#[test]
fn data_in_memory_and_data_in_blocks_make_one_fit() {
    let tables = tables(1);
    let memory = end(Fitting::new(dataset(&tables), spec()).expect("a fit"));
    let parts = end(Fitting::from_blocks(blocks(&tables), names(), spec()).expect("a fit"));
    assert!(memory.data().is_ok() && parts.data().is_err());
    let (a, b) = (
        memory.factors().expect("factors"),
        parts.factors().expect("factors"),
    );
    for n in 0..N {
        for k in 0..memory.k() {
            assert!((a.mean[(n, k)] - b.mean[(n, k)]).abs() < 1e-9);
            assert!((a.sd[(n, k)] - b.sd[(n, k)]).abs() < 1e-9);
        }
    }
    let ledger = |r: &FitRecord| r.ledgers[0].rows.len();
    assert_eq!(ledger(memory.record()), ledger(parts.record()));
}

#[test]
fn the_fit_is_a_fit_like_any_other() {
    let tables = tables(2);
    let data = dataset(&tables);
    let fit = end(Fitting::from_blocks(blocks(&tables), names(), spec()).expect("a fit"));
    let file = fit.to_bytes().expect("a file");
    let again = Fit::from_bytes(&file).expect("a fit");
    assert_eq!(again.spec(), fit.spec());
    // projecting the training rows finds their factors again
    let projected = again
        .project(&data, &ProjectOptions::default())
        .expect("factors");
    let own = fit.factors().expect("factors");
    for n in 0..N {
        for k in 0..fit.k() {
            let gap = (projected.mean[(n, k)] - own.mean[(n, k)]).abs();
            assert!(gap < 1e-4, "{gap}");
        }
    }
    // and predictions are those of the batch fit
    let batch = {
        // by the same bound
        let bound = "bernoulli{form=bound}".parse::<Likelihood>().unwrap();
        let mut spec = spec().with_likelihood("b", bound);
        spec.engine = EngineKind::Vb;
        crate::fit(data.clone(), spec).expect("a fit")
    };
    let predict = |fit: &Fit| {
        let p = fit.predict(&data, "b").expect("a prediction");
        let truth = &tables[1].values;
        let loss: f64 = (0..N)
            .flat_map(|n| (0..8).map(move |d| (n, d)))
            .map(|(n, d)| {
                let p = p.mean[(n, d)];
                -(if truth[(n, d)] > 0.5 { p } else { 1.0 - p }).ln()
            })
            .sum();
        loss / (8 * N) as f64
    };
    let (by_batch, by_parts) = (predict(&batch), predict(&fit));
    assert!(by_parts < 1.01 * by_batch, "{by_parts} against {by_batch}");
}

#[test]
fn what_the_engine_cannot_do_is_refused() {
    let tables = tables(3);
    let open = |spec: ModelSpec| kind(Fitting::from_blocks(blocks(&tables), names(), spec));
    let with = |change: fn(&mut ModelSpec)| {
        let mut spec = spec();
        change(&mut spec);
        open(spec)
    };
    for change in [
        (|s| s.engine = EngineKind::Vb) as fn(&mut ModelSpec),
        |s| s.engine = EngineKind::Gibbs,
        |s| s.restarts = 2,
        |s| s.vb.relaxation = 1.5,
        |s| s.missing = polyview_likelihoods::MissingData::Impute,
        |s| s.factor_prior = "ard".into(),
        |s| s.path = crate::Path::CompressSamples,
        |s| *s = s.clone().with_likelihood("b", "negative-binomial"),
        |s| *s = s.clone().with_likelihood("b", "poisson-log-normal"),
        |s| *s = s.clone().with_likelihood("b", "categorical"),
    ] {
        let found = with(change);
        assert!(matches!(found, ErrorKind::Incompatible { .. }), "{found:?}");
    }
    for batch in [0.0, -0.5, f64::NAN, 1.5, (N + 1) as f64] {
        let mut spec = spec();
        spec.stochastic.batch = batch;
        assert!(matches!(
            open(spec),
            ErrorKind::Option {
                option: "batch",
                ..
            }
        ));
    }
    let found = with(|s| s.stochastic.epochs = 0);
    assert!(matches!(found, ErrorKind::Option { .. }), "{found:?}");
    // groups with parameters of their own
    let of = (0..N).map(|n| (format!("s{n}"), format!("g{}", n % 2)));
    let data = tables
        .iter()
        .fold(Dataset::builder(), |b, t| b.view(t.clone()))
        .groups(of.collect())
        .build()
        .expect("data");
    let mut own = spec();
    own.groups = GroupChoices {
        noise: true,
        intercepts: false,
    };
    let found = kind(Fitting::new(data, own));
    assert!(matches!(found, ErrorKind::Incompatible { .. }), "{found:?}");
    // a number of samples is a batch as well; a checkpoint there is not
    let mut count = spec();
    count.stochastic.batch = 60.0;
    let fitting = Fitting::from_blocks(blocks(&tables), names(), count).expect("a fit");
    let refused = fitting.checkpoint().expect_err("no checkpoint");
    assert!(matches!(refused.kind(), ErrorKind::NotWithEngine { .. }));
}

#[test]
fn names_have_to_fit_the_data() {
    let tables = tables(4);
    let open = |names: Vec<String>| kind(Fitting::from_blocks(blocks(&tables), names, spec()));
    let mut few = names();
    few.pop();
    let mut twice = names();
    twice[7] = twice[5].clone();
    for names in [few, twice] {
        let found = open(names);
        assert!(matches!(found, ErrorKind::Data(_)), "{found:?}");
    }
    let unknown = spec().with_likelihood("c", "poisson");
    let found = kind(Fitting::from_blocks(blocks(&tables), names(), unknown));
    assert!(matches!(found, ErrorKind::UnknownView { .. }), "{found:?}");
}

/// A source that can be read some times only.
struct Failing(Box<dyn BlockSource>, usize);

impl BlockSource for Failing {
    fn samples(&self) -> usize {
        self.0.samples()
    }
    fn read(&mut self, ranges: &[Range<usize>]) -> Result<Vec<View>, SourceError> {
        self.1 = self.1.checked_sub(1).ok_or("the cable came off")?;
        self.0.read(ranges)
    }
}

#[test]
fn a_source_that_fails_ends_the_fit_with_its_own_words() {
    let tables = tables(5);
    for reads in [0, 1, 2, 5, 12] {
        let source = Box::new(Failing(blocks(&tables), reads));
        let error = match Fitting::from_blocks(source, names(), spec()) {
            Err(e) => e,
            Ok(mut fitting) => loop {
                if let Err(e) = fitting.step() {
                    break e;
                }
            },
        };
        assert!(error.to_string().contains("the cable came off"), "{error}");
    }
}

/// Working units of batches come from sums in which a limit counts as a value, those of all samples at once from the law under
/// which limits are most likely: that they never part is because no batch has limits.
#[test]
fn likelihoods_of_limits_take_no_batches() {
    let tables = tables(1);
    for likelihood in [
        "censored",
        "censored{form=bound}",
        "survival",
        "survival{form=bound}",
    ] {
        let parsed: Likelihood = likelihood.parse().expect("a likelihood");
        let mut spec = spec().with_likelihood("a", parsed);
        spec.views.retain(|v| v.name == "a");
        let first = &tables[..1];
        let memory = Fitting::new(dataset(first), spec.clone());
        let blocks = Fitting::from_blocks(blocks(first), names(), spec);
        for refused in [memory, blocks] {
            let ErrorKind::Incompatible { what, .. } = kind(refused) else {
                panic!("{likelihood} takes batches");
            };
            assert!(what.contains("likelihood"), "{what}");
        }
    }
}

/// A bound that still rises when the last exact sweep allowed is done is no end, and is said to be none.
#[test]
fn exact_sweeps_go_on_while_they_gain() {
    let tables = tables(1);
    let of = |sweeps: Option<usize>| {
        let mut spec = models::mofa(8).with_likelihood("b", "bernoulli");
        spec.engine = EngineKind::Stochastic;
        // so many leave something to gain
        spec.stochastic.epochs = 20;
        if let Some(sweeps) = sweeps {
            spec.stochastic.exact_sweeps = sweeps;
        }
        let fit = Fitting::from_blocks(blocks(&tables), names(), spec);
        fit.and_then(Fitting::to_the_end).expect("a fit")
    };
    let (short, whole) = (of(Some(3)), of(None));
    let outcomes = [&short, &whole].map(|fit| fit.record().outcome);
    assert_eq!(outcomes, [Outcome::MaxSweeps, Outcome::Converged]);
    assert!(whole.record().bound > short.record().bound.map(|b| b + 1.0));
    let said = |fit: &Fit| {
        let mut entries = fit.record().journal.entries.iter();
        entries.any(|e| e.event.to_string().contains("limit of 3 exact sweeps"))
    };
    assert!(said(&short) && !said(&whole));
}
