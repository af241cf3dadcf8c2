//! Modular Bayesian factor models for heterogeneous, multi-view data: fit, project, predict, impute, explain
