//! Keyed random streams and samplers: Polya-Gamma, truncated normal, generalised inverse Gaussian, inverse Gaussian, log-scale Gamma, Gaussian from a precision factor
