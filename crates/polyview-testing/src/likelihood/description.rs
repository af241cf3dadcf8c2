//! Name, words and options.

use polyview_core::{LikelihoodSpecies, OptionError, Options};

use super::Finding;

/// An option that no likelihood has.
const UNKNOWN: &str = "an-option-that-there-is-not=1";

fn is_kebab(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain)
}

pub(super) fn findings(species: &dyn LikelihoodSpecies, chosen: &Options) -> Vec<Finding> {
    let mut out = Vec::new();
    let mut wrong = |what: String| out.push(Finding::Description(what));
    for name in std::iter::once(species.name()).chain(species.aliases().iter().copied()) {
        if !is_kebab(name) {
            wrong(format!(
                "the name '{name}' is not in kebab case (lower-case-words)"
            ));
        }
    }
    if species.aliases().contains(&species.name()) {
        wrong("an alias is its name".to_owned());
    }
    let about = species.about();
    if about.line.is_empty() || about.line.ends_with('.') || about.line.contains('\n') {
        wrong(format!(
            "'{}' is not one line without a full stop",
            about.line
        ));
    }
    if about.needs.is_empty() {
        wrong("it does not say what its data must be (About::needs)".to_owned());
    }
    let defaults = species.defaults();
    let described: Vec<&str> = about.options.iter().map(|o| o.0).collect();
    for name in defaults.names().filter(|n| !described.contains(n)) {
        wrong(format!("the option '{name}' is not described in `about`"));
    }
    for name in described
        .iter()
        .filter(|n| !defaults.names().any(|d| d == **n))
    {
        wrong(format!("the option '{name}' has no default"));
    }
    let unknown = Options::parse(UNKNOWN).and_then(|o| o.over(&defaults));
    if !matches!(unknown, Err(OptionError::Unknown { .. })) {
        wrong("it takes options that there are not".to_owned());
    }
    for options in [&Options::new(), chosen] {
        let checked = options.over(&defaults).and_then(|o| species.check(&o));
        if let Err(error) = checked {
            out.push(Finding::Options(error));
        }
    }
    out
}
