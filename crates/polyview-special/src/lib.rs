//! Special functions for Bayesian inference: digamma, log Phi, Mills ratios, interval probabilities, truncated-normal moments, scaled Bessel K, Gauss-Hermite
