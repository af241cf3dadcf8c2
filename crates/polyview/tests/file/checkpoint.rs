//! A fit that was interrupted and resumed is the fit that was not, bit for
//! bit; a checkpoint of another fit is refused.

use crate::common::{Holes, Parts, assert_same, data, gibbs, relevance, vb};
use polyview::{
    Checkpoint, Error, ErrorKind, Fit, Fitting, Intercepts, ModelSpec, Path, ViewChoices,
};
use polyview_core::{Dataset, FeatureScaling};
use polyview_infer::Rotate;
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_linalg::Mat;

fn run(mut fitting: Fitting) -> Fit {
    while !fitting.step().unwrap().done {}
    fitting.finish().unwrap()
}

/// Goes `steps` steps, by way of a file, and hands over to a new fit.
fn interrupted(fitting: &Fitting, data: &Dataset, spec: &ModelSpec) -> Fitting {
    let bytes = fitting.checkpoint().unwrap().to_bytes().unwrap();
    let checkpoint = Checkpoint::from_bytes(&bytes).unwrap();
    assert_eq!(checkpoint.to_bytes().unwrap(), bytes);
    let mut next = Fitting::new(data.clone(), spec.clone()).unwrap();
    next.resume(&checkpoint).unwrap();
    // what was resumed is what was saved
    assert_eq!(next.checkpoint().unwrap().to_bytes().unwrap(), bytes);
    next
}

/// Interrupts a fit after every `every`-th step, each time from the beginning,
/// and once at every step of one run.
fn check(data: &Dataset, spec: &ModelSpec, every: usize) {
    let new = || Fitting::new(data.clone(), spec.clone()).unwrap();
    let mut steps = 0;
    let mut whole = new();
    while !whole.step().unwrap().done {
        steps += 1;
    }
    steps += 1;
    assert!(steps > 4, "too short to be interrupted");
    let whole = whole.finish().unwrap();
    for stop in (0..steps).step_by(every) {
        let mut first = new();
        for _ in 0..stop {
            first.step().unwrap();
        }
        let second = interrupted(&first, data, spec);
        drop(first);
        assert_same(&run(second), &whole);
    }
    let mut relay = new();
    for _ in 0..steps {
        relay = interrupted(&relay, data, spec);
        relay.step().unwrap();
    }
    // a checkpoint of a fit that is over
    relay = interrupted(&relay, data, spec);
    assert_same(&relay.finish().unwrap(), &whole);
}

#[test]
fn variational_bayes() {
    for holes in [Holes::None, Holes::Rows, Holes::Cells, Holes::Both] {
        for noise in [NoiseBy::View, NoiseBy::Feature] {
            let mut spec = vb(4, 14);
            spec.defaults.noise = noise;
            check(&data(22, &[6, 5], holes, 11), &spec, 3);
        }
    }
}

#[test]
fn variational_bayes_until_factors_are_gone() {
    // six factors where there are two
    let data = data(40, &[9, 8], Holes::Cells, 3);
    let mut spec = vb(6, 60);
    spec.vb.rotate = Rotate::InLoop;
    let mut fitting = Fitting::new(data.clone(), spec.clone()).unwrap();
    let mut left = 6;
    while !fitting.step().unwrap().done {
        left = fitting.step().unwrap().factors;
    }
    assert!(left < 6, "nothing was removed");
    check(&data, &spec, 7);
}

/// Sparse weights of counts, which dense ones come before.
#[test]
fn dense_weights_before_sparse_ones() {
    let seen = data(40, &[8], Holes::None, 3);
    let view = &seen.views()[0];
    let x = view.values();
    let count = |n, d| (2.0 + 2.0 * x[(n, d)]).exp().min(1e5).floor();
    let counts = view.with_values(Mat::from_fn(x.nrows(), x.ncols(), count));
    let data = seen.with_view(counts.unwrap()).unwrap();
    let name = view.name().to_owned();
    let mut spec = polyview::models::mofa(3).with_likelihood(&name, "poisson");
    spec.vb.max_sweeps = 6;
    check(&data, &spec, 3);
}

