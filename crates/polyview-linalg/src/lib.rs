//! Dense kernels of factor models: packed triangles, batched positive definite systems, weighted Grams, block-parallel products, truncated SVD, varimax
