//! Colours that survive colour-blind eyes, grey printers and dark screens.

/// Number of categories that get a colour and a marker of their own.
pub(crate) const CATEGORIES: usize = 8;
/// Steps of the sequential scale used for points.
pub(crate) const STEPS: usize = 16;

/// A colour in sRGB.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rgb(pub u8, pub u8, pub u8);

impl Rgb {
    /// `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.0, self.1, self.2)
    }

    /// Relative luminance of WCAG 2, 0 (black) to 1 (white).
    pub fn luminance(self) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(self.0) + 0.7152 * linear(self.1) + 0.0722 * linear(self.2)
    }

    /// Class of the text that reads best on this colour.
    pub fn text_class(self) -> &'static str {
        if self.luminance() > 0.18 { "k" } else { "w" }
    }
}

/// Okabe and Ito's eight colours for light paper. Yellow is darkened: the original vanishes on white.
pub(crate) const CATEGORY_LIGHT: [Rgb; CATEGORIES] = [
    Rgb(0x00, 0x72, 0xB2),
    Rgb(0xD5, 0x5E, 0x00),
    Rgb(0x00, 0x9E, 0x73),
    Rgb(0xCC, 0x79, 0xA7),
    Rgb(0xE6, 0x9F, 0x00),
    Rgb(0x56, 0xB4, 0xE9),
    Rgb(0x11, 0x11, 0x11),
    Rgb(0xB3, 0xA4, 0x00),
];

/// The same eight for dark screens: blue lightened, black turned to near-white.
pub(crate) const CATEGORY_DARK: [Rgb; CATEGORIES] = [
    Rgb(0x3D, 0x9B, 0xDC),
    Rgb(0xEE, 0x7A, 0x22),
    Rgb(0x14, 0xB8, 0x8A),
    Rgb(0xDB, 0x8F, 0xBA),
    Rgb(0xF0, 0xB0, 0x20),
    Rgb(0x9A, 0xD4, 0xF7),
    Rgb(0xF2, 0xF2, 0xF2),
    Rgb(0xF0, 0xE4, 0x42),
];

/// Viridis (van der Walt and Smith, CC0) at nine equal steps.
const VIRIDIS: [Rgb; 9] = [
    Rgb(0x44, 0x01, 0x54),
    Rgb(0x47, 0x2D, 0x7B),
    Rgb(0x3B, 0x52, 0x8B),
    Rgb(0x2C, 0x72, 0x8E),
    Rgb(0x21, 0x91, 0x8C),
    Rgb(0x28, 0xAE, 0x80),
    Rgb(0x5E, 0xC9, 0x62),
    Rgb(0xAD, 0xDC, 0x30),
    Rgb(0xFD, 0xE7, 0x25),
];

/// Cividis (Nunez, Anderton and Renslow) at nine equal steps.
const CIVIDIS: [Rgb; 9] = [
    Rgb(0x00, 0x22, 0x4E),
    Rgb(0x1A, 0x38, 0x6F),
    Rgb(0x43, 0x4E, 0x6C),
    Rgb(0x61, 0x65, 0x70),
    Rgb(0x7D, 0x7C, 0x78),
    Rgb(0x9B, 0x94, 0x76),
    Rgb(0xBC, 0xAF, 0x6F),
    Rgb(0xDE, 0xCB, 0x5F),
    Rgb(0xFE, 0xE8, 0x38),
];

/// Orange over white to blue, built on the two strongest colours of the category palette.
const DIVERGING: [Rgb; 9] = [
    Rgb(0x6B, 0x28, 0x00),
    Rgb(0xB0, 0x4A, 0x00),
    Rgb(0xE0, 0x7B, 0x2A),
    Rgb(0xF5, 0xC3, 0x9A),
    Rgb(0xFA, 0xFA, 0xFA),
    Rgb(0xAE, 0xD0, 0xEA),
    Rgb(0x56, 0xA0, 0xD3),
    Rgb(0x0A, 0x6A, 0xA8),
    Rgb(0x02, 0x38, 0x60),
];

/// Viridis at `t` in 0 to 1.
pub(crate) fn viridis(t: f64) -> Rgb {
    interpolate(&VIRIDIS, t)
}

/// Cividis at `t` in 0 to 1, light for much.
pub(crate) fn cividis(t: f64) -> Rgb {
    interpolate(&CIVIDIS, t)
}

/// Diverging colour at `t` in -1 to 1: orange below 0, near-white at 0, blue above.
pub(crate) fn diverging(t: f64) -> Rgb {
    interpolate(&DIVERGING, f64::midpoint(t.clamp(-1.0, 1.0), 1.0))
}

/// Step of the sequential point scale for `t` in 0 to 1.
pub(crate) fn step_of(t: f64) -> usize {
    ((t.clamp(0.0, 1.0) * STEPS as f64) as usize).min(STEPS - 1)
}

/// Colour of a step of the point scale on light paper: viridis without its palest end.
pub(crate) fn step_light(step: usize) -> Rgb {
    viridis(0.92 * step as f64 / (STEPS - 1) as f64)
}

/// Colour of a step on a dark screen: viridis without its darkest end.
pub(crate) fn step_dark(step: usize) -> Rgb {
    viridis(0.26 + 0.74 * step as f64 / (STEPS - 1) as f64)
}

fn interpolate(stops: &[Rgb; 9], t: f64) -> Rgb {
    let t = if t.is_nan() { 0.0 } else { t.clamp(0.0, 1.0) } * 8.0;
    let i = (t.floor() as usize).min(7);
    let share = t - i as f64;
    let (a, b) = (stops[i], stops[i + 1]);
    let mix = |p: u8, q: u8| (f64::from(p) + share * (f64::from(q) - f64::from(p))).round() as u8;
    Rgb(mix(a.0, b.0), mix(a.1, b.1), mix(a.2, b.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequential_scales_grow_lighter() {
        for scale in [viridis, cividis] {
            let steps: Vec<f64> = (0..=32)
                .map(|i| scale(f64::from(i) / 32.0).luminance())
                .collect();
            assert!(steps.windows(2).all(|w| w[1] > w[0]), "{steps:?}");
        }
    }

    #[test]
    fn diverging_is_palest_at_zero_and_even_on_both_sides() {
        assert_eq!(diverging(0.0), Rgb(0xFA, 0xFA, 0xFA));
        for i in 1..=8 {
            let t = f64::from(i) / 8.0;
            let (below, above) = (diverging(-t).luminance(), diverging(t).luminance());
            assert!((below - above).abs() < 0.09, "{t}: {below} {above}");
            assert!(below < diverging(-t + 0.125).luminance());
            assert!(above < diverging(t - 0.125).luminance());
        }
        assert_eq!(diverging(f64::NAN).hex().len(), 7);
    }

    #[test]
    fn cell_text_has_contrast() {
        for i in 0..=40 {
            for colour in [
                diverging(f64::from(i) / 20.0 - 1.0),
                cividis(f64::from(i) / 40.0),
            ] {
                let l = colour.luminance();
                let contrast = if colour.text_class() == "k" {
                    (l + 0.05) / 0.056
                } else {
                    1.05 / (l + 0.05)
                };
                assert!(contrast >= 4.0, "{} {contrast}", colour.hex());
            }
        }
    }

    #[test]
    fn categories_stand_out_from_their_ground() {
        for c in CATEGORY_LIGHT {
            assert!(1.05 / (c.luminance() + 0.05) >= 2.1, "{}", c.hex());
        }
        for c in CATEGORY_DARK {
            assert!((c.luminance() + 0.05) / 0.06 >= 4.5, "{}", c.hex());
        }
    }
}
