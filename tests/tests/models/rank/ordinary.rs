//! The ordinary rank likelihood and the frozen form of the paper.

use polyview_core::{
    Bias, Conditioned, Context, Journal, NormalEquations, Predictor, RowMoments, View, ViewTerm,
};
use polyview_infer::{GibbsChain, Model, VbOptions, VbRun, ViewPart};
use polyview_likelihoods::{
    FrozenRank, Margin, OrdinaryRank, PairPolicy, Rank, RankOptions, RankUpdates, rank_term,
};
use polyview_linalg::{Mat, PackedRows};
use polyview_priors::{Fixed, FullRows};
use polyview_random::StreamKey;
use polyview_tests::distorted::{distorted, explained, start};
use polyview_tests::law::{K, gap, rows, total};
use polyview_tests::{assemble, geweke, normal};

use super::common::{part, refresh, view};

/// At fresh scores and at ones whose predictor has moved on.
#[test]
fn ordinary_terms_obey_the_law() {
    for missing in [0.0, 0.3] {
        let view = view(9, 4, missing, 0.6, 5);
        let mut term = OrdinaryRank::new(&view, 64).expect("a rank view");
        for seed in [0, 1, 7] {
            if seed > 0 {
                let (z, w) = (rows(9, seed), rows(4, seed + 1));
                refresh(&mut term, &z, &w);
                refresh(&mut term, &z, &w);
            }
            let gap = gap(&mut term, None);
            assert!(gap < 1e-6, "{missing} {seed}: {gap:e}");
        }
    }
}

/// The slack of new samples is the slope of what their scores say in their factors, by
/// differences: $\\sum\_i a\_i\\,\\partial\\langle w\_{in}\\rangle/\\partial z\_n^\\top$.
#[test]
fn slack_of_new_samples_is_how_scores_follow() {
    let training = view(40, 6, 0.1, 0.6, 5);
    let mut term = OrdinaryRank::new(&training, 64).expect("a rank view");
    let point = |m: &RowMoments| RowMoments::point(m.mean().to_owned());
    let (z, w) = (point(&rows(40, 1)), point(&rows(6, 2)));
    refresh(&mut term, &z, &w);
    let bias = Bias::absent(6);
    Conditioned::condition(
        &mut term,
        &Predictor {
            factors: &z,
            weights: &w,
            bias: &bias,
        },
    );
    let mut new = term.rebind(&view(7, 6, 0.2, 0.6, 8)).expect("anchored");
    // what the scores say at factors moved by `step` along factor `along`
    let at = rows(7, 3).mean().to_owned();
    let mut said = |along: usize, step: f64| {
        let moved = Mat::from_fn(7, K, |n, k| {
            at[(n, k)] + if k == along { step } else { 0.0 }
        });
        let z = RowMoments::point(moved);
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &bias,
        };
        let mut journal = Journal::default();
        let mut cx = Context {
            key: StreamKey::new(1),
            sweep: 2,
            journal: &mut journal,
        };
        new.refresh(&p, &mut cx).expect("finite");
        let mut eq = NormalEquations::new(K, 0..7);
        let equations = new.equations();
        equations.factor_gram(0, &p, &mut eq).expect("finite");
        equations.factor_equations(&p, &mut eq).expect("finite");
        let mut slack = PackedRows::zeros(7, K);
        new.as_rounds().expect("ranks").slack(&p, &mut slack);
        (eq.rhs, slack)
    };
    let slack = said(0, 0.0).1;
    let mut largest = 0.0f64;
    for k in 0..K {
        let (up, down) = (said(k, 1e-4).0, said(k, -1e-4).0);
        for n in 0..7 {
            for j in 0..K {
                let slope = (up[(n, j)] - down[(n, j)]) / 2e-4;
                let own = slack.sym(n).get(j, k);
                assert!((slope - own).abs() < 1e-6, "{n} {j} {k}: {slope} {own}");
                largest = largest.max(own);
            }
        }
    }
    assert!(largest > 0.1);
}

