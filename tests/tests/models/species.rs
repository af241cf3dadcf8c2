//! Every likelihood of the registry by what data lack and by how they are fitted: a fit works
//! through the facade, or is refused with the species' own reason.

use polyview::{EngineKind, ErrorKind, Fitting, GroupChoices, ModelSpec, Registry, models};
use polyview_core::{Dataset, Domain, LikelihoodSpecies, SparseTable, Table, Way};
use polyview_linalg::{Mat, Repeats, SparseColumns};
use polyview_random::{ChaCha8Rng, StreamKey, poisson, standard_normal, uniform_open01};
use polyview_tests::normal;

const SAMPLES: usize = 30;
const FEATURES: usize = 5;
const TRIALS: f64 = 8.0;

/// What the data lack, or have besides.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Complete,
    Missing,
    Grouped,
    Sparse,
}

const KINDS: [Kind; 4] = [Kind::Complete, Kind::Missing, Kind::Grouped, Kind::Sparse];
const ENGINES: [EngineKind; 3] = [EngineKind::Vb, EngineKind::Gibbs, EngineKind::Stochastic];

fn datum(domain: Domain, eta: f64, rng: &mut ChaCha8Rng) -> f64 {
    let noisy = eta + 0.5 * standard_normal(rng);
    match domain {
        Domain::Counts { .. } => {
            let count = poisson(rng, (0.5 * noisy).exp()).expect("a rate");
            count.min(TRIALS)
        }
        Domain::Binary => f64::from(u8::from(noisy > 0.0)),
        Domain::CLASSES => (noisy + 1.5).floor().clamp(0.0, 2.0),
        Domain::Positive => noisy.exp(),
        Domain::LEVELS => (noisy + 2.5).floor().clamp(1.0, 4.0),
        _ => noisy,
    }
}

/// A view of numbers and one of the domain.
fn data(domain: Domain, kind: Kind) -> Dataset {
    let mut rng = StreamKey::new(23).rng();
    let z = normal(SAMPLES, 2, &mut rng);
    let table = |name: &str, domain: Domain, rng: &mut ChaCha8Rng| {
        let columns = if domain.has_classes() {
            1
        } else if domain.is_similarity() {
            SAMPLES
        } else {
            FEATURES
        };
        let eta = if domain.is_similarity() {
            &z * z.transpose()
        } else {
            &z * normal(columns, 2, rng).transpose()
        };
        let noise = if domain.is_similarity() {
            normal(SAMPLES, SAMPLES, rng)
        } else {
            Mat::zeros(0, 0)
        };
        let values = Mat::from_fn(SAMPLES, columns, |n, d| {
            let x = if domain.is_similarity() {
                eta[(n, d)] + 0.5 * noise[(n.min(d), n.max(d))]
            } else {
                datum(domain, eta[(n, d)], rng)
            };
            let gone = uniform_open01(rng) < 0.15 && n > 1;
            if gone && kind == Kind::Missing {
                f64::NAN
            } else {
                x
            }
        });
        let levels = if domain.has_classes() { 3 } else { 0 };
        Table {
            name: name.into(),
            samples: (0..SAMPLES).map(|n| format!("s{n}")).collect(),
            features: (0..columns)
                .map(|d| {
                    let own = if domain.is_similarity() { "s" } else { name };
                    format!("{own}{d}")
                })
                .collect(),
            levels: (0..levels).map(|c| format!("class {c}")).collect(),
            values,
        }
    };
    let (x, y) = (
        table("x", Domain::Reals, &mut rng),
        table("y", domain, &mut rng),
    );
    // every third number is known to lie above its value, some between two
    let ends = Table {
        values: Mat::from_fn(y.values.nrows(), y.values.ncols(), |n, d| {
            match (n + d) % 6 {
                0 | 3 => f64::INFINITY,
                1 => y.values[(n, d)] + 0.7,
                _ => f64::NAN,
            }
        }),
        ..y.clone()
    };
    let (samples, trials) = (y.samples.clone(), {
        let values = Mat::full(y.values.nrows(), y.values.ncols(), TRIALS);
        Table {
            values,
            ..y.clone()
        }
    });
    let data = Dataset::builder().view(x);
    let mut data = if kind == Kind::Sparse {
        data.view(sparse(y))
    } else {
        data.view(y)
    };
    if domain.has_trials() {
        data = data.trials(trials);
    }
    if domain.is_censored() && kind != Kind::Sparse {
        data = data.ends(ends);
    }
    if kind == Kind::Grouped {
        let named = samples.into_iter().enumerate();
        let of = |(n, s): (usize, String)| (s, ["a", "b"][n % 2].to_owned());
        data = data.groups(named.map(of).collect());
    }
    data.build().expect("data")
}