/// Before the optimum is found, at it, and while chains go on from there.
#[test]
fn chains_from_the_optimum() {
    let data = data(40, &[9, 8], Holes::Cells, 3);
    let mut spec = vb(6, 60).polished(9);
    spec.vb.rotate = Rotate::InLoop;
    check(&data, &spec, 5);
    // of six factors some are gone by then
    let whole = run(Fitting::new(data.clone(), spec.clone()).unwrap());
    assert!(whole.k() < 6, "nothing was removed");
    // two chains, and the best of three starts
    (spec.gibbs.chains, spec.restarts) = (2, 3);
    spec.vb.max_sweeps = 8;
    check(&data, &spec, 11);
    // one that is told to be of another stage
    let mut fitting = Fitting::new(data.clone(), spec.clone()).unwrap();
    while fitting.chains().is_empty() {
        fitting.step().unwrap();
    }
    let mut checkpoint = fitting.checkpoint().unwrap();
    for factors in [0, 7] {
        checkpoint.record["factors"] = factors.into();
        let mut next = Fitting::new(data.clone(), spec.clone()).unwrap();
        assert!(next.resume(&checkpoint).is_err(), "{factors}");
    }
    checkpoint.record["optimum"] = serde_json::Value::Null;
    let mut next = Fitting::new(data, spec).unwrap();
    assert!(next.resume(&checkpoint).is_err());
}

/// What draws do not look at is no reason not to go on with them.
#[test]
fn options_without_effect_on_draws_are_not_compared() {
    let data = data(22, &[6, 5], Holes::None, 11);
    let spec = gibbs(2);
    let mut other = spec.clone();
    other.vb.max_sweeps = 20;
    other.vb.rotate = Rotate::Off;
    other.restarts = 3;
    let mut first = Fitting::new(data.clone(), other).unwrap();
    for _ in 0..3 {
        first.step().unwrap();
    }
    let bytes = first.checkpoint().unwrap().to_bytes().unwrap();
    let checkpoint = Checkpoint::from_bytes(&bytes).unwrap();
    let mut next = Fitting::new(data.clone(), spec.clone()).unwrap();
    next.resume(&checkpoint).unwrap();
    let whole = run(Fitting::new(data.clone(), spec.clone()).unwrap());
    assert_same(&run(next), &whole);
    // what they do look at is
    let mut longer = spec;
    longer.gibbs.thin += 1;
    let mut next = Fitting::new(data, longer).unwrap();
    let error = next.resume(&checkpoint).unwrap_err().to_string();
    assert!(error.contains("gibbs.thin"), "{error}");
}

#[test]
fn relevances() {
    let data = data(40, &[9, 8], Holes::None, 3);
    check(&data, &relevance(vb(6, 60)), 7);
    check(&data, &relevance(gibbs(2)), 4);
}

#[test]
fn compressed_paths() {
    let mut spec = vb(3, 12);
    spec.path = Path::CompressSamples;
    check(&data(30, &[6, 5], Holes::None, 4), &spec, 3);
    spec.defaults.noise = NoiseBy::Feature;
    check(&data(30, &[6, 5], Holes::None, 4), &spec, 4);
    let mut spec = vb(3, 12);
    spec.path = Path::CompressFeatures;
    spec.defaults.noise = NoiseBy::View;
    check(&data(8, &[12, 15], Holes::None, 4), &spec, 3);
}

#[test]
fn imputed_cells_and_other_choices() {
    let mut spec = vb(3, 12);
    spec.missing = MissingData::Impute;
    check(&data(22, &[6, 5], Holes::Cells, 8), &spec, 3);
    spec.defaults.noise = NoiseBy::Feature;
    check(&data(22, &[6, 5], Holes::Both, 8), &spec, 4);
    let mut spec = vb(3, 12).with_view(
        "lipids \"2\"",
        ViewChoices {
            noise: NoiseBy::Feature,
            scaling: FeatureScaling::View,
            ..ViewChoices::default()
        },
    );
    spec.intercepts = Intercepts::None;
    check(&data(22, &[6, 5, 4], Holes::Both, 9), &spec, 4);
}

