#!/usr/bin/env python3
"""Random forests of scikit-learn for one pair of training and new samples.

    python forest.py FOLDER [--classes C] [--seed S]

FOLDER holds x.npy and y.npy of the training samples and new.npy of the others; p.npy is written there.
y has a column of zeros and ones a label, or with --classes one column of codes 0 to C-1. Each label has a
forest of its own. Least samples of a leaf: those of 1, 3 and 10 with the least log loss out of bag, so that
no new sample is looked at. Probabilities are pulled to the shares of the training samples by the weight of
one tree, as a class that no tree votes for has else probability zero and the log loss is infinite.
"""
import argparse
import os
import pathlib

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from sklearn.ensemble import RandomForestClassifier  # noqa: E402

TREES = 500
LEAVES = (1, 3, 10)


def spread(probability, known, classes):
    """The columns of the classes that training samples have among those of all classes."""
    out = np.zeros((len(probability), classes))
    out[:, known] = probability
    return out


def forest(x, y, new, classes, seed):
    """Probabilities of the classes of new samples."""
    share = np.bincount(y, minlength=classes) / len(y)

    def pulled(probability):
        return (TREES * probability + share) / (TREES + 1)

    if len(np.unique(y)) == 1:
        return np.tile(share, (len(new), 1))
    best = None
    for leaf in LEAVES:
        grown = RandomForestClassifier(
            TREES, min_samples_leaf=leaf, oob_score=True, random_state=seed, n_jobs=1
        ).fit(x, y)
        known = grown.classes_
        bag = np.nan_to_num(grown.oob_decision_function_)
        bag = pulled(spread(bag, known, classes))
        loss = -np.log(np.maximum(bag[np.arange(len(y)), y], 1e-12)).mean()
        if best is None or loss < best[0]:
            best = (loss, grown)
    return pulled(spread(best[1].predict_proba(new), best[1].classes_, classes))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--classes", type=int)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    x, y, new = (np.load(a.folder / f"{name}.npy") for name in ("x", "y", "new"))
    y = y.astype(int)
    if a.classes:
        p = forest(x, y[:, 0], new, a.classes, a.seed)
    else:
        p = np.column_stack([forest(x, y[:, d], new, 2, a.seed)[:, 1] for d in range(y.shape[1])])
    np.save(a.folder / "p.npy", p)


if __name__ == "__main__":
    main()