fn sparse(table: Table) -> SparseTable {
    let (rows, columns) = table.values.shape();
    let cells = (0..columns).flat_map(|d| (0..rows).map(move |n| (n, d)));
    let entries: Vec<(u32, u32, f64)> = cells
        .map(|(n, d)| (n as u32, d as u32, table.values[(n, d)]))
        .filter(|e| e.2 != 0.0)
        .collect();
    let values = SparseColumns::from_triplets(rows, columns, &entries, Repeats::Refuse);
    SparseTable {
        name: table.name,
        samples: table.samples,
        features: table.features,
        values: values.expect("cells"),
    }
}

/// Few sweeps, whatever the engine.
fn spec(species: &dyn LikelihoodSpecies, engine: EngineKind, kind: Kind) -> ModelSpec {
    let mut spec = models::bibfa(2).with_likelihood("y", species.name());
    spec.engine = engine;
    spec.vb.max_sweeps = 5;
    (spec.gibbs.chains, spec.gibbs.warm_up, spec.gibbs.sweeps) = (1, 2, 4);
    spec.gibbs.thin = 2;
    spec.stochastic.batch = 10.0;
    (spec.stochastic.epochs, spec.stochastic.exact_sweeps) = (2, 2);
    if kind == Kind::Grouped && engine != EngineKind::Stochastic {
        spec.groups = GroupChoices {
            noise: true,
            intercepts: true,
        };
    }
    spec
}

/// Why the species cannot be fitted like that; groups of samples that a likelihood has nothing
/// for are no mistake.
fn refusal(species: &dyn LikelihoodSpecies, engine: EngineKind, kind: Kind) -> Option<String> {
    let way = match engine {
        EngineKind::Gibbs => Some(Way::Gibbs),
        EngineKind::Stochastic => Some(Way::Stochastic),
        EngineKind::Vb => None,
    };
    let sparse = (kind == Kind::Sparse).then_some(Way::Sparse);
    let defaults = species.defaults();
    (way.into_iter().chain(sparse)).find_map(|way| species.refuses(way, &defaults))
}

fn tried(species: &dyn LikelihoodSpecies, engine: EngineKind, kind: Kind) {
    let what = format!("{} {engine:?} {kind:?}", species.name());
    let data = data(species.domain(), kind);
    let fitting = Fitting::new(data, spec(species, engine, kind));
    let mut fitting = match (refusal(species, engine, kind), fitting) {
        (None, fitting) => fitting.unwrap_or_else(|e| panic!("{what}: {e}")),
        (Some(why), Ok(_)) => panic!("{what}: fitted, although it {why}"),
        (Some(why), Err(error)) => {
            let refused = matches!(error.kind(), ErrorKind::Incompatible { .. });
            assert!(
                refused && error.to_string().contains(&why),
                "{what}: {error}"
            );
            return;
        }
    };
    while !fitting
        .step()
        .unwrap_or_else(|e| panic!("{what}: {e}"))
        .done
    {}
    let fit = fitting.finish().unwrap_or_else(|e| panic!("{what}: {e}"));
    let mean = fit.factors().expect("factors").mean;
    assert!(mean.col_iter().all(|c| c.iter().all(|z| z.is_finite())));
}

/// Data of a kind that the domain or the engine does not have.
fn is_there(domain: Domain, engine: EngineKind, kind: Kind) -> bool {
    // class names and trials come with a dense table; batches are read out of one
    let dense = domain.has_classes() || domain.has_trials() || engine == EngineKind::Stochastic;
    kind != Kind::Sparse || !dense
}

#[test]
fn every_likelihood_goes_every_way_or_says_why_not() {
    for species in Registry::standard().likelihoods() {
        for engine in ENGINES {
            for kind in KINDS {
                if is_there(species.domain(), engine, kind) {
                    tried(species, engine, kind);
                }
            }
        }
    }
}
