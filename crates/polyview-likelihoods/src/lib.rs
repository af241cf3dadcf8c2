//! Likelihood adapters of polyview: data terms that contribute normal equations, for variational Bayes and Gibbs
