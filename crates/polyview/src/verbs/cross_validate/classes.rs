//! Classes that are too rare to be learnt outside every fold.

use polyview_core::{View, counted};

use crate::error::{ErrorKind, Result};

/// Two classes of two samples at least, so that each fold leaves two to learn; how many samples each has.
pub(super) fn check_classes(target: &View) -> Result<()> {
    let mut counts = vec![0usize; target.levels().len()];
    for class in target.classes().into_iter().flatten() {
        counts[class] += 1;
    }
    if counts.is_empty() || counts.iter().filter(|c| **c > 1).count() > 1 {
        return Ok(());
    }
    let what = "having no two classes of two samples or more";
    let with = "a target of cross-validation: folds would leave one class to learn";
    Err(ErrorKind::Incompatible {
        view: target.name().to_owned(),
        what: what.to_owned(),
        with: with.to_owned(),
    }
    .into())
}

/// What is said of classes of one sample, which no method has seen where it is in the fold.
pub(super) fn rare(target: &View) -> Option<String> {
    let classes = target.classes();
    let of = |c: usize| classes.iter().filter(|own| **own == Some(c)).count();
    let rare: Vec<&String> = (target.levels().iter().enumerate())
        .filter(|(c, _)| of(*c) == 1)
        .map(|(_, name)| name)
        .collect();
    let first = rare.first()?;
    Some(format!(
        "{}: {} of one sample, first '{first}': no method has seen it where it is predicted, and its log loss \
         is that of a class without samples",
        target.name(),
        counted(rare.len(), "class")
    ))
}

/// What is said of classes whose samples, more than one, are all in one fold of a way to part them.
pub(super) fn unseen(target: &View, parted: &[Vec<usize>], together: bool) -> Option<String> {
    let classes = target.classes();
    let in_one = |class: usize, folds: &[usize]| {
        let own = classes.iter().zip(folds);
        let mut own = own
            .filter(|(c, _)| **c == Some(class))
            .map(|(_, fold)| fold);
        let first = own.next();
        // a class of one sample is told of before
        let mut others = own.peekable();
        others.peek().is_some() && others.all(|fold| Some(fold) == first)
    };
    let unseen: Vec<&String> = (target.levels().iter().enumerate())
        .filter(|(class, _)| parted.iter().any(|folds| in_one(*class, folds)))
        .map(|(_, name)| name)
        .collect();
    let first = unseen.first()?;
    let mend = if together {
        "keep fewer samples together (--keep-together)"
    } else {
        "have folds keep its shares (--stratify)"
    };
    let have = if unseen.len() == 1 {
        "has all its samples in one fold"
    } else {
        "have all their samples in one fold each"
    };
    Some(format!(
        "{}: {} {have}, first '{first}': no method has seen it where it is predicted; {mend}, or leave such classes out",
        target.name(),
        counted(unseen.len(), "class")
    ))
}

#[cfg(test)]
mod tests {
    use polyview_core::{Dataset, Table};
    use polyview_linalg::Mat;

    use super::*;

    #[test]
    fn classes_of_one_fold_are_said() {
        let of = [0, 0, 1, 1, 2, 2, 3];
        let table = Table {
            name: "c".to_owned(),
            samples: (0..of.len()).map(|n| format!("s{n}")).collect(),
            features: vec!["c".to_owned()],
            values: Mat::from_fn(of.len(), 1, |n, _| f64::from(of[n])),
            levels: ["p", "q", "r", "alone"].map(str::to_owned).to_vec(),
        };
        let data = Dataset::builder().view(table).build().unwrap();
        let view = &data.views()[0];
        let fair = vec![0, 1, 0, 1, 0, 1, 0];
        let one = vec![0, 1, 1, 1, 0, 1, 0];
        let two = vec![0, 0, 1, 0, 1, 1, 0];
        assert_eq!(unseen(view, std::slice::from_ref(&fair), true), None);
        let text = unseen(view, &[fair.clone(), one], true).unwrap();
        let start = "c: 1 class has all its samples in one fold, first 'q': no method has seen it";
        assert!(
            text.starts_with(start) && text.contains("--keep-together"),
            "{text}"
        );
        let text = unseen(view, &[two, fair], false).unwrap();
        let start = "c: 2 classes have all their samples in one fold each, first 'p'";
        assert!(
            text.starts_with(start) && text.contains("--stratify"),
            "{text}"
        );
    }
}
