use std::any::TypeId;

use clap::{Arg, ArgAction, CommandFactory};
use polyview::{ChooseKOptions, EngineKind, ModelSpec, models};

use super::Cli;

/// Options of every verb, with the verb's name.
fn options() -> Vec<(String, Arg)> {
    let mut all = Vec::new();
    let mut cli = Cli::command();
    cli.build();
    for verb in cli.get_subcommands() {
        for arg in verb.get_arguments().filter(|a| a.get_long().is_some()) {
            all.push((format!("{} {arg}", verb.get_name()), arg.clone()));
        }
    }
    all
}

fn help(arg: &Arg) -> String {
    let text = arg.get_long_help().or(arg.get_help());
    text.map(ToString::to_string).unwrap_or_default()
}

/// What is said to hold where an option of `fit` is not given.
fn said(option: &str) -> String {
    let fit = Cli::command();
    let fit = fit.find_subcommand("fit").expect("fit");
    let arg = fit
        .get_arguments()
        .find(|a| a.get_long() == Some(option))
        .unwrap_or_else(|| panic!("no --{option}"));
    let text = help(arg);
    let (_, rest) = text
        .split_once("[default: ")
        .unwrap_or_else(|| panic!("--{option}: {text}"));
    rest.split(']').next().expect("an end").to_owned()
}

#[test]
fn every_option_has_a_heading() {
    for (name, arg) in options() {
        assert!(arg.get_help_heading().is_some(), "{name}");
    }
}

/// What is written goes under the heading of what is written, whichever options
/// come before it.
#[test]
fn outputs_stand_together() {
    for (name, arg) in options() {
        if matches!(
            arg.get_long(),
            Some("out" | "force" | "out-dir" | "lower" | "level")
        ) {
            let heading = arg.get_help_heading().expect("a heading");
            // those of a score are read
            let read = name.starts_with("score") && heading == "Predictions";
            assert!(heading == "Output" || read, "{name}: {heading}");
        }
    }
}

#[test]
fn every_choice_says_its_default() {
    for (name, arg) in options() {
        let switch = !arg.get_action().takes_values();
        let repeated = matches!(arg.get_action(), ArgAction::Append);
        let names = arg.get_value_names().unwrap_or_default();
        // without these nothing is read, written or shown
        let place = names.iter().any(|n| {
            let words = [
                "FILE",
                "FOLDER",
                "MODEL",
                "COLUMN",
                "REPLICATES",
                "FORMAT",
                "WORD",
            ];
            words.iter().any(|w| n.ends_with(w))
        });
        if switch || repeated || place || arg.is_required_set() {
            continue;
        }
        let has = !arg.get_default_values().is_empty() || help(&arg).contains("[default: ");
        assert!(has, "{name} does not say its default");
    }
}

