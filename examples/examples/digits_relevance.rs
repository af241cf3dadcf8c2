//! Which pixels tell handwritten digits apart.
//!
//! Images of 16 × 15 pixels and the digit each of them shows, with a relevance
//! learnt for each pixel. One sees the mask: the middle, where strokes differ
//! between digits, in dark signs; corners, where there never is ink, left
//! blank. Then the same model with the better half of the pixels alone, which
//! is a little worse only. A file name ending in `.svg` on the command line saves the
//! mask as an image.
#![allow(clippy::print_stdout)]

use std::error::Error;

use polyview::{Fit, Selection, models};
use polyview_core::Table;
use polyview_datasets::{digits_labels, digits_tables};
use polyview_examples::{dataset, rows, save_mask, shades};
use polyview_linalg::Mat;

const SHAPE: [usize; 2] = [16, 15];

/// Share of digits read right.
fn accuracy(fit: &Fit, pixels: &Table, digit: &Table) -> Result<f64, Box<dyn Error>> {
    let p = fit.predict(&dataset([pixels.clone()])?, "digit")?;
    let truth = digit.values.col_as_slice(0);
    let right = p
        .classes()
        .iter()
        .zip(truth)
        .filter(|(c, t)| **c as f64 == **t)
        .count();
    Ok(right as f64 / truth.len() as f64)
}

fn main() -> Result<(), Box<dyn Error>> {
    let pixels = digits_tables()
        .into_iter()
        .find(|t| t.name == "pix")
        .ok_or("no pixels")?;
    let digit = digits_labels().remove(0).to_codes();
    let every = |from: usize| -> Vec<usize> { (from..2000).step_by(8).collect() };
    let (train, test) = (every(0), every(1));

    let mut spec = models::sshiba(12).with_likelihood("digit", "categorical");
    let mut choices = spec.view("pix");
    choices.selection = "relevance".into();
    // corners are constant: one scale for all pixels leaves them so
    choices.scaling = polyview_core::FeatureScaling::View;
    spec = spec.with_view("pix", choices);
    spec.vb.max_sweeps = 100;
    let data = dataset([rows(&pixels, &train), rows(&digit, &train)])?;
    let fit = polyview::fit(data.clone(), spec)?;

    let relevance = fit.relevance("pix")?;
    let image = Mat::from_fn(SHAPE[0], SHAPE[1], |i, j| relevance[i * SHAPE[1] + j]);
    for line in shades(&image) {
        println!("|{line}|");
    }
    let (test_pixels, test_digit) = (rows(&pixels, &test), rows(&digit, &test));
    println!(
        "all 240 pixels: {:.1} % of {} digits read right",
        100.0 * accuracy(&fit, &test_pixels, &test_digit)?,
        test.len()
    );
    let half = fit.refit(&data, &[("pix", Selection::Share(0.5))])?;
    println!(
        "the 120 most relevant: {:.1} %",
        100.0 * accuracy(&half, &test_pixels, &test_digit)?
    );
    save_mask(pixels.features, relevance, SHAPE)
}
