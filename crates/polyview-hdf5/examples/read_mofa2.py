"""Prints what mofax finds in a file of `write_mofa2`, as JSON.

Needs mofax (pip install mofax). Usage: python read_mofa2.py model.hdf5
"""

import json
import sys

import mofax

model = mofax.mofa_model(sys.argv[1])
factors = model.get_factors(df=True)
shares = model.get_variance_explained()
print(
    json.dumps(
        {
            "likelihoods": model.likelihoods,
            "shape": [int(n) for n in model.shape],
            "views": model.get_views(),
            "groups": model.get_groups(),
            "samples": list(factors.index),
            "factors": factors.to_numpy().tolist(),
            "weights": {v: model.get_weights(views=v).tolist() for v in model.get_views()},
            "features": {v: [str(f) for f in model.features[v]] for v in model.get_views()},
            "data": model.get_data(views=model.get_views()[0], df=True).iloc[:, 0].tolist(),
            "explained": [
                [row.Group, row.View, int(row.Factor[6:]) - 1, row.R2] for row in shares.itertuples()
            ],
            # computed by mofax from data, factors and weights
            "recomputed": [
                [row.Group, row.View, row.R2] for row in model.calculate_variance_explained().itertuples()
            ],
            "total": {g: list(model.model["variance_explained/r2_total"][g]) for g in model.get_groups()},
            "metadata": {c: model.metadata[c].astype(str).tolist() for c in model.metadata.columns},
            "elbo": list(model.training_stats["elbo"]),
        }
    ).replace("NaN", "null")
)
