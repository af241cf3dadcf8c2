#!/usr/bin/env python3
"""Kernel ridge regression of scikit-learn with its search for width and penalty, as a whole process.

    python kernel_ridge.py FEATURES.csv TARGETS.csv NEW.csv OUT.csv

Tables have sample IDs first. Features are brought to mean 0 and standard deviation 1 of the training samples. Width and
penalty are those of 9 and 11 that predict five folds of the training samples best, one of each for all targets
(GridSearchCV). Predictions of the new samples are written to OUT.csv.
"""
import csv
import os
import sys

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np  # noqa: E402
from sklearn.kernel_ridge import KernelRidge  # noqa: E402
from sklearn.model_selection import GridSearchCV, KFold  # noqa: E402

PENALTIES = (1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, 3.0, 10.0)
WIDTHS = (0.125, 0.177, 0.25, 0.354, 0.5, 1.0, 2.0, 4.0, 8.0)


def read(path):
    with open(path, newline="") as file:
        head, *rows = csv.reader(file)
    return head, [row[0] for row in rows], np.array([[float(x) for x in row[1:]] for row in rows])


def main(features, targets, new, out):
    _, _, x = read(features)
    head, _, y = read(targets)
    _, names, z = read(new)
    mean, sd = x.mean(axis=0), x.std(axis=0)
    sd[sd == 0] = 1
    x, z = (x - mean) / sd, (z - mean) / sd
    squares = ((x[:, None, :] - x[None, :, :]) ** 2).sum(axis=2)
    median = np.sqrt(np.median(squares[np.triu_indices(len(x), 1)]))
    grid = {"alpha": PENALTIES, "gamma": [1 / (2 * (w * median) ** 2) for w in WIDTHS]}
    folds = KFold(5, shuffle=True, random_state=1)
    centre = y.mean(axis=0)
    search = GridSearchCV(KernelRidge(kernel="rbf"), grid, cv=folds).fit(x, y - centre)
    said = search.predict(z) + centre
    with open(out, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(head)
        writer.writerows([name, *map(repr, row)] for name, row in zip(names, said.tolist()))


if __name__ == "__main__":
    main(*sys.argv[1:])
