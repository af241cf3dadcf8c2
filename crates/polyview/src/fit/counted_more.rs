//! Views that count more than once.

use polyview_core::{Event, Journal};

use super::ViewInfo;

/// Warns of a view of several features, no labels, whose cells count more than once: so does what each cell varies by itself, and the fit takes what is there twice
/// for something that features or samples share. With as many factors as it may have it repeats the view.
pub(super) fn note_weight(info: &ViewInfo, journal: &mut Journal) {
    let likelihood = &info.choices.likelihood;
    let several = info.features.len() > 1 && !likelihood.is_label() && !likelihood.has_classes();
    let Some(weight) = info.choices.weight.filter(|w| *w > 1.0 && several) else {
        return;
    };
    let note = format!(
        "each cell counts {weight} times, and so does what it varies by itself, which looks like something that features share then: \
         factors may repeat single features, and other views are predicted worse; a weight above 1 is meant for labels and classes, and \
         'polyview cross-validate' says whether it helps"
    );
    journal.note(0, format!("data/{}", info.name), Event::Warning { note });
}

#[cfg(test)]
mod tests {
    use polyview_core::{Dataset, Table};
    use polyview_linalg::Mat;

    use crate::models;

    /// Numbers that count twice are warned of; numbers that count less, and labels that count five times, are not.
    #[test]
    fn numbers_that_count_more_are_warned_of() {
        let table = |name: &str, labels: bool| Table {
            name: name.into(),
            samples: (0..30).map(|n| n.to_string()).collect(),
            features: (0..4).map(|d| format!("{name}{d}")).collect(),
            levels: Vec::new(),
            values: Mat::from_fn(30, 4, |n, d| {
                let x = ((7 * n + 3 * d) % 11) as f64;
                if labels {
                    f64::from(u8::from(x > 4.0))
                } else {
                    x
                }
            }),
        };
        let told = |x: f64, y: f64| {
            let data = Dataset::builder()
                .view(table("x", false))
                .view(table("y", true))
                .build()
                .unwrap();
            let mut spec = models::sshiba(2)
                .with_likelihood("y", "bernoulli")
                .with_weight("x", x)
                .with_weight("y", y);
            spec.vb.max_sweeps = 5;
            let fit = crate::fit(data, spec).unwrap();
            let mut remarks = fit.record().journal.remarks();
            remarks.any(|r| r.1.contains("each cell counts 2 times"))
        };
        assert!(told(2.0, 1.0));
        assert!(!told(0.5, 1.0) && !told(1.0, 2.0));
    }
}