#[test]
fn restarts() {
    // every step of every restart, their boundaries included
    let mut spec = vb(3, 5);
    spec.restarts = 3;
    check(&data(22, &[6, 5], Holes::None, 11), &spec, 1);
    check(&data(22, &[6, 5], Holes::Both, 12), &spec, 1);
}

#[test]
fn gibbs_chains() {
    for (holes, noise, missing) in [
        (Holes::None, NoiseBy::View, MissingData::Marginal),
        (Holes::Rows, NoiseBy::Feature, MissingData::Marginal),
        (Holes::Both, NoiseBy::View, MissingData::Marginal),
        (Holes::Cells, NoiseBy::Feature, MissingData::Impute),
    ] {
        let mut spec = gibbs(2);
        spec.defaults.noise = noise;
        spec.missing = missing;
        check(&data(18, &[5, 4], holes, 21), &spec, 2);
    }
}

#[test]
fn starts_of_ones_own() {
    let data = data(22, &[6, 5], Holes::None, 11);
    let spec = vb(3, 12);
    let new = || {
        let mut f = Fitting::new(data.clone(), spec.clone()).unwrap();
        let z = Mat::from_fn(22, 3, |i, j| ((i * 3 + j * 5) % 7) as f64 - 3.0);
        f.start_from(z).unwrap();
        f
    };
    let whole = run(new());
    // also before the first step, when only the start is there
    for stop in [0, 1, 4] {
        let mut first = new();
        for _ in 0..stop {
            first.step().unwrap();
        }
        assert_same(&run(interrupted(&first, &data, &spec)), &whole);
    }
}

#[test]
fn by_way_of_a_disk() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mice.checkpoint");
    let data = data(22, &[6, 5], Holes::Cells, 11);
    let spec = vb(3, 12);
    let new = || Fitting::new(data.clone(), spec.clone()).unwrap();
    let whole = run(new());
    let mut first = new();
    for _ in 0..5 {
        first.step().unwrap();
        // each takes the place of the one before
        first.save_checkpoint(&path).unwrap();
    }
    let mut second = new();
    second.resume_from(&path).unwrap();
    assert_same(&run(second), &whole);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);

    let absent = folder.path().join("absent");
    let error = new().resume_from(&absent).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error:?}");
    // a model is not a checkpoint, nor the other way round
    let model = folder.path().join("mice.pv");
    whole.save(&model, polyview::Overwrite::Refuse).unwrap();
    let error = new().resume_from(&model).unwrap_err();
    assert!(
        error.to_string().contains("a model, not a checkpoint"),
        "{error}"
    );
    let error = Fit::load(&path).unwrap_err();
    assert!(
        error.to_string().contains("a checkpoint, not a model"),
        "{error}"
    );
}

/// A start that cannot be taken is told apart by what is wrong with it.
#[test]
fn starts_that_do_not_fit_are_refused_by_name() {
    let data = data(22, &[6, 5], Holes::None, 11);
    let start = || Mat::from_fn(22, 3, |i, j| ((i * 3 + j * 5) % 7) as f64 - 3.0);
    let refused = |spec: &ModelSpec, factors: Mat<f64>, steps: usize| {
        let mut fitting = Fitting::new(data.clone(), spec.clone()).unwrap();
        for _ in 0..steps {
            fitting.step().unwrap();
        }
        fitting.start_from(factors).unwrap_err().to_string()
    };
    let spec = vb(3, 12);
    let mut holed = start();
    holed[(4, 1)] = f64::NAN;
    for (factors, steps, word) in [
        (
            Mat::zeros(22, 2),
            0,
            "they are 22 x 2, and the fit has 22 samples and 3 factors",
        ),
        (holed, 0, "factor 2 of sample"),
        (start(), 1, "the fit has begun"),
    ] {
        let said = refused(&spec, factors, steps);
        assert!(said.contains(word), "{said}");
    }
    let said = refused(&gibbs(3), start(), 0);
    assert!(said.contains("with the engine gibbs"), "{said}");
    // so is a component that is not there
    let fit = polyview::fit(data, spec).unwrap();
    let said = fit.component(9).err().unwrap().to_string();
    assert!(
        said.contains("component 9 was asked for, and the posterior has 1"),
        "{said}"
    );
}

