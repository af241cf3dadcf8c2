//! First draws of every sampler, bit by bit. A change here is a change of every published result:
//! say so in the change log, and only then paste the numbers that the failing test prints.

use polyview_random::{
    Beta, Categorical, Dirichlet, Gamma, Gig, InverseGaussian, PolyaGamma, PrecisionFactor, Rng,
    StreamKey, TruncatedNormal, standard_exponential, standard_normal, uniform_open01,
};

use crate::support::draws;

/// Generator of one row: the key itself is pinned by the first row.
fn stream(chunk: u32) -> polyview_random::ChaCha8Rng {
    StreamKey::new(20)
        .chain(1)
        .sweep(3)
        .block(5)
        .chunk(chunk)
        .rng()
}

fn first_draws() -> Vec<(&'static str, Vec<f64>)> {
    type Draw<'a> = &'a dyn Fn(&mut polyview_random::ChaCha8Rng) -> f64;
    let inf = f64::INFINITY;
    let gamma = Gamma::new(2.5, 3.0).unwrap();
    let small = Gamma::new(1e-3, 1e-3).unwrap();
    let beta = Beta::new(2.0, 0.3).unwrap();
    let categories = Categorical::from_ln_weights(&[-3.0, -1.0, -2.0, -1.5]).unwrap();
    let wald = InverseGaussian::new(1e8, 1.0).unwrap();
    let gig = Gig::new(2.0, 1e-3, 0.3).unwrap();
    let gig_down = Gig::new(2.0, 3.0, -4.0).unwrap();
    let polya = PolyaGamma::new(1.0, 0.7).unwrap();
    let polya_tilted = PolyaGamma::new(1.0, -4.0).unwrap();
    let polya_sum = PolyaGamma::new(3.5, 0.1).unwrap();
    let polya_split = PolyaGamma::new(200.0, 1.0).unwrap();
    let wide = TruncatedNormal::new(0.0, 1.0, -1.0, 4.0).unwrap();
    let tail = TruncatedNormal::new(0.0, 1.0, 9.0, inf).unwrap();
    let narrow = TruncatedNormal::new(0.5, 2.0, -1.0, 1.0).unwrap();
    let samplers: [(&str, Draw<'_>); 17] = [
        ("words", &|r| (r.next_u64() >> 11) as f64),
        ("uniform", &|r| uniform_open01(r)),
        ("normal", &|r| standard_normal(r)),
        ("exponential", &|r| standard_exponential(r)),
        ("gamma", &|r| gamma.sample(r)),
        ("ln gamma", &|r| small.sample_ln(r)),
        ("beta", &|r| beta.sample(r)),
        ("categorical", &|r| categories.sample(r) as f64),
        ("inverse Gaussian", &|r| wald.sample(r)),
        ("GIG", &|r| gig.sample(r)),
        ("GIG, negative power", &|r| gig_down.sample(r)),
        ("PG(1, c)", &|r| polya.sample(r)),
        ("PG(1, c), tilted", &|r| polya_tilted.sample(r)),
        ("PG, sum", &|r| polya_sum.sample(r)),
        ("PG, split", &|r| polya_split.sample(r)),
        ("truncated, wide", &|r| wide.sample(r)),
        ("truncated, tail", &|r| tail.sample(r)),
    ];
    let mut rows: Vec<_> = samplers
        .iter()
        .enumerate()
        .map(|(i, (name, draw))| {
            let mut rng = stream(i as u32);
            (*name, draws(4, || draw(&mut rng)))
        })
        .collect();
    let mut rng = stream(100);
    rows.push(("truncated, narrow", draws(4, || narrow.sample(&mut rng))));
    let mut simplex = vec![0.0; 4];
    Dirichlet::new(&[0.5, 1.0, 2.0, 0.1])
        .unwrap()
        .sample_into(&mut stream(101), &mut simplex)
        .unwrap();
    rows.push(("Dirichlet", simplex));
    let mut gaussian = vec![0.0; 4];
    let packed = [2.0, 1.0, 3.0, 0.5, -0.5, 1.5, 0.0, 0.25, -1.0, 1.0];
    PrecisionFactor::new(&packed, 4)
        .unwrap()
        .sample_into(&mut stream(102), &[0.0; 4], &mut gaussian)
        .unwrap();
    rows.push(("precision factor", gaussian));
    rows
}

#[test]
fn first_draws_are_pinned() {
    let found = first_draws();
    let same = found.len() == GOLDEN.len()
        && found
            .iter()
            .zip(&GOLDEN)
            .all(|((a, x), (b, y))| a == b && x[..] == y[..]);
    assert!(same, "{}", listing(&found));
}

/// The table in the form it has below.
fn listing(rows: &[(&str, Vec<f64>)]) -> String {
    let lines: Vec<_> = rows
        .iter()
        .map(|(name, values)| format!("    ({name:?}, {values:?}),"))
        .collect();
    lines.join("\n")
}

const GOLDEN: [(&str, [f64; 4]); 20] = [
    (
        "words",
        [
            7477840441192600.0,
            4714324430241485.0,
            6167654663490110.0,
            4598433595453479.0,
        ],
    ),
    (
        "uniform",
        [
            0.3289626966133673,
            0.5425084173435496,
            0.9672757418689827,
            0.3895766205967307,
        ],
    ),
    (
        "normal",
        [
            1.9286504860543787,
            0.20754862489325152,
            1.86804576781146,
            0.24916686723903447,
        ],
    ),
    (
        "exponential",
        [
            1.953762980208292,
            2.907543219641998,
            0.22389008983213862,
            0.5546961859951237,
        ],
    ),
    (
        "gamma",
        [
            0.18011879757434715,
            0.8415183588788264,
            2.1671735195271844,
            1.4776391618223481,
        ],
    ),
    (
        "ln gamma",
        [
            -813.1917490292956,
            -127.17281036841692,
            -482.9567202893238,
            -1314.6037537918528,
        ],
    ),
    (
        "beta",
        [
            0.9663267250691951,
            0.9994186815571926,
            0.8640396187020843,
            0.9994769915739351,
        ],
    ),
    ("categorical", [2.0, 0.0, 1.0, 3.0]),
    (
        "inverse Gaussian",
        [
            38.69262485740298,
            0.9877791394640327,
            179.7030848885051,
            0.5162354183516171,
        ],
    ),
    (
        "GIG",
        [
            0.04085125434907842,
            0.5876257187401298,
            0.29142510574977554,
            1.1615289909540263,
        ],
    ),
    (
        "GIG, negative power",
        [
            0.3805798854077656,
            0.17397291930382047,
            0.4679631137699966,
            0.22619547175514151,
        ],
    ),
    (
        "PG(1, c)",
        [
            0.40163128742763904,
            0.3902684091884405,
            0.12327933437655893,
            0.11569987343109607,
        ],
    ),
    (
        "PG(1, c), tilted",
        [
            0.122267040273963,
            0.07857409620967944,
            0.10406602185914543,
            0.1578039881722867,
        ],
    ),
    (
        "PG, sum",
        [
            1.4947280470242197,
            0.8569020816215136,
            0.47052842092873653,
            0.43917241924307443,
        ],
    ),
    (
        "PG, split",
        [
            44.97607027616939,
            41.5152758327154,
            47.757040952753215,
            44.60316927265949,
        ],
    ),
    (
        "truncated, wide",
        [
            -0.7352731925128884,
            -0.39596542427838066,
            0.6999126021867819,
            -0.8677161046007441,
        ],
    ),
    (
        "truncated, tail",
        [
            9.102480217579602,
            9.053061327578122,
            9.016748254204533,
            9.022239861921166,
        ],
    ),
    (
        "truncated, narrow",
        [
            -0.9399271397581208,
            -0.49259140635966037,
            0.8017175684680742,
            -0.7186151763467963,
        ],
    ),
    (
        "Dirichlet",
        [
            0.1568503838324728,
            0.43836553624587626,
            0.40478407992163856,
            1.233061052911362e-14,
        ],
    ),
    (
        "precision factor",
        [
            0.30264694461027963,
            -0.12101381816457853,
            -1.0660126563744479,
            -0.4855733040573308,
        ],
    ),
];