#[test]
fn the_defaults_that_are_said_hold() {
    let all = ModelSpec::default();
    let choose = ChooseKOptions::default();
    for (option, value) in [
        ("model", all.model.clone()),
        ("seed", all.seed.to_string()),
        ("max-sweeps", all.vb.max_sweeps.to_string()),
        ("chains", all.gibbs.chains.to_string()),
        ("warm-up", all.gibbs.warm_up.to_string()),
        ("sweeps", all.gibbs.sweeps.to_string()),
        ("thin", all.gibbs.thin.to_string()),
        ("batch", all.stochastic.batch.to_string()),
        ("epochs", all.stochastic.epochs.to_string()),
        ("learning-rate", all.stochastic.learning_rate.to_string()),
        ("forgetting", all.stochastic.forgetting.to_string()),
        ("exact-sweeps", all.stochastic.exact_sweeps.to_string()),
    ] {
        assert_eq!(said(option), value, "--{option}");
    }
    assert_eq!(all.offered_factors(4 * all.factors + 4), all.factors + 1);
    let (few, mofa) = (
        all.factors,
        models::preset("mofa").expect("a preset").factors,
    );
    assert_eq!(
        said("factors"),
        format!(
            "one for every four samples, at least {few} (mofa {mofa}) and at most {}; but just these {few} (mofa \
             {mofa}) where a view is of labels, classes or ranks, with mofapy2, and with --engine gibbs without \
             --polish; {} with a kernel; and no more than the data carry",
            all.offered_factors(1_000_000),
            crate::study::KERNEL_FACTORS
        )
    );
    let offered = |spec: &ModelSpec| spec.offered_factors(160);
    for (preset, likelihood, gibbs, factors) in [
        ("sshiba", "gaussian", false, 40),
        ("sshiba", "bernoulli", false, few),
        ("sshiba", "categorical", false, few),
        ("sshiba", "ordinal", false, 40),
        ("mofa", "gaussian", false, 40),
        ("mofa", "bernoulli", false, mofa),
        ("sshiba", "poisson", false, 40),
        ("sshiba", "gaussian", true, few),
        ("rank", "rank", false, few),
        ("mofapy2", "gaussian", false, few),
    ] {
        let mut spec = models::preset(preset).expect("a preset");
        spec = spec.with_likelihood("y", likelihood);
        if gibbs {
            spec.engine = EngineKind::Gibbs;
        }
        assert_eq!(offered(&spec), factors, "{preset}, {likelihood}");
    }
    assert_eq!(
        said("restarts"),
        format!(
            "{}; of choose-k {}, which compares them",
            all.restarts, choose.restarts
        )
    );
    let of = |name: &str| models::preset(name).expect("a preset");
    assert_eq!(
        said("tolerance"),
        format!(
            "{:e}; with rank {:e}",
            all.vb.tolerance,
            of("rank").vb.tolerance
        )
    );
    let word = |value: serde_json::Value| value.as_str().expect("a word").to_owned();
    let json = |name: &str, key: &str| {
        let spec = serde_json::to_value(of(name)).expect("JSON");
        word(spec.pointer(key).unwrap_or_else(|| panic!("{key}")).clone())
    };
    let first_alone = [
        ("noise", "/defaults/noise"),
        ("centring", "/defaults/centring"),
        ("missing", "/missing"),
        ("factor-prior", "/factor-prior"),
        ("engine", "/engine"),
        ("start", "/start"),
        ("path", "/path"),
        ("join", "/join"),
    ];
    for (option, key) in first_alone {
        for name in models::PRESETS {
            assert_eq!(said(option), json(name, key), "--{option} of {name}");
        }
    }
    let scaling = said("scaling");
    for (name, words) in [
        ("bibfa", "feature;"),
        ("mofa", "with mofa view"),
        ("mofapy2", "with mofapy2 none"),
    ] {
        assert!(scaling.contains(words), "{scaling}");
        assert!(words.contains(&json(name, "/defaults/scaling")));
    }
    for name in ["sshiba", "rank"] {
        assert_eq!(json(name, "/defaults/scaling"), "feature");
    }
    let weights = said("weights");
    for (name, stored, words) in [
        ("bibfa", "none", "ard;"),
        ("sshiba", "none", "ard;"),
        ("mofa", "spike-and-slab", "with mofa and mofapy2 spike-slab"),
        (
            "mofapy2",
            "spike-and-slab",
            "with mofa and mofapy2 spike-slab",
        ),
        ("rank", "horseshoe", "with rank horseshoe"),
    ] {
        assert_eq!(json(name, "/defaults/selection"), stored, "{name}");
        assert!(weights.contains(words), "{weights}");
    }
}

/// A minus begins a number here, never an unknown option.
#[test]
fn numbers_may_begin_with_a_minus() {
    let numeric = [
        TypeId::of::<usize>(),
        TypeId::of::<u64>(),
        TypeId::of::<u32>(),
        TypeId::of::<f64>(),
    ];
    let mut count = 0;
    for (name, arg) in options() {
        let of = arg.get_value_parser().type_id();
        if numeric.iter().any(|n| of == *n) {
            count += 1;
            // an exponent may have a minus of its own, which only the second takes
            let taken = arg.is_allow_negative_numbers_set() || arg.is_allow_hyphen_values_set();
            assert!(taken, "{name}");
        }
    }
    assert!(count > 40, "{count}");
}

/// Text below the options is wrapped to the terminal: lines that are broken by hand as well come out ragged.
#[test]
fn texts_after_options_are_not_wrapped_by_hand() {
    let mut cli = Cli::command();
    cli.build();
    for verb in cli.get_subcommands() {
        let text = verb.get_after_help().map(ToString::to_string);
        let text = text.unwrap_or_default();
        for (line, next) in text.lines().zip(text.lines().skip(1)) {
            let sentence = |l: &str| !l.is_empty() && !l.starts_with(' ');
            let ends = line.ends_with([':', '.']);
            assert!(
                !(sentence(line) && sentence(next)) || ends,
                "{}: {line}\n{next}",
                verb.get_name()
            );
        }
    }
}