/// By its number, not by what its parts or choices lack; what to do is said.
#[test]
fn a_checkpoint_of_an_earlier_version_is_refused_by_its_number() {
    let data = data(22, &[6, 5], Holes::None, 11);
    let fitting = Fitting::new(data, vb(3, 12)).unwrap();
    let mut parts = Parts::of(&fitting.checkpoint().unwrap().to_bytes().unwrap());
    let now = parts.header["format"].as_u64().unwrap();
    parts.header["format"] = (now - 1).into();
    // the choices of that time had another shape
    parts.header["origin"] = serde_json::json!({ "spec": 1 });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mice.checkpoint");
    std::fs::write(&path, parts.seal()).unwrap();
    let error = Checkpoint::load(&path).unwrap_err();
    match error.kind() {
        ErrorKind::OldCheckpoint { found, known, .. } => {
            assert_eq!((u64::from(*found), u64::from(*known)), (now - 1, now));
        }
        other => panic!("{other:?}"),
    }
    assert!(error.to_string().contains("mice.checkpoint"), "{error}");
    assert!(error.advice().unwrap().contains("start afresh"));
    // a later one, too
    parts.header["format"] = (now + 1).into();
    let error = Checkpoint::from_bytes(&parts.seal()).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::NewerFile { known, .. } if u64::from(*known) == now),
        "{error:?}"
    );
}

fn refusal(data: Dataset, spec: ModelSpec, checkpoint: &Checkpoint) -> Error {
    let mut fitting = Fitting::new(data, spec).unwrap();
    let error = fitting.resume(checkpoint).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::OtherFit { .. }),
        "{error:?}"
    );
    error
}

