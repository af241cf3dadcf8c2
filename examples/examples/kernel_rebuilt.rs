//! A kernel and what factors make of it.
//!
//! Images of digits by their similarities (an RBF kernel against all of them), with the digit as a second view. The rows
//! of a kernel are taken as data, and nothing says that what factors and weights make of them is a kernel again: one
//! sees how much of it a number of factors rebuilds, how far the rebuilt one is from a symmetric matrix, and how far its
//! least eigenvalue lies below zero (figure 4.6 of the thesis of kernel SSHIBA, spec/thesis 7.1). Then thirty of the
//! images, three of each digit, by the kernel on the left and the rebuilt one on the right, dark where two are alike.
#![allow(clippy::print_stdout)]

use std::error::Error;

use polyview::{Fit, models};
use polyview_core::Table;
use polyview_datasets::{digits_labels, digits_tables};
use polyview_examples::{dataset, rows, shades};
use polyview_linalg::{Mat, sym_eigen, times_small};

/// The kernel as the fit saw it, images × images, about its centre.
fn seen(fit: &Fit, pixels: &Table) -> Result<Mat<f64>, Box<dyn Error>> {
    let map = fit.view("pix")?.1.kernel.as_ref().ok_or("no kernel")?;
    Ok(map.apply(pixels)?.values)
}

/// What factors and weights make of it.
fn rebuilt(fit: &Fit) -> Result<Mat<f64>, Box<dyn Error>> {
    let (factors, weights) = (fit.factors()?.mean, fit.weights("pix")?.mean);
    let intercepts = fit.intercepts("pix")?;
    let scaling = &fit.view("pix")?.1.scaling;
    let product = times_small(factors.as_ref(), weights.transpose());
    Ok(Mat::from_fn(product.nrows(), product.ncols(), |n, d| {
        scaling.backward(d, product[(n, d)] + intercepts.mean[(d, 0)])
    }))
}

/// Share of the squares that is rebuilt, the part that is not symmetric as a share of the squares, and the least
/// eigenvalue as a share of the largest.
fn quality(kernel: &Mat<f64>, rebuilt: &Mat<f64>) -> Result<[f64; 3], Box<dyn Error>> {
    let squares = |of: &dyn Fn(usize, usize) -> f64| -> f64 {
        let n = kernel.nrows();
        (0..n)
            .flat_map(|j| (0..n).map(move |i| (i, j)))
            .map(|(i, j)| of(i, j).powi(2))
            .sum()
    };
    let errors = squares(&|i, j| kernel[(i, j)] - rebuilt[(i, j)]);
    let skew = squares(&|i, j| 0.5 * (rebuilt[(i, j)] - rebuilt[(j, i)]));
    let symmetric = Mat::from_fn(kernel.nrows(), kernel.ncols(), |i, j| {
        0.5 * (rebuilt[(i, j)] + rebuilt[(j, i)])
    });
    let (values, _) = sym_eigen(symmetric.as_ref())?;
    let least = values.first().copied().unwrap_or(0.0).min(0.0);
    let most = values.last().copied().unwrap_or(1.0);
    Ok([
        1.0 - errors / squares(&|i, j| kernel[(i, j)]),
        skew / squares(&|i, j| rebuilt[(i, j)]),
        -least / most,
    ])
}

fn main() -> Result<(), Box<dyn Error>> {
    let pixels = (digits_tables().into_iter())
        .find(|t| t.name == "pix")
        .ok_or("no pixels")?;
    let digit = digits_labels().remove(0).to_codes();
    // two hundred images, twenty of each digit in turn
    let some: Vec<usize> = (0..2000).step_by(10).collect();
    let (pixels, digit) = (rows(&pixels, &some), rows(&digit, &some));

    println!("factors  rebuilt  not symmetric  below zero");
    let mut last = None;
    for factors in [2, 5, 10, 20, 40] {
        let mut spec = models::sshiba(factors)
            .with_likelihood("digit", "categorical")
            .with_kernel("pix", "rbf{width=median}".parse()?);
        spec.vb.max_sweeps = 200;
        let fit = polyview::fit(dataset([pixels.clone(), digit.clone()])?, spec)?;
        let (kernel, own) = (seen(&fit, &pixels)?, rebuilt(&fit)?);
        let [share, skew, below] = quality(&kernel, &own)?;
        println!(
            "{:7}  {:6.1} %  {:11.3} %  {:8.3} %",
            fit.k(),
            100.0 * share,
            100.0 * skew,
            100.0 * below
        );
        last = Some((kernel, own));
    }
    let Some((kernel, own)) = last else {
        return Ok(());
    };

    let of_digit = |d: usize| (0..200).filter(move |n| n * 10 / 200 == d).take(3);
    let shown: Vec<usize> = (0..10).flat_map(of_digit).collect();
    let part = |of: &Mat<f64>| Mat::from_fn(30, 30, |i, j| of[(shown[i], shown[j])]);
    let (left, right) = (shades(&part(&kernel)), shades(&part(&own)));
    for (a, b) in left.iter().zip(&right) {
        println!("|{a}|  |{b}|");
    }
    Ok(())
}
