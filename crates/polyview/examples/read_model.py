"""Reads a polyview model with stock packages: python read_model.py model.pv

Needs only `pip install safetensors numpy`. Prints posterior means as JSON.
"""
import json
import sys

from safetensors import safe_open

with safe_open(sys.argv[1], framework="numpy") as file:
    header = json.loads(file.metadata()["polyview"])
    arrays = {name: file.get_tensor(name) for name in file.keys()}

n = header["components"]  # 1, or the number of Gibbs draws
factors = sum(arrays[f"components/{i}/factors/mean"] for i in range(n)) / n
weights = {}
for view in header["views"]:
    name = view["name"]
    w = sum(arrays[f"components/{i}/views/{name}/weights/mean"] for i in range(n)) / n
    weights[name] = (w * arrays[f"scale/{name}"][:, None]).tolist()  # in data units
print(json.dumps({"samples": header["samples"], "factors": factors.tolist(), "weights": weights}))
