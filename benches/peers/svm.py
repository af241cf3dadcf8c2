#!/usr/bin/env python3
"""A support vector machine with an RBF kernel for each label, beside models with such a kernel.

python svm.py FOLDER: FOLDER has train_features.csv, train_labels.csv, test_features.csv and
test_labels.csv, sample IDs first. Features are brought to mean 0 and standard deviation 1 of the
training samples. The penalty and the width of each label are those with the largest area under
the curve in five folds of the training samples; probabilities are by Platt's sigmoid on five folds.
Prints the mean over the labels of the test samples: area under the curve, log loss, Brier score.
"""

import csv
import sys
from pathlib import Path

import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC


def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    return np.array([[float(x) for x in row[1:]] for row in rows])


def main(folder):
    x, y, new, truth = (
        read(Path(folder) / f"{part}_{what}.csv")
        for part in ("train", "test")
        for what in ("features", "labels")
    )
    mean, sd = x.mean(axis=0), x.std(axis=0)
    sd[sd == 0] = 1
    x, new = (x - mean) / sd, (new - mean) / sd
    grid = {"C": [0.1, 1, 10, 100], "gamma": [t / x.shape[1] for t in (0.03, 0.1, 0.3, 1, 3)]}
    area, loss, brier = [], [], []
    for t in range(y.shape[1]):
        folds = StratifiedKFold(5, shuffle=True, random_state=1)
        search = GridSearchCV(SVC(), grid, scoring="roc_auc", cv=folds).fit(x, y[:, t])
        best = search.best_estimator_
        sure = CalibratedClassifierCV(SVC(**search.best_params_), cv=folds, ensemble=False)
        p = sure.fit(x, y[:, t]).predict_proba(new)[:, 1].clip(1e-12, 1 - 1e-12)
        area.append(roc_auc_score(truth[:, t], best.decision_function(new)))
        said = np.where(truth[:, t] == 1, p, 1 - p)
        loss.append(-np.log(said).mean())
        brier.append(((p - truth[:, t]) ** 2).mean())
    means = [np.mean(of) for of in (area, loss, brier)]
    print("area {:.4f}, log loss {:.4f}, Brier score {:.4f}".format(*means))


if __name__ == "__main__":
    main(sys.argv[1])
