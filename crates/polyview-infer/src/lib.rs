//! Inference engines of polyview: variational Bayes and Gibbs over one schedule, driver, convergence, rotation, pruning, MCMC diagnostics
