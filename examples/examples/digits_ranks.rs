//! Two digits apart: the seven discriminative models on 3 against 5.
//!
//! Pixels of the handwritten digits that come with polyview; half of the threes
//! and fives to train, the rest to test. Each model is a line of choices: how
//! data enter (numbers or ranks), how labels arise (probit or support vector
//! machine), one classifier or a mixture of local ones.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::time::Instant;

use polyview::metrics;
use polyview::models::Table1;
use polyview_core::Table;
use polyview_datasets::{digits_labels, digits_tables};
use polyview_examples::{dataset, rows};
use polyview_linalg::Mat;

fn main() -> Result<(), Box<dyn Error>> {
    let pixels = digits_tables()
        .into_iter()
        .find(|t| t.name == "pix")
        .ok_or("the digits have pixels")?;
    let labels = digits_labels();
    let digit: Vec<&str> = labels
        .first()
        .ok_or("the digits have names")?
        .words()
        .collect();
    let wanted: Vec<usize> = (0..digit.len())
        .filter(|&n| digit[n] == "3" || digit[n] == "5")
        .collect();
    let label = Table {
        name: "digit".to_owned(),
        features: vec!["digit".to_owned()],
        values: Mat::from_fn(digit.len(), 1, |n, _| f64::from(u8::from(digit[n] == "5"))),
        levels: Vec::new(),
        samples: pixels.samples.clone(),
    };
    let part = |odd: usize| -> Vec<usize> {
        let of = wanted.iter().enumerate();
        of.filter(|(i, _)| i % 2 == odd).map(|(_, n)| *n).collect()
    };
    let (train, test) = (part(0), part(1));
    println!(
        "3 against 5: {} to train, {} to test",
        train.len(),
        test.len()
    );
    for model in Table1::ALL {
        let clock = Instant::now();
        let mut spec = model.spec(20, &["digit"]);
        spec.vb.max_sweeps = 100;
        let fit = polyview::fit(
            dataset([rows(&pixels, &train), rows(&label, &train)])?,
            spec,
        )?;
        let p = fit.predict(&dataset([rows(&pixels, &test)])?, "digit")?;
        let score = p.score.ok_or("labels have scores")?;
        let truth: Vec<bool> = test.iter().map(|&n| label.values[(n, 0)] > 0.5).collect();
        let wrong = (0..test.len())
            .filter(|&i| (score[(i, 0)] > 0.0) != truth[i])
            .count();
        println!(
            "  {:<12} {:5.2} % wrong, AUC {:.4}, {:5.1} s",
            model.name(),
            100.0 * wrong as f64 / test.len() as f64,
            metrics::auc(&truth, score.col_as_slice(0))?.unwrap_or(f64::NAN),
            clock.elapsed().as_secs_f64()
        );
    }
    Ok(())
}
