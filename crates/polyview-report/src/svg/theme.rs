//! The stylesheet of the pictures, for a page with custom properties or for a picture on its own.

use super::palette::{CATEGORIES, CATEGORY_DARK, CATEGORY_LIGHT, STEPS, step_dark, step_light};
use std::fmt::Write as _;

/// Inks that change between light paper and dark screens: name, light, dark.
const INKS: [(&str, &str, &str); 7] = [
    ("paper", "#ffffff", "#16191e"),
    ("ink", "#1b1b1b", "#e9e7e2"),
    ("muted", "#5c6166", "#a7acb4"),
    ("axis", "#55595e", "#878d96"),
    ("faint", "#c9ccd0", "#4b515a"),
    ("rule", "#e3e4e6", "#30353d"),
    ("wash", "#f5f5f3", "#20242a"),
];

/// Ground on which a palette is to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ground {
    Light,
    Dark,
}

/// Declarations `--name:colour;` of every colour, for a `:root` rule.
pub(crate) fn properties(ground: Ground) -> String {
    let mut out = String::new();
    for (name, light, dark) in INKS {
        let colour = if ground == Ground::Light { light } else { dark };
        let _ = write!(out, "--{name}:{colour};");
    }
    for i in 0..CATEGORIES {
        let colour = if ground == Ground::Light {
            CATEGORY_LIGHT[i]
        } else {
            CATEGORY_DARK[i]
        };
        let _ = write!(out, "--c{i}:{};", colour.hex());
    }
    for i in 0..STEPS {
        let colour = if ground == Ground::Light {
            step_light(i)
        } else {
            step_dark(i)
        };
        let _ = write!(out, "--q{i}:{};", colour.hex());
    }
    out
}

/// Rules for `svg.pv` that read the custom properties of the page.
pub(crate) fn page_rules() -> String {
    rules(|name| format!("var(--{name})"))
}

/// Rules for one picture in a file of its own: light colours, spelt out.
pub(crate) fn standalone_rules() -> String {
    rules(light)
}

fn light(name: &str) -> String {
    if let Some((_, colour, _)) = INKS.iter().find(|(n, _, _)| *n == name) {
        return (*colour).to_owned();
    }
    let index = name
        .get(1..)
        .and_then(|digits| digits.parse::<usize>().ok())
        .unwrap_or(0);
    if name.starts_with('q') {
        step_light(index.min(STEPS - 1)).hex()
    } else {
        CATEGORY_LIGHT[index.min(CATEGORIES - 1)].hex()
    }
}

fn rules(colour: impl Fn(&str) -> String) -> String {
    let [paper, ink, muted, axis, faint, rule, wash] = INKS.map(|(name, _, _)| name).map(&colour);
    let mut css = format!(
        ".pv text{{font-family:\"Helvetica Neue\",Helvetica,Arial,\"Liberation Sans\",sans-serif;\
         font-size:11px;fill:{ink};unicode-bidi:isolate}}\
         .pv .m{{fill:{muted}}}.pv .s{{font-size:10px}}.pv .b{{font-size:12.5px;font-weight:600}}\
         .pv .k{{fill:#111}}.pv .w{{fill:#fff}}.pv .t{{font-variant-numeric:tabular-nums}}\
         .pv .ax{{stroke:{axis};fill:none}}.pv .g{{stroke:{rule};fill:none}}\
         .pv .z{{stroke:{axis};stroke-dasharray:4 3;fill:none}}\
         .pv .o{{stroke:{rule};fill:{wash}}}.pv .q{{stroke:{faint};fill:{wash}}}.pv .p{{fill:{paper}}}.pv .r{{fill:{rule}}}.pv .i{{fill:{ink}}}\
         .pv .j{{stroke:{ink};fill:none}}\
         .pv .f{{fill:currentColor}}.pv .l{{stroke:currentColor;fill:none;stroke-width:1.6;\
         stroke-linejoin:round;stroke-linecap:round}}\
         .pv .d{{stroke:currentColor;fill:none;stroke-width:5;stroke-linecap:round}}\
         .pv .x{{stroke:currentColor;fill:none;stroke-width:1.7}}\
         .pv .e{{stroke:currentColor;fill:none;opacity:.55}}.pv .v{{opacity:.3}}.pv .a{{opacity:.6}}\
         .pv .h{{stroke-width:3.4}}.pv .u{{stroke-width:1;opacity:.85}}\
         .pv .n{{color:{muted}}}.pv .y0{{color:{faint}}}.pv .y1{{color:{ink}}}.pv .y2{{stroke-width:2.2}}"
    );
    for i in 0..CATEGORIES {
        let _ = write!(css, ".pv .c{i}{{color:{}}}", colour(&format!("c{i}")));
    }
    for i in 0..STEPS {
        let _ = write!(css, ".pv .q{i}{{color:{}}}", colour(&format!("q{i}")));
    }
    css
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standalone_rules_need_no_page() {
        let css = standalone_rules();
        assert!(!css.contains("var("));
        assert!(css.contains("#1b1b1b") && css.contains(&CATEGORY_LIGHT[7].hex()));
    }

    #[test]
    fn page_rules_use_only_declared_properties() {
        let declared = properties(Ground::Light);
        for use_ in page_rules().split("var(").skip(1) {
            let name = use_.split(')').next().unwrap_or_default();
            assert!(declared.contains(&format!("{name}:")), "{name}");
        }
        assert_ne!(declared, properties(Ground::Dark));
    }
}