/// Scores keep the order of the data, whatever happens to them.
#[test]
fn scores_keep_the_order_of_the_data() {
    let view = view(30, 5, 0.2, 0.5, 3);
    let mut term = OrdinaryRank::new(&view, 64).expect("a rank view");
    let mut journal = Journal::default();
    for round in 0..20 {
        let (z, w) = (
            RowMoments::point(rows(30, round).mean().to_owned()),
            RowMoments::point(rows(5, round + 50).mean().to_owned()),
        );
        let bias = Bias::absent(5);
        let p = Predictor {
            factors: &z,
            weights: &w,
            bias: &bias,
        };
        let mut cx = Context {
            key: StreamKey::new(round),
            sweep: 2,
            journal: &mut journal,
        };
        if round % 2 == 0 {
            term.refresh(&p, &mut cx).expect("finite");
        } else {
            term.as_augmented()
                .expect("draws")
                .draw_locals(&p, &mut cx)
                .expect("finite");
        }
        let scores = term.scores();
        for d in 0..5 {
            for n in 0..30 {
                for o in 0..30 {
                    let (Some(a), Some(b)) = (view.value(n, d), view.value(o, d)) else {
                        continue;
                    };
                    if a < b {
                        assert!(scores[(n, d)] <= scores[(o, d)], "{round} {d}: {n} {o}");
                    }
                }
            }
        }
    }
}

fn ordinary_part(view: &View, k: usize) -> ViewPart {
    let d = view.n_features();
    ViewPart {
        name: "ranks".into(),
        term: Box::new(OrdinaryRank::new(view, 64).expect("a rank view")),
        weights: Box::new(FullRows::new(
            "weights/ranks",
            Fixed::standard_normal(k),
            RowMoments::isotropic(Mat::zeros(d, k), 1.0, 0),
        )),
        bias: Bias::absent(d),
    }
}

/// Ranks have a law, that of the scores: Geweke's test can be asked.
#[test]
fn ordinary_draws_leave_the_joint_distribution_alone() {
    let view = view(6, 3, 0.2, 0.0, 8);
    let start = normal(6, 1, &mut StreamKey::new(1).rng());
    let model: Model = assemble(vec![ordinary_part(&view, 1)], start);
    let worst = geweke::largest_score(model, 3000, 5);
    assert!(worst < 4.0, "{worst}");
}

