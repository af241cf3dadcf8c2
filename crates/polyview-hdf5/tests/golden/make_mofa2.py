"""Fits the MOFA2 models of the tests with mofapy2, and computes with numpy what
must come out of them.

Usage: python make_mofa2.py FOLDER
"""

import gzip
import json
import sys
from pathlib import Path

import h5py
import numpy as np
from mofapy2.run.entry_point import entry_point

folder = Path(sys.argv[1])
sizes, widths, k = [14, 12], [9, 7, 6], 3
views = ["rna", "prot", "meth"]
rng = np.random.default_rng(3)
Z = [rng.normal(size=(n, k)) for n in sizes]
W = [rng.normal(size=(d, k)) * (rng.random((d, k)) < 0.6) for d in widths]


def fit(name, groups, expectations=None, likelihoods=("gaussian",) * 3, scale=False):
    r = np.random.default_rng(5)
    data = []
    for m, d in enumerate(widths):
        row = []
        for g in groups:
            eta = Z[g] @ W[m].T
            y = eta + r.normal(size=(sizes[g], d)) * 0.3 + m + 2 * g
            if likelihoods[m] == "bernoulli":
                y = (r.random(y.shape) < 1 / (1 + np.exp(-eta - 0.5))).astype(float)
            if likelihoods[m] == "poisson":
                y = r.poisson(np.log1p(np.exp(eta + 1))).astype(float)
            y[r.random(y.shape) < 0.1] = np.nan
            row.append(y)
        data.append(row)
    model = entry_point()
    model.set_data_options(scale_views=scale, scale_groups=False)
    model.set_data_matrix(
        data,
        likelihoods=list(likelihoods),
        views_names=views,
        groups_names=["A", "B"][: len(groups)],
        samples_names=[[f"s{g}_{i}" for i in range(sizes[g])] for g in groups],
        features_names=[[f"{v[0]}{i}" for i in range(d)] for v, d in zip(views, widths)],
    )
    model.set_model_options(factors=k, spikeslab_weights=True, ard_weights=True, ard_factors=len(groups) > 1)
    model.set_train_options(iter=60, seed=1, convergence_mode="fast", verbose=False)
    model.build()
    model.run()
    path = folder / f"{name}.hdf5"
    model.save(str(path), save_data=True, expectations=expectations)
    out = expected(path)
    with open(path, "rb") as file, gzip.GzipFile(f"{path}.gz", "wb", 9, mtime=0) as packed:
        packed.write(file.read())
    path.unlink()
    return out


def expected(path):
    with h5py.File(path) as f:
        groups = [g.decode() for g in f["groups/groups"]]
        gaussian = [x == b"gaussian" for x in f["model_options/likelihoods"]]
        elbo = f["training_stats/elbo"][:]
        out = {"bound": elbo[np.isfinite(elbo)][-1], "groups": {}}
        out["weights"] = {v: f[f"expectations/W/{v}"][:].T.tolist() for v in views}
        for g in groups:
            z = f[f"expectations/Z/{g}"][:].T
            n = len(z)
            precision = np.repeat(np.eye(k)[None], n, 0)
            rhs = np.zeros((n, k))
            noise = {}
            for v, is_gaussian in zip(views, gaussian):
                if not is_gaussian:
                    continue
                y, w = f[f"data/{v}/{g}"][:], f[f"expectations/W/{v}"][:].T
                seen = ~np.isnan(y)
                if f"expectations/Tau/{v}" in f:
                    tau = np.nanmean(f[f"expectations/Tau/{v}/{g}"][:], axis=0)
                else:
                    squares = np.where(seen, y - z @ w.T, 0) ** 2
                    tau = (1e-3 + seen.sum(0) / 2) / (1e-3 + squares.sum(0) / 2)
                noise[v] = tau.tolist()
                precision += np.einsum("nd,d,di,dj->nij", seen, tau, w, w)
                rhs += np.where(seen, y, 0) * tau @ w
            out["groups"][g] = {
                "factors": z.tolist(),
                "noise": noise,
                "projected": np.linalg.solve(precision, rhs[..., None])[..., 0].tolist(),
                "sd": np.sqrt(np.diagonal(np.linalg.inv(precision), axis1=1, axis2=2)).tolist(),
                "r2": f[f"variance_explained/r2_total/{g}"][:].tolist(),
            }
            if not all(gaussian):
                del out["groups"][g]["projected"], out["groups"][g]["sd"]
        return out


result = {
    "one": fit("one", [0]),
    "scaled": fit("scaled", [0], scale=True),
    "groups": fit("groups", [0, 1], "all"),
    "mixed": fit("mixed", [0], None, ("gaussian", "bernoulli", "poisson")),
}
text = json.dumps(result, allow_nan=True).replace("NaN", "null")
(folder / "mofa2.json").write_text(text)
