#!/usr/bin/env python3
"""Support vector machines with RBF kernels of scikit-learn for one pair of training and new samples.

    python vectors.py FOLDER [--classes C] [--seed S]

FOLDER holds x.npy and y.npy of the training samples and new.npy of the others; p.npy is written there. y has a column
of numbers for each target, or with --classes one column of codes 0 to C-1. Features are brought to mean 0 and standard
deviation 1 of the training samples. Penalty and width (and of numbers the width of the tube) are those that predict
five folds of the training samples best, each target by its own; of more than 2000 samples 2000 choose. Numbers are
written as they are, of classes a machine for each against the others says how far a sample is on its side, brought to
(0, 1) by the logistic function: an order, no probability.
"""
import argparse
import os
import pathlib

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"

import numpy as np  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold  # noqa: E402
from sklearn.multiclass import OneVsRestClassifier  # noqa: E402
from sklearn.svm import SVC, SVR  # noqa: E402

MOST = 2000
PENALTIES = (0.1, 1, 10, 100)
WIDTHS = (0.03, 0.1, 0.3, 1, 3)


def numbers(x, y, new, seed):
    """Predictions of a target by the machine that does best in folds."""
    mean, sd = y.mean(), y.std() or 1.0
    grid = {"C": PENALTIES, "gamma": [w / x.shape[1] for w in WIDTHS], "epsilon": (0.01, 0.1)}
    folds = KFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(SVR(), grid, cv=folds).fit(x, (y - mean) / sd)
    return mean + sd * search.predict(new)


def classes(x, y, new, count, seed):
    """For each class how far samples are on its side."""
    rng = np.random.default_rng(seed)
    some = rng.permutation(len(y))[:MOST]
    grid = {"C": PENALTIES, "gamma": [w / x.shape[1] for w in WIDTHS]}
    folds = StratifiedKFold(5, shuffle=True, random_state=seed)
    search = GridSearchCV(SVC(), grid, cv=folds).fit(x[some], y[some])
    machines = OneVsRestClassifier(SVC(**search.best_params_)).fit(x, y)
    side = machines.decision_function(new)
    if side.ndim == 1:
        side = np.column_stack([-side, side])
    out = np.full((len(new), count), 0.5)
    out[:, machines.classes_] = 1 / (1 + np.exp(-side))
    return out


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--classes", type=int)
    parser.add_argument("--seed", type=int, default=1)
    a = parser.parse_args()
    x, y, new = (np.load(a.folder / f"{name}.npy") for name in ("x", "y", "new"))
    mean, sd = x.mean(axis=0), x.std(axis=0)
    sd[sd == 0] = 1
    x, new = (x - mean) / sd, (new - mean) / sd
    if a.classes:
        said = classes(x, y[:, 0].astype(int), new, a.classes, a.seed)
    else:
        said = np.column_stack([numbers(x, y[:, d], new, a.seed) for d in range(y.shape[1])])
    np.save(a.folder / "p.npy", said)


if __name__ == "__main__":
    main()
