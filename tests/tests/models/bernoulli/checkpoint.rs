//! A run that is saved and gone on with is the run that was not.

use polyview_core::{Block, State, Stateful};
use polyview_infer::{GibbsChain, VbRun};
use polyview_likelihoods::{MissingData, NoiseBy};
use polyview_random::StreamKey;
use polyview_tests::{Holes, normal};

use super::{Kind, latent, model, part, run, simulate, term};

fn fresh() -> polyview_infer::Model {
    let z = normal(15, 2, &mut StreamKey::new(2).rng());
    let imputed = latent(NoiseBy::Feature, MissingData::Impute, false);
    let kinds = [Kind::Direct, imputed, super::marginal()];
    let parts = kinds
        .iter()
        .zip(["a", "b", "c"])
        .map(|(kind, name)| {
            let s = simulate(*kind, name, &z, 5, (0.0, 1.0), Holes::Cells(0.2), 3);
            part(term(*kind, s.view), name, 2, Some(0.1))
        })
        .collect();
    model(parts, normal(15, 2, &mut StreamKey::new(4).rng()))
}

#[test]
fn variational_bayes_goes_on_bit_for_bit() {
    let mut through: VbRun = run(fresh(), 20, true);
    for _ in 0..4 {
        through.sweep().expect("a sweep");
    }
    let mut state = State::new();
    let record = through.save("", &mut state);
    let mut again = run(fresh(), 20, true);
    again.resume("", record, &state.reader()).expect("a state");
    // between sweeps the two may sum along different sides of the data
    let (a, b) = (through.model_mut().bound(), again.model_mut().bound());
    assert!((a - b).abs() < 1e-12 * a.abs(), "{a} {b}");
    for _ in 0..3 {
        let (a, b) = (
            through.sweep().expect("a sweep"),
            again.sweep().expect("a sweep"),
        );
        assert_eq!(a.bound.to_bits(), b.bound.to_bits());
    }
}

#[test]
fn a_chain_goes_on_bit_for_bit() {
    let mut through = GibbsChain::new(fresh(), StreamKey::new(8));
    for _ in 0..4 {
        through.sweep().expect("a sweep");
    }
    let mut state = State::new();
    let record = through.save("", &mut state);
    let mut again = GibbsChain::new(fresh(), StreamKey::new(8));
    again.resume("", record, &state.reader()).expect("a state");
    for _ in 0..3 {
        let (a, b) = (
            through.sweep().expect("a sweep"),
            again.sweep().expect("a sweep"),
        );
        assert_eq!(a.bound.to_bits(), b.bound.to_bits());
    }
}

#[test]
fn a_damaged_state_is_an_error() {
    let m = fresh();
    for gone in [
        "values",
        "drawn",
        "scores",
        "xi",
        "score-variance",
        "label-bound",
    ] {
        let mut state = State::new();
        m.save("", &mut state);
        let mut damaged = State::new();
        for (name, array) in state.arrays() {
            if !name.ends_with(&format!("term/local/{gone}")) {
                damaged.put(name, array.clone());
            }
        }
        assert!(damaged.arrays().len() < state.arrays().len(), "{gone}");
        assert!(fresh().load("", &damaged.reader()).is_err(), "{gone}");
    }
}

#[test]
fn a_term_without_samples_takes_the_parameters_alone() {
    let mut m = fresh();
    let mut chain = run(fresh(), 3, true);
    for _ in 0..3 {
        chain.sweep().expect("a sweep");
    }
    std::mem::swap(&mut m, chain.model_mut());
    let mut state = State::new();
    for view in &m.views {
        view.term.save(&view.name, &mut state);
    }
    let mut parameters = State::new();
    for (name, array) in state.arrays() {
        if !name.contains("/local/") {
            parameters.put(name, array.clone());
        }
    }
    for view in &m.views {
        let names = (0..5).map(|d| format!("f{d}")).collect();
        let none = polyview_core::View::from_values(
            view.name.clone(),
            names,
            polyview_linalg::Mat::zeros(0, 5),
        );
        let mut empty = view.term.rebind(&none.expect("finite")).expect("features");
        empty
            .load(&view.name, &parameters.reader())
            .expect("the parameters");
        let (p, block) = (super::predictor(&m, 0), Block::new(0..3, 0..5));
        assert_eq!(
            view.term.law(&p, &block).means(),
            empty.law(&p, &block).means()
        );
    }
}