#[test]
fn ordinary_ranks_recover_distorted_factors() {
    let (view, truth) = distorted(150, 60, 1);
    let model = assemble(vec![ordinary_part(&view, 5)], start(&view, 5));
    let options = VbOptions {
        max_sweeps: 60,
        ..VbOptions::default()
    };
    let mut run = VbRun::new(model, options, StreamKey::new(2), Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    let z = run.model().factors.moments().mean().to_owned();
    let found = explained(&truth, &z);
    assert!(found.iter().all(|r| *r > 0.93), "{found:?}");
}

/// λ̄ and h by the formula of 4.2 with the two signs of E3, and equations from
/// them (E2).
#[test]
fn frozen_sites_are_those_of_the_repaired_paper() {
    let (n, d, eps) = (8, 3, 0.5);
    let view = view(n, d, 0.2, 0.4, 4);
    let options = RankOptions {
        pairs: PairPolicy::Extreme,
        margin: Margin::Fixed(eps),
        ..RankOptions::default()
    };
    let mut term = FrozenRank::new(&view, options, StreamKey::new(1)).expect("a rank view");
    let (z, w) = (
        RowMoments::point(rows(n, 1).mean().to_owned()),
        RowMoments::point(rows(d, 2).mean().to_owned()),
    );
    refresh(&mut term, &z, &w);
    let eta = z.mean() * w.mean().transpose();
    let mut sites = vec![vec![(0.0, 0.0); d]; n];
    for i in 0..d {
        for a in 0..n {
            let Some(x) = view.value(a, i) else { continue };
            let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
            for b in 0..n {
                match view.value(b, i) {
                    Some(y) if y < x => low = low.max(eta[(b, i)]),
                    Some(y) if y > x => high = high.min(eta[(b, i)]),
                    _ => {}
                }
            }
            let (mut omega, mut h) = (0.0, 0.0);
            if low.is_finite() {
                let kappa = (low + eps - eta[(a, i)]).abs().recip();
                omega += kappa;
                h += kappa * (low + eps) + 1.0;
            }
            if high.is_finite() {
                let kappa = (eta[(a, i)] + eps - high).abs().recip();
                omega += kappa;
                h += kappa * (high - eps) - 1.0;
            }
            let found = term.site(a, i);
            assert!((found.0 - omega).abs() < 1e-9 * (1.0 + omega));
            assert!(
                (found.1 - h).abs() < 1e-9 * (1.0 + h.abs()),
                "{found:?} {h}"
            );
            sites[a][i] = (omega, h);
        }
    }
    let bias = Bias::absent(d);
    let p = Predictor {
        factors: &z,
        weights: &w,
        bias: &bias,
    };
    let mut eq = NormalEquations::new(K, 0..n);
    term.equations()
        .factor_gram(0, &p, &mut eq)
        .expect("equations");
    term.equations()
        .factor_equations(&p, &mut eq)
        .expect("equations");
    for (a, row) in sites.iter().enumerate() {
        for k in 0..K {
            let h: f64 = (0..d).map(|i| row[i].1 * w.mean()[(i, k)]).sum();
            assert!((eq.rhs[(a, k)] - h).abs() < 1e-9 * (1.0 + h.abs()));
            let own: f64 = (0..d).map(|i| row[i].0 * w.mean()[(i, k)].powi(2)).sum();
            assert!((eq.row_precision(a).get(k, k) - own).abs() < 1e-9 * (1.0 + own));
        }
    }
    let mut eq = NormalEquations::new(K, 0..0);
    term.equations()
        .weight_gram(&p, &mut eq)
        .expect("equations");
    eq.set_rows(0..d);
    term.equations()
        .weight_equations(&p, &mut eq)
        .expect("equations");
    for i in 0..d {
        for k in 0..K {
            let h: f64 = (0..n).map(|a| sites[a][i].1 * z.mean()[(a, k)]).sum();
            assert!((eq.rhs[(i, k)] - h).abs() < 1e-9 * (1.0 + h.abs()));
        }
    }
}

/// The choice picks the term.
#[test]
fn frozen_updates_have_no_guarantee() {
    let (view, _) = distorted(60, 30, 2);
    let frozen = RankOptions {
        updates: RankUpdates::Frozen,
        pairs: PairPolicy::Extreme,
        ..RankOptions::default()
    };
    let key = StreamKey::new(1);
    let mut term = rank_term(&view, frozen, key).expect("a rank view");
    assert_eq!(term.objective(), polyview_core::Objective::NoGuarantee);
    assert!(term.as_coupled().is_none());
    // what it reports is the coherent bound of the same pairs
    let mut coherent = Rank::new(&view, frozen, key).expect("a rank view");
    let (z, w) = (rows(60, 1), rows(30, 2));
    refresh(term.as_mut(), &z, &w);
    refresh(&mut coherent, &z, &w);
    let absent = Bias::absent(30);
    let (a, b) = (
        total(term.as_mut(), &z, &w, &absent),
        total(&mut coherent, &z, &w, &absent),
    );
    assert!((a - b).abs() < 1e-9 * a.abs());
}

/// By draws and with extreme partners it recovers the factors (V6); in
/// variational Bayes it shrinks.
#[test]
fn frozen_draws_recover_distorted_factors() {
    let (view, truth) = distorted(150, 60, 1);
    let frozen = RankOptions {
        updates: RankUpdates::Frozen,
        pairs: PairPolicy::Extreme,
        margin: Margin::Fixed(1.0),
        ..RankOptions::default()
    };
    let key = StreamKey::new(1);
    let model = || {
        let mut parts = vec![part(&view, RankOptions::default(), 5)];
        parts[0].term = rank_term(&view, frozen, key).expect("a rank view");
        assemble(parts, start(&view, 5))
    };
    let mut chain = GibbsChain::new(model(), key);
    for _ in 0..150 {
        chain.advance().expect("a sweep");
    }
    let z = chain.model().factors.moments().mean().to_owned();
    let found = explained(&truth, &z);
    assert!(found.iter().all(|r| *r > 0.8), "{found:?}");
    let options = VbOptions {
        max_sweeps: 20,
        ..VbOptions::default()
    };
    let mut run = VbRun::new(model(), options, key, Journal::default());
    while run.sweep().expect("a sweep").outcome.is_none() {}
    assert!(run.model().factors.moments().mean().is_all_finite());
}