#[test]
fn another_fit_is_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mice.checkpoint");
    let here = data(22, &[6, 5], Holes::Cells, 11);
    let mut fitting = Fitting::new(here.clone(), vb(3, 12)).unwrap();
    fitting.step().unwrap();
    let checkpoint = fitting.checkpoint().unwrap();
    checkpoint.save(&path).unwrap();
    let says = |error: &Error, what: &str| {
        assert!(error.to_string().contains(what), "{error} lacks {what}");
    };

    let mut other = vb(3, 12);
    other.seed = 2;
    says(
        &refusal(here.clone(), other, &checkpoint),
        "'seed' is 1 there and 2 here",
    );
    says(
        &refusal(here.clone(), vb(4, 12), &checkpoint),
        "'factors' is 3 there and 4 here",
    );
    says(&refusal(here.clone(), gibbs(3), &checkpoint), "'engine'");
    let mut other = vb(3, 12);
    other.vb.tolerance = 1e-3;
    says(
        &refusal(here.clone(), other, &checkpoint),
        "'vb.tolerance' is 1e-7 there and 0.001 here",
    );

    // one number of one cell, in its last bit
    let view = &here.views()[1];
    let mut values = view.to_values_with_nan();
    let at = (0..22).find(|&n| view.is_observed(n, 2)).unwrap();
    values[(at, 2)] = f64::from_bits(values[(at, 2)].to_bits() + 1);
    let changed = view.with_values(values.clone());
    drop(changed);
    let changed = polyview_core::View::from_values(view.name(), view.features().to_vec(), values);
    let changed = here.with_view(changed.unwrap()).unwrap();
    says(
        &refusal(changed, vb(3, 12), &checkpoint),
        "values of view 'lipids",
    );
    // one cell hidden
    let hidden = here.views()[0].hiding(|n, d| (n, d) == (4, 1));
    let hidden = here.with_view(hidden).unwrap();
    says(
        &refusal(hidden, vb(3, 12), &checkpoint),
        "values of view 'genes",
    );
    // a feature of another name
    let mut features = view.features().to_vec();
    features[0].push('!');
    let renamed =
        polyview_core::View::from_values(view.name(), features, view.to_values_with_nan());
    let renamed = here.with_view(renamed.unwrap()).unwrap();
    says(
        &refusal(renamed, vb(3, 12), &checkpoint),
        "features or values of view 'lipids",
    );
    // other samples, other views
    let fewer = data(21, &[6, 5], Holes::Cells, 11);
    says(
        &refusal(fewer, vb(3, 12), &checkpoint),
        "the samples differ",
    );
    let more = data(22, &[6, 5, 4], Holes::Cells, 11);
    says(
        &refusal(more, vb(3, 12), &checkpoint),
        "the names of the views differ",
    );

    // from a file the error has its path
    let mut fitting = Fitting::new(here, vb(4, 12)).unwrap();
    let error = fitting.resume_from(&path).unwrap_err();
    says(&error, &path.display().to_string());
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let data = data(22, &[6, 5], Holes::Cells, 11);
    let refused = |spec: &ModelSpec, steps: usize, damage: &dyn Fn(&mut Parts)| {
        let new = || Fitting::new(data.clone(), spec.clone()).unwrap();
        let mut fitting = new();
        for _ in 0..steps {
            fitting.step().unwrap();
        }
        let mut parts = Parts::of(&fitting.checkpoint().unwrap().to_bytes().unwrap());
        damage(&mut parts);
        match Checkpoint::from_bytes(&parts.seal()) {
            Err(_) => {}
            Ok(checkpoint) => assert!(new().resume(&checkpoint).is_err()),
        }
    };
    let set = |name: &'static str, value: serde_json::Value| {
        move |parts: &mut Parts| {
            let record = &parts.arrays["record"].bytes;
            let mut record: serde_json::Value = serde_json::from_slice(record).unwrap();
            *record.pointer_mut(name).unwrap() = value.clone();
            let bytes = record.to_string().into_bytes();
            let array = parts.arrays.get_mut("record").unwrap();
            (array.shape, array.bytes) = (vec![bytes.len()], bytes);
        }
    };
    let spec = vb(3, 12);
    let huge = serde_json::json!(u64::MAX);
    let none = serde_json::json!([]);
    for name in [
        "/restart",
        "/run/sweep",
        "/run/quiet",
        "/run/rotation_interval",
    ] {
        refused(&spec, 3, &set(name, huge.clone()));
    }
    refused(&spec, 3, &set("/bounds", serde_json::json!([1.0])));
    refused(&spec, 3, &set("/run/ledger/names", none.clone()));
    refused(&spec, 3, &set("/run/ledger/rows", none.clone()));
    refused(&spec, 3, &set("", none.clone()));
    let chains = gibbs(2);
    refused(&chains, 8, &set("/chains/1/sweep", huge.clone()));
    for name in ["/chains", "/draws", "/draws/0/signal", "/draws/1/stored"] {
        refused(&chains, 8, &set(name, none.clone()));
    }
    refused(&chains, 8, &set("/draws/0/signal/1", none.clone()));
    refused(&chains, 8, &set("/draws/0/likelihood/1", none));
    for prefix in ["chain0/", "draw1.0/"] {
        let without = |name: &str| {
            let name = format!("state/{prefix}{name}");
            move |parts: &mut Parts| {
                parts.arrays.remove(&name).unwrap();
            }
        };
        refused(&chains, 8, &without("factors/mean"));
        refused(&chains, 8, &without("views/genes/α/bias/rest"));
    }
    for name in ["factors/mean", "previous/1", "views/genes/α/weights/mean"] {
        refused(&spec, 3, &|parts: &mut Parts| {
            // one row less
            let array = parts.arrays.get_mut(&format!("state/{name}")).unwrap();
            array.shape[0] -= 1;
            let len = 8 * array.shape[0] * array.shape[1];
            array.bytes.truncate(len);
        });
    }
    refused(&spec, 3, &|parts: &mut Parts| {
        let implicit = parts.arrays.get_mut("state/factors/implicit").unwrap();
        implicit.set(0, 1e14);
    });
}
