//! Which pixels a kernel that tells digits apart looks at.
//!
//! Images of 16 × 15 pixels by their similarities, with a width of its own for each pixel (`rbf{ard=true}`), learnt by how well
//! other images' digits are predicted (figure 4.10 of the thesis of kernel SSHIBA; spec/thesis 7.3). One sees the mask:
//! pixels that count much in dark signs, those that count next to nothing left blank. Nothing is cut, as the relevances of a
//! kernel shrink features without ever removing them: so the same kernel without the mask is beside it, and both read digits
//! that they have not seen. A file name ending in `.svg` on the command line saves the mask as an image.
#![allow(clippy::print_stdout)]

use std::error::Error;

use polyview::{Fit, models};
use polyview_core::Table;
use polyview_datasets::{digits_labels, digits_tables};
use polyview_examples::{dataset, rows, save_mask, shades};
use polyview_linalg::Mat;

const SHAPE: [usize; 2] = [16, 15];

/// Share of digits read right, and the log loss.
fn quality(fit: &Fit, pixels: &Table, digit: &Table) -> Result<(f64, f64), Box<dyn Error>> {
    let p = fit.predict(&dataset([pixels.clone()])?, "digit")?;
    let truth: Vec<usize> = (digit.values.col_as_slice(0).iter())
        .map(|c| *c as usize)
        .collect();
    let n = truth.len() as f64;
    let classes = p.classes();
    let right = classes.iter().zip(&truth).filter(|(a, b)| a == b);
    let right = right.count() as f64 / n;
    let loss: f64 = (truth.iter().enumerate())
        .map(|(n, c)| -p.mean[(n, *c)].ln())
        .sum();
    Ok((right, loss / n))
}

fn main() -> Result<(), Box<dyn Error>> {
    let pixels = (digits_tables().into_iter())
        .find(|t| t.name == "pix")
        .ok_or("no pixels")?;
    let digit = digits_labels().remove(0).to_codes();
    let every = |from: usize| -> Vec<usize> { (from..2000).step_by(8).collect() };
    let (train, test) = (every(0), every(1));

    let mut mask = None;
    for kernel in ["rbf", "rbf{ard=true}"] {
        let mut spec = models::sshiba(20)
            .with_likelihood("digit", "categorical")
            .with_kernel("pix", kernel.parse()?);
        spec.vb.max_sweeps = 200;
        let data = dataset([rows(&pixels, &train), rows(&digit, &train)])?;
        let fit = polyview::fit(data, spec)?;
        let (right, loss) = quality(&fit, &rows(&pixels, &test), &rows(&digit, &test))?;
        println!(
            "{kernel}: {:.1} % of {} digits read right, log loss {loss:.3}",
            100.0 * right,
            test.len()
        );
        if let Some(found) = fit.view("pix")?.1.kernel_relevances() {
            let of = |feature: &String| found.iter().find(|f| f.0 == feature).map(|f| f.1);
            mask = pixels.features.iter().map(of).collect::<Option<Vec<f64>>>();
        }
    }
    let relevance = mask.ok_or("no relevances")?;
    let most = relevance.iter().copied().fold(0.0, f64::max);
    let near = relevance.iter().filter(|r| **r > 0.5 * most).count();
    println!(
        "{near} of {} pixels count at least half as much as the one that counts most",
        relevance.len()
    );
    let image = Mat::from_fn(SHAPE[0], SHAPE[1], |i, j| relevance[i * SHAPE[1] + j]);
    for line in shades(&image) {
        println!("|{line}|");
    }
    save_mask(pixels.features, relevance, SHAPE)
}
