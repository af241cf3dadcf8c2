"""Writes the .h5ad and .h5mu files of the tests, and what they hold.

Needs anndata, mudata and h5py; the layout of anndata 0.7 is written by hand.
Usage: python make_anndata.py FOLDER
"""

import gzip
import sys
from pathlib import Path

import anndata
import h5py
import mudata
import numpy as np
import pandas as pd
import scipy.sparse as sp

folder = Path(sys.argv[1])
rows, columns = 7, 5
dense = np.arange(rows * columns, dtype=float).reshape(rows, columns) / 4
dense[2, 3] = np.nan
counts = np.where((np.arange(rows * columns).reshape(rows, columns) % 3) == 0, 0, np.arange(35).reshape(7, 5))
obs = pd.DataFrame(
    {
        "donor": pd.Categorical(["b", "a", "b", None, "a", "a", "b"]),
        "age": np.array([30.0, 31, np.nan, 33, 34, 35, 36]),
        "word": ["x", "é", "y", "z", "x", "x", "y"],
        "good": np.array([True, False, True, True, True, False, True]),
    },
    index=[f"cell{i}" for i in range(rows)],
)
var = pd.DataFrame(index=[f"gene{i}" for i in range(columns)])


def pack(path):
    with open(path, "rb") as file, gzip.GzipFile(f"{path}.gz", "wb", 9, mtime=0) as out:
        out.write(file.read())
    path.unlink()


one = anndata.AnnData(X=dense.copy(), obs=obs.copy(), var=var.copy())
one.layers["counts"] = sp.csr_matrix(counts.astype(np.int64))
one.layers["columns"] = sp.csc_matrix(counts.astype(np.float32))
one.write_h5ad(folder / "new.h5ad", compression="gzip")
pack(folder / "new.h5ad")

other = anndata.AnnData(X=sp.csr_matrix(counts[:, :3].astype(float)), obs=obs[[]].copy(), var=var.iloc[:3].copy())
both = mudata.MuData({"rna": one, "prot": other})
both.obs["batch"] = ["p", "q"] * 3 + ["p"]
both.write_h5mu(folder / "two.h5mu")
pack(folder / "two.h5mu")

with h5py.File(folder / "old.h5ad", "w") as f:
    f["X"] = dense.astype("f4")
    for name, index in [("obs", obs.index), ("var", var.index)]:
        g = f.create_group(name)
        g["index"] = np.asarray(list(index), dtype="S")
        g.attrs["_index"] = "index"
        g.attrs["encoding-type"] = "dataframe"
        g.attrs["encoding-version"] = "0.1.0"
    g = f["obs"]
    g.attrs["column-order"] = np.array(["donor", "age"], dtype=h5py.string_dtype())
    g["age"] = obs["age"].to_numpy()
    g["donor"] = obs["donor"].cat.codes.to_numpy().astype("i1")
    c = g.create_group("__categories")
    c["donor"] = np.array(["a", "b"], dtype=h5py.string_dtype())
    g["donor"].attrs["categories"] = c["donor"].ref
    s = f.create_group("layers/counts")
    m = sp.csr_matrix(counts)
    s["data"], s["indices"], s["indptr"] = m.data, m.indices, m.indptr
    s.attrs["h5sparse_format"] = "csr"
    s.attrs["h5sparse_shape"] = np.array(m.shape)
pack(folder / "old.h5ad")

with h5py.File(folder / "oldest.h5ad", "w") as f:
    f["X"] = dense
    f["obs"] = np.array([(b"c0", 1.0)], dtype=[("index", "S2"), ("age", "f8")])
    f["var"] = np.array([(b"g0",)], dtype=[("index", "S2")])
pack(folder / "oldest.h5ad")
